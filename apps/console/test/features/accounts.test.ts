import { changeSettings, createApplication, grantCredits, changeApplication } from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount, buildCaller, buildSend, TEST_ACTOR } from '@onecode/testing';
import type { StaffAccountDetailsView, StaffAccountsView } from '../../src/features/accounts/view.js';
import type { AuditEntryView } from '../../src/features/audit/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let operator: TestPerson;
let onCall: TestPerson;
let account: string;
beforeAll(async () => {
  operator = await person(server, { staff: 'operator' });
  onCall = await person(server, { staff: 'on_call' });
  account = await buildAccount(server.db.database, { name: 'Loja Azul', credits: 7, freeQuota: 2 });
});

const GRANT = { amount: 1, reason: 'why', grantId: newId() };

const at = (path = '', id = account): string => `/staff/accounts/${id}${path}`;
const show = async (id = account): Promise<StaffAccountDetailsView> =>
  (await onCall.get<StaffAccountDetailsView>(at('', id))).body;
const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];

describe('account management by operators', () => {
  it('finds accounts by their id, and page by page', async () => {
    const names = ['Padaria Sol', 'Padaria Lua', 'Padaria Mar'];
    for (const name of names) await buildAccount(server.db.database, { name });
    const search = async (query: string): Promise<StaffAccountsView> =>
      (await onCall.get<StaffAccountsView>(`/staff/accounts?${query}`)).body;
    expect((await search(`text=${account}`)).accounts).toMatchObject([
      { id: account, name: 'Loja Azul', credits: 7, freeQuota: 2, suspendedAt: null, held: false },
    ]);
    const first = await search('text=padaria&limit=2');
    const second = await search(`text=padaria&limit=2&before=${first.next}`);
    expect([...first.accounts, ...second.accounts].map(({ name }) => name)).toEqual(names.toReversed());
    expect(second.next).toBeNull();
  });

  it('shows an account without its sends and without a phone number', async () => {
    const caller = await buildCaller(server.db.database, 'live', { name: 'Clínica', credits: 5 });
    const send = await buildSend(server.db.database, caller, { recipient: '+5511987654321' });
    await person(server, { accounts: { [caller.accountId]: 'admin' } });

    const shown = await show(caller.accountId);

    expect(shown).toMatchObject({ sendsCreated: 1, members: [{ name: 'Ana Souza', role: 'admin' }] });
    expect(shown.applications).toMatchObject([{ id: caller.applicationId, mode: 'live', keysInUse: 1 }]);
    const text = JSON.stringify(shown);
    for (const secret of [send, '987654321', '4321', caller.key]) expect(text).not.toContain(secret);
  });

  it('shows every member of a large team', async () => {
    const account = await buildAccount(server.db.database);
    await server.db.sql(
      `with made as (
         insert into users (id, name, email, updated_at)
         select gen_random_uuid(), 'Member ' || n, 'member' || n || '@example.com', now() from generate_series(1, 120) n returning id
       )
       insert into members (account_id, user_id, role) select $1, id, 'viewer' from made`,
      [account],
    );
    expect((await operator.get(`/staff/accounts/${account}`)).body.members).toHaveLength(120);
  });

  it('grants once for a repeated request, and refuses its id for another grant', async () => {
    const { credits } = await show();
    for (let time = 0; time < 2; time++)
      expect((await operator.post(at('/credits'), GRANT)).status).toBe(204);
    expect(await operator.post(at('/credits'), { ...GRANT, amount: 11 })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect((await show()).credits).toBe(credits + 1);
  });

  it('sets a custom limit of an account, and removes it', async () => {
    await operator.put(at('/rate'), { ratePerMinute: 1_200 });
    expect(await show()).toMatchObject({ ratePerMinute: 1_200, ownRatePerMinute: 1_200 });

    await operator.put(at('/rate'), { ratePerMinute: null });
    expect(await show()).toMatchObject({ ratePerMinute: 600, ownRatePerMinute: null });
  });

  it('suspends an account with a reason, and lifts the suspension', async () => {
    const reason = 'invoice 41 is open';
    await operator.post(at('/suspend'), { reason });
    expect(await show()).toMatchObject({ suspendedAt: expect.any(String), suspensionReason: reason });
    await operator.post(at('/resume'));
    expect(await show()).toMatchObject({ suspendedAt: null, suspensionReason: null });
  });

  it.each([
    ['post', '/credits', { ...GRANT, amount: 0 }, { amount: 'minimum' }],
    ['post', '/credits', { ...GRANT, amount: 1_000_001 }, { amount: 'maximum' }],
    ['post', '/credits', { ...GRANT, expiresAt: '2025-01-01T00:00:00Z' }, { expiresAt: 'past' }],
    ['post', '/suspend', { reason: '  ' }, { reason: 'pattern' }],
    ['put', '/rate', { ratePerMinute: 0 }, { ratePerMinute: 'minimum' }],
    ['put', '', {}, { body: 'minProperties' }],
  ])('refuses an invalid %s %s, names the field, and changes nothing', async (method, path, body, errors) => {
    const [before, last] = [await show(), await latest()];

    const answer = await operator.call(method.toUpperCase(), at(path), body);

    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_input', errors } });
    expect(await show()).toEqual(before);
    expect(await latest()).toEqual(last);
  });
});

describe('the audit log', () => {
  it('is read newest first, by account and by area, page by page', async () => {
    const { database } = server.db;
    const other = await buildAccount(database, { name: 'Outra' });
    for (const amount of [1, 2, 3])
      await grantCredits(database, TEST_ACTOR, other, amount, `grant ${amount}`);
    await changeSettings(database, TEST_ACTOR, { freeSends: 11 });

    const first = (await onCall.get(`/staff/audit?account=${other}&area=account&limit=2`)).body;
    const second = (
      await onCall.get(`/staff/audit?account=${other}&area=account&limit=2&before=${first.next}`)
    ).body;

    expect(first.entries).toMatchObject([
      {
        action: 'account.credit',
        actor: { kind: 'command_line', name: 'tester' },
        account: { id: other, name: 'Outra' },
        subject: null,
        changes: [{ field: 'credits', before: 3, after: 6 }],
        facts: [
          { field: 'amount', value: 3 },
          { field: 'reason', value: 'grant 3' },
        ],
      },
      { action: 'account.credit' },
    ]);
    expect(second.entries.map((entry: { action: string }) => entry.action)).toEqual([
      'account.credit',
      'account.create',
    ]);
    expect(second.next).toBeNull();
  });

  it('is filtered by person, object and time', async () => {
    const { database } = server.db;
    const shop = await buildCaller(database, 'live');
    const named = await createApplication(database, TEST_ACTOR, {
      accountId: shop.accountId,
      name: 'Caixa Azul',
      mode: 'test',
    });
    await changeApplication(database, { ...TEST_ACTOR, name: 'Olga' }, named!.id, { perMinute: 7 });
    const found = async (query: string): Promise<unknown[]> =>
      (await onCall.get(`/staff/audit?account=${shop.accountId}&${query}`)).body.entries.map(
        ({ action, subject }: AuditEntryView) => [action, subject],
      );
    const created = ['application.create', null];
    const limited = ['application.change', 'Caixa Azul'];
    expect(await found('person=olga')).toEqual([limited]);
    expect(await found('object=xa%20azul')).toEqual([limited, created]);
    expect(await found(`object=${named!.id}`)).toEqual([limited, created]);
    expect(await found('object=verde')).toEqual([]);
    const [now, later] = [Date.now(), Date.now() + 60_000].map((at) => new Date(at).toISOString());
    expect(await found(`to=${later}&object=azul`)).toHaveLength(2);
    expect(await found(`from=${later}`)).toEqual([]);
    expect(await found(`from=${now}&to=${now}`)).toEqual([]);
  });

  it('of an account shows its admins the actions of staff, without names and reasons', async () => {
    const { database } = server.db;
    const shop = await buildCaller(database, 'live');
    const base = `/accounts/${shop.accountId}`;
    const [admin, developer] = [
      await person(server, { accounts: { [shop.accountId]: 'admin' } }),
      await person(server, { accounts: { [shop.accountId]: 'developer' } }),
    ];
    await developer.put(`${base}/applications/${shop.applicationId}`, { name: 'Caixa' });
    await operator.put(`/staff${base}/rate`, { ratePerMinute: 7 });
    await onCall.get(`/staff${base}/ledger`);
    await grantCredits(database, TEST_ACTOR, await buildAccount(database), 5, 'of another account');

    const { entries } = (await admin.get(`${base}/audit`)).body;
    const byStaff = { actor: { kind: 'staff', name: '' }, subject: null, changes: [], facts: [] };
    expect(entries.slice(0, 3)).toMatchObject([
      { action: 'account.read', ...byStaff },
      { action: 'account.change', ...byStaff },
      {
        action: 'application.change',
        actor: { kind: 'user', name: developer.email },
        changes: [{ field: 'name', after: 'Caixa' }],
      },
    ]);
    for (const { account } of entries) expect(account.id).toBe(shop.accountId);
    expect((await admin.get(`${base}/audit?person=${operator.email}`)).body.entries).toEqual([]);
    const { body } = await admin.get<string>(`${base}/audit.csv`);
    expect(body).toContain(developer.email);
    for (const name of [operator.email, onCall.email, 'tester']) expect(body).not.toContain(name);
    expect((await onCall.get<string>(`/staff/audit.csv?account=${shop.accountId}`)).body).toContain(
      `,staff,${operator.email},account.change,${shop.accountId},`,
    );
  });

  it('refuses invalid filters', async () => {
    for (const query of ['account=1', 'area=A', 'before=x', 'limit=0', 'limit=101', 'from=today', 'person='])
      expect((await onCall.get(`/staff/audit?${query}`)).status).toBe(422);
  });
});
