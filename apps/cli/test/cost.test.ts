import { useTestDatabase } from '@onecode/testing';
import { expectFault, jsonOf, onecode } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
beforeAll(() => {
  env = { DATABASE_URL: store.url };
});

it('cost list counts messages by day and price, of the days that are asked for', async () => {
  await store.sql(
    `insert into message_costs select (now() at time zone 'UTC')::date - n, 'BR', 'authentication', 'regular', true, 'PMP', 12, 11, 4, 7
     from unnest(array[0, 40]) n`,
  );
  expect(await jsonOf(['cost', 'list'], env)).toEqual([
    {
      day: new Date().toISOString().slice(0, 10),
      country: 'BR',
      category: 'authentication',
      type: 'regular',
      billable: true,
      pricing_model: 'PMP',
      messages: 12,
      delivered: 11,
      free_sends: 4,
      credits: 7,
    },
  ]);
  expect(await jsonOf(['cost', 'list', '--days', '60'], env)).toHaveLength(2);
});

it('cost list refuses days that make no sense', async () => {
  expectFault(await onecode(['cost', 'list', '--days', '0'], env), 2, /--days must be a whole number/);
});
