import { buildAccount } from '@onecode/testing';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let operator: TestPerson;
let onCall: TestPerson;
const MONTH = new Date().toISOString().slice(0, 7);
beforeAll(async () => {
  operator = await person(server, { staff: 'operator' });
  onCall = await person(server, { staff: 'on_call' });
  await server.db.sql(
    `insert into message_costs select (now() at time zone 'UTC')::date, 'BR', category, 'regular', category <> 'service', 'PMP', n, 1, 2
     from (values ('authentication', 100), ('authentication_international', 20), ('service', 5)) v (category, n)`,
  );
});
const price = { country: 'BR', since: MONTH, price: 0.0068, currency: 'USD' };

describe('costs', () => {
  it('are summed by month and country, with amounts after an operator has set a price', async () => {
    const sums = { month: MONTH, country: 'BR', messages: 125, charged: 120, freeSends: 3, credits: 6 };
    expect((await onCall.get('/staff/costs')).body).toEqual({
      costs: [{ ...sums, price: null, amount: null }],
      currency: null,
      prices: [],
    });
    expect((await operator.put('/staff/prices', price)).status).toBe(204);
    expect((await onCall.get('/staff/costs')).body).toEqual({
      costs: [{ ...sums, price: 0.0068, amount: 0.816 }],
      currency: 'USD',
      prices: [{ country: 'BR', since: MONTH, price: 0.0068 }],
    });
  });

  it('can be downloaded by day', async () => {
    const { body } = await onCall.get<string>('/staff/costs.csv');
    expect(body.split('\r\n')).toContainEqual(
      expect.stringMatching(/^[\d-]{10},BR,authentication_international,regular,PMP,true,20,1,2,$/),
    );
  });

  it('of an account’s own senders are shown to the account, without money, and not counted as the operator’s', async () => {
    const { database } = server.db;
    const [account, other] = [await buildAccount(database), await buildAccount(database)];
    await server.db.sql(
      `insert into message_costs select (now() at time zone 'UTC')::date, 'BR', 'authentication', 'regular', true, 'PMP', n, 0, n, payer
       from (values (7, $1::uuid), (9, $2)) v (n, payer)`,
      [account, other],
    );
    const viewer = await person(server, { accounts: { [account]: 'viewer' } });
    const own = { month: MONTH, country: 'BR', messages: 7, charged: 7, price: null, amount: null };
    for (const [who, path] of [
      [viewer, `/accounts/${account}/costs`],
      [onCall, `/staff/accounts/${account}/costs`],
    ] as const)
      expect((await who.get(path)).body).toEqual({ costs: [{ ...own, freeSends: 0, credits: 7 }] });
    expect((await viewer.get(`/accounts/${other}/costs`)).status).toBe(404);
    expect((await onCall.get('/staff/costs')).body).toMatchObject({ costs: [{ messages: 125 }] });
    expect((await onCall.get<string>('/staff/costs.csv')).body).toContain(`,PMP,true,7,0,7,${account}\r\n`);
  });

  it.each([{ country: 'XX' }, { price: -1 }, { price: 1_001 }, { currency: 'XBT' }, { since: '2026-13' }])(
    'reject a price with %j',
    async (wrong) => {
      expect((await operator.put('/staff/prices', { ...price, ...wrong })).status).toBe(422);
    },
  );
});
