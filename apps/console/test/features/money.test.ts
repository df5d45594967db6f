import { buildAccount, buildCaller, buildSend, TEST_ACTOR, type TestCaller } from '@onecode/testing';
import { failure } from '@onecode/domain';
import { grantCredits } from '@onecode/store/accounts';
import { findBalance } from '@onecode/store/reports';
import { changeSend } from '@onecode/store/sends';
import type { LedgerView, StatementView } from '../../src/features/ledger/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

describe('costs', () => {
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
});

describe('the ledger', () => {
  const server = useConsole();

  describe('the ledger', () => {
    let caller: TestCaller;
    let viewer: TestPerson;
    let first: string;
    let last: string;
    beforeAll(async () => {
      const { database } = server.db;
      caller = await buildCaller(database, 'live', { freeQuota: 2, credits: 0 });
      viewer = await person(server, { accounts: { [caller.accountId]: 'viewer' } });

      first = await buildSend(database, caller);
      await buildSend(database, caller);
      await grantCredits(database, TEST_ACTOR, caller.accountId, 5, 'Invoice 17', {
        reference: 'INV-17',
      });
      last = await buildSend(database, caller);
      await changeSend(database, { id: first }, (_send, now) => ({
        result: null,
        change: failure('rejected_by_provider', now),
      }));
    });

    const ledger = async (query = ''): Promise<LedgerView> => {
      const { status, body } = await viewer.get<LedgerView>(`/accounts/${caller.accountId}/ledger${query}`);
      expect(status).toBe(200);
      return body;
    };

    it('lists every change of units, newest first, with the balance after each', async () => {
      const { entries, next } = await ledger();

      const line = (
        kind: string,
        bucket: string,
        change: number,
        [freeQuota, credits]: [number, number],
        more: { sendId?: string; reason?: string; reference?: string } = {},
      ) => ({
        id: expect.any(String),
        at: expect.stringMatching(/Z$/),
        kind,
        bucket,
        change,
        reason: null,
        reference: null,
        expiresAt: null,
        sendId: null,
        balance: { freeQuota, credits },
        ...more,
      });
      expect(entries).toEqual([
        line('returned', 'free_quota', 1, [1, 4], { sendId: first }),
        line('reserved', 'credit', -1, [0, 4], { sendId: last }),
        line('granted', 'credit', 5, [0, 5], { reason: 'Invoice 17', reference: 'INV-17' }),
        line('reserved', 'free_quota', -1, [0, 0], { sendId: expect.any(String) as string }),
        line('reserved', 'free_quota', -1, [1, 0], { sendId: first }),
        line('granted', 'free_quota', 2, [2, 0], { reason: 'account created' }),
      ]);
      expect(next).toBeNull();
      const wanted = entries.filter(({ kind }) => kind === 'reserved');
      expect((await ledger('?kind=reserved')).entries).toEqual(wanted);
    });

    it.each([
      ['?kind=stolen', { kind: 'enum' }],
      ['?limit=0', { limit: 'minimum' }],
      ['?limit=101', { limit: 'maximum' }],
      ['?before=xyz', { before: 'cursor' }],
      ['?account=1', { body: 'additionalProperties' }],
    ])('refuses %s', async (query, errors) => {
      expect(await viewer.get(`/accounts/${caller.accountId}/ledger${query}`)).toMatchObject({
        status: 422,
        body: { code: 'invalid_input', errors },
      });
    });

    it('is summed up by month in UTC, from the opening to the closing balance', async () => {
      const { accountId } = caller;
      const { db } = server;
      const statement = async (month: string) =>
        (await viewer.get<StatementView>(`/accounts/${accountId}/statement?month=${month}`)).body;
      // In the order of their ids: the account and one send in March, the other at the start of April, the rest now.
      for (const [place, at] of [
        '2026-03-15T12:00:00Z',
        '2026-03-31T23:59:59.999Z',
        '2026-04-01T00:00:00Z',
      ].entries())
        await db.sql(
          `update ledger_entries set created_at = $2 where id = (
           select id from ledger_entries where account_id = $1 order by id offset $3 limit 1)`,
          [accountId, at, place],
        );
      const units = (freeQuota: number, credit: number) => ({ free_quota: freeQuota, credit });
      const none = units(0, 0);
      expect(await statement('2026-02')).toMatchObject({ opening: none, closing: none, grants: [] });
      expect(await statement('2026-03')).toMatchObject({
        opening: none,
        granted: units(2, 0),
        reserved: units(1, 0),
        returned: none,
        closing: units(1, 0),
        grants: [
          { at: '2026-03-15T12:00:00.000Z', bucket: 'free_quota', units: 2, reason: 'account created' },
        ],
      });
      expect(await statement('2026-04')).toMatchObject({
        opening: units(1, 0),
        reserved: units(1, 0),
        closing: none,
      });
      const { freeQuota, credits } = (await findBalance(db.database, accountId))!;
      const month = new Date().toISOString().slice(0, 7);
      expect(await statement(month)).toMatchObject({
        opening: none,
        granted: units(0, 5),
        reserved: units(0, 1),
        returned: units(1, 0),
        closing: units(freeQuota, credits),
        expired: none,
        grants: [{ units: 5, reason: 'Invoice 17', reference: 'INV-17', expiresAt: null }],
      });
      expect((await viewer.get(`/accounts/${accountId}/statement?month=2026-13`)).status).toBe(422);
    });

    it('reveals nothing to a request with a cursor of another account', async () => {
      const foreign = await buildAccount(server.db.database, { freeQuota: 100 });
      const stranger = await person(server, { accounts: { [foreign]: 'admin' } });
      const { next } = await ledger('?limit=1');
      const { body } = await stranger.get<LedgerView>(`/accounts/${foreign}/ledger?before=${next}`);
      expect(JSON.stringify(body)).not.toContain(last);
      expect(JSON.stringify(body)).not.toContain('Invoice 17');
    });
  });
});
