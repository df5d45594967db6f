import type { CostsView } from '../../src/features/costs/view.js';
import { useConsole } from '../console.js';
import { person } from '../people.js';

const server = useConsole();

describe('the costs', () => {
  it('are shown to staff for the days that they ask for', async () => {
    await server.db.sql(
      `insert into message_costs select (now() at time zone 'UTC')::date - n, 'BR', 'authentication', 'regular', true, 'PMP', 12, 11, 4, 7
       from unnest(array[0, 5]) n`,
    );
    const onCall = await person(server, { staff: 'on_call' });
    const { body } = await onCall.get<CostsView>('/staff/costs');
    expect(body.costs).toHaveLength(2);
    expect(body.costs[0]).toEqual({
      day: new Date().toISOString().slice(0, 10),
      country: 'BR',
      category: 'authentication',
      type: 'regular',
      billable: true,
      pricingModel: 'PMP',
      messages: 12,
      delivered: 11,
      freeSends: 4,
      credits: 7,
    });
    expect((await onCall.get<CostsView>('/staff/costs?days=5')).body.costs).toHaveLength(1);
    expect((await onCall.get('/staff/costs?days=0')).status).toBe(422);
  });

  it('are nobody else’s business', async () => {
    expect((await (await person(server)).get('/staff/costs')).status).toBe(404);
  });
});
