import { createHash } from 'node:crypto';
import { changeApplication, changeSettings, createApplication, grantCredits } from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount, buildCaller, buildSend, tableContents, TEST_ACTOR } from '@onecode/testing';
import { noteMailSender } from '@onecode/store/mails';
import { deleteOldInvitations } from '@onecode/store/users';
import type { StaffAccountDetailsView, StaffAccountsView } from '../../src/features/accounts/view.js';
import type { AuditEntryView } from '../../src/features/audit/view.js';
import type { UserDetailsView, UsersView } from '../../src/features/users/view.js';
import { useConsole } from '../console.js';
import { callConsole, fromNewAddress, person, type Answer, type TestPerson } from '../people.js';
import { withTwoFactor } from '../secondFactor.js';

describe('accounts', () => {
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
    ])(
      'refuses an invalid %s %s, names the field, and changes nothing',
      async (method, path, body, errors) => {
        const [before, last] = [await show(), await latest()];

        const answer = await operator.call(method.toUpperCase(), at(path), body);

        expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_input', errors } });
        expect(await show()).toEqual(before);
        expect(await latest()).toEqual(last);
      },
    );
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
      for (const query of [
        'account=1',
        'area=A',
        'before=x',
        'limit=0',
        'limit=101',
        'from=today',
        'person=',
      ])
        expect((await onCall.get(`/staff/audit?${query}`)).status).toBe(422);
    });
  });
});

describe('the team', () => {
  const server = useConsole();
  let account: string;
  let admin: TestPerson;
  beforeEach(async () => {
    account = await buildAccount(server.db.database, { name: 'Loja Azul' });
    admin = await person(server, { accounts: { [account]: 'admin' } });
  });

  const actions = async (): Promise<unknown[]> =>
    (
      await server.db.sql<{ action: string }>(
        'select action from audit_entries where account_id = $1 and actor_kind = $2 order by id',
        [account, 'user'],
      )
    ).map(({ action }) => action);
  const invite = (email: string, role = 'developer', by = admin): Promise<Answer> =>
    by.post(`/accounts/${account}/invitations`, { email, role });
  const lookUp = (token: string): Promise<Answer> =>
    callConsole(server, 'POST', '/invitations/look-up', { body: { token } });
  const rolesNow = async (): Promise<unknown[]> =>
    (
      await server.db.sql<{ role: string }>('select role from members where account_id = $1 order by role', [
        account,
      ])
    ).map(({ role }) => role);

  describe('an invitation', () => {
    it('makes the owner of its address a member, once', async () => {
      const { token, expiresAt } = (await invite('Bia@Example.com')).body;
      expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
      expect(await lookUp(token)).toMatchObject({
        status: 200,
        body: { accountName: 'Loja Azul', email: 'bia@example.com', role: 'developer' },
      });
      const bia = await person(server, { email: 'bia@example.com' });
      const answers = await Promise.all([1, 2, 3].map(() => bia.post('/invitations/accept', { token })));
      expect(answers.map((one) => one.status).toSorted((a, b) => a - b)).toEqual([200, 404, 404]);
      expect((await bia.get('/session')).body.accounts).toEqual([
        { id: account, name: 'Loja Azul', language: 'pt-BR', role: 'developer' },
      ]);
      expect((await admin.get(`/accounts/${account}/invitations`)).body.invitations).toEqual([]);
      expect(await actions()).toEqual(['member.invite', 'member.join']);
    });

    it('returns 404 to a user with another address, and stays valid for the right one', async () => {
      const { token } = (await invite('carla@example.com')).body;
      const other = await person(server);
      expect(await other.post('/invitations/accept', { token })).toMatchObject({ status: 404 });
      const carla = await person(server, { email: 'carla@example.com' });
      expect((await carla.post('/invitations/accept', { token })).status).toBe(200);
    });

    it.each([
      ['was revoked', async (id: string) => admin.delete(`/accounts/${account}/invitations/${id}`)],
      ['was replaced by a new one', async () => invite('dora@example.com', 'viewer')],
      [
        'expired after a week',
        async (id: string) =>
          server.db.sql("update invitations set expires_at = now() - interval '1 second' where id = $1", [
            id,
          ]),
      ],
    ])('is no longer valid after it %s', async (_, end) => {
      const { id, token } = (await invite('dora@example.com')).body;
      await end(id);
      expect(await lookUp(token)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    it('is deleted with its address 30 days after it expired', async () => {
      const { id } = (await invite('eva@example.com')).body;
      const listedAfter = async (days: number): Promise<number> => {
        await server.db.sql(
          'update invitations set expires_at = now() - make_interval(days => $2) where id = $1',
          [id, days],
        );
        await deleteOldInvitations(server.db.database);
        return (await admin.get(`/accounts/${account}/invitations`)).body.invitations.length;
      };
      expect(await listedAfter(29)).toBe(1);
      expect(await listedAfter(31)).toBe(0);
    });

    it('is stored as a hash only, and shown without its link', async () => {
      const { token } = (await invite('eva@example.com')).body;
      const kept = [...(await tableContents(server.db)).values()].join('\n');
      expect(kept).toContain(createHash('sha256').update(token).digest('hex'));
      expect(kept).not.toContain(token);
      const { body } = await admin.get(`/accounts/${account}/invitations`);
      expect(body.invitations).toMatchObject([
        { email: 'eva@example.com', role: 'developer', invitedBy: 'Ana Souza', hasExpired: false },
      ]);
      expect(JSON.stringify(body)).not.toContain(token);
    });

    it('cannot be created for a member, and does not change the role of a member who accepts it', async () => {
      expect(await invite(admin.email)).toMatchObject({ status: 422, body: { errors: { email: 'member' } } });
      const { token } = (await invite('fabi@example.com', 'viewer')).body;
      const fabi = await person(server, { email: 'fabi@example.com', accounts: { [account]: 'admin' } });
      expect((await fabi.post('/invitations/accept', { token })).status).toBe(200);
      expect(await rolesNow()).toEqual(['admin', 'admin']);
      expect(await actions()).not.toContain('member.join');
    });

    it('ends when its creator is no longer an admin', async () => {
      const second = await person(server, { accounts: { [account]: 'admin' } });
      const { token } = (await invite('gabi@example.com', 'admin', second)).body;
      await admin.put(`/accounts/${account}/members/${second.id}`, { role: 'viewer' });
      expect((await lookUp(token)).status).toBe(404);
    });
  });

  describe('a new link for an open invitation', () => {
    it('replaces the earlier link immediately, and is mailed only on request', async () => {
      const { database } = server.db;
      await noteMailSender(database, 'codes@onecode.example');
      const mails = async (): Promise<number> =>
        (await server.db.sql(`select from outbox where recipient = 'bia@example.com'`)).length;
      const first = await invite('bia@example.com');
      expect(await mails()).toBe(1);
      expect(await invite('bia@example.com')).toMatchObject({
        status: 429,
        body: { code: 'invited_recently' },
      });

      const again = { email: 'bia@example.com', role: 'developer', isMailed: false };
      const second = await admin.post(`/accounts/${account}/invitations`, again);

      expect(second.status).toBe(200);
      expect(await mails()).toBe(1);
      expect((await lookUp(first.body.token)).status).toBe(404);
      expect((await lookUp(second.body.token)).body).toMatchObject({ email: 'bia@example.com' });
    });
  });

  describe('the name and language of an account', () => {
    it('are changed by its admins and by operators, with an entry in the audit log', async () => {
      const developer = await person(server, { accounts: { [account]: 'developer' } });
      const operator = await person(server, { staff: 'operator' });
      const onCall = await person(server, { staff: 'on_call' });
      const wanted = { name: ' Loja Verde ', language: 'en' };
      expect((await developer.put(`/accounts/${account}`, wanted)).status).toBe(403);
      expect((await onCall.put(`/staff/accounts/${account}`, wanted)).status).toBe(403);

      expect((await admin.put(`/accounts/${account}`, wanted)).status).toBe(204);

      expect((await admin.get('/session')).body.accounts).toMatchObject([
        { name: 'Loja Verde', language: 'en' },
      ]);
      expect(await actions()).toEqual(['account.change']);
      expect(
        (await operator.put(`/staff/accounts/${account}`, { ...wanted, name: 'Loja Rosa' })).status,
      ).toBe(204);
      expect((await onCall.get(`/staff/accounts/${account}`)).body).toMatchObject({
        name: 'Loja Rosa',
        language: 'en',
      });
      expect(await admin.put(`/accounts/${account}`, { ...wanted, name: ' ' })).toMatchObject({
        status: 422,
      });
    });

    it('are kept when two admins change one each at the same time', async () => {
      const other = await person(server, { accounts: { [account]: 'admin' } });
      const answers = await Promise.all([
        admin.put(`/accounts/${account}`, { name: 'Loja Verde' }),
        other.put(`/accounts/${account}`, { language: 'en' }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([204, 204]);
      const { accounts } = (await admin.get('/session')).body;
      expect(accounts).toMatchObject([{ name: 'Loja Verde', language: 'en' }]);
    });
  });

  describe('a member', () => {
    it('is shown with name, email, role and whether a second factor is on', async () => {
      const { body } = await admin.get(`/accounts/${account}/members`);
      const { id, email } = admin;
      expect(body.members).toMatchObject([
        { id, name: 'Ana Souza', email, role: 'admin', hasTwoFactor: false },
      ]);
    });

    it('has a new role starting with the next request', async () => {
      const bia = await person(server, { accounts: { [account]: 'admin' } });
      expect((await admin.put(`/accounts/${account}/members/${bia.id}`, { role: 'viewer' })).status).toBe(
        204,
      );
      expect(await invite('x@example.com', 'viewer', bia)).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
      expect(await actions()).toEqual(['member.role']);
    });

    it('has no access after the removal', async () => {
      const bia = await person(server, { accounts: { [account]: 'developer' } });
      expect((await bia.get(`/accounts/${account}/members`)).status).toBe(200);
      expect((await admin.delete(`/accounts/${account}/members/${bia.id}`)).status).toBe(204);
      expect((await bia.get(`/accounts/${account}/members`)).status).toBe(404);
      expect((await bia.get('/session')).body.accounts).toEqual([]);
    });
  });

  describe('the last admin', () => {
    it('can neither be removed nor leave nor take another role', async () => {
      await person(server, { accounts: { [account]: 'developer' } });
      const refusals = [
        await admin.put(`/accounts/${account}/members/${admin.id}`, { role: 'developer' }),
        await admin.delete(`/accounts/${account}/members/${admin.id}`),
        await admin.delete(`/accounts/${account}/membership`),
      ];
      for (const refusal of refusals)
        expect(refusal).toMatchObject({ status: 409, body: { code: 'last_admin' } });
      expect(await rolesNow()).toEqual(['admin', 'developer']);
    });

    it('stays when admins remove, demote and leave at the same time', async () => {
      const admins = [admin];
      for (let n = 0; n < 3; n += 1) admins.push(await person(server, { accounts: { [account]: 'admin' } }));
      await Promise.all(
        admins.flatMap((who, n) => {
          const next = `/accounts/${account}/members/${admins[(n + 1) % 4]!.id}`;
          return [
            n < 2 ? who.delete(next) : who.put(next, { role: 'viewer' }),
            who.delete(`/accounts/${account}/membership`),
          ];
        }),
      );
      expect((await rolesNow()).filter((role) => role === 'admin')).toHaveLength(1);
    });
  });

  describe('the deletion of an account', () => {
    it('is scheduled by an admin, shown to all members, and cancelled by any admin', async () => {
      const path = `/accounts/${account}/deletion`;
      const viewer = await person(server, { accounts: { [account]: 'viewer' } });
      const other = await person(server, { accounts: { [account]: 'admin' } });
      expect((await viewer.get(path)).body).toEqual({ at: null });
      const { body } = await admin.post(path);
      expect((Date.parse(body.at) - Date.now()) / 86_400_000).toBeCloseTo(30, 2);
      expect((await viewer.get(path)).body).toEqual(body);
      expect(await other.delete(path)).toMatchObject({ status: 204 });
      expect((await admin.get(path)).body).toEqual({ at: null });
      expect(await actions()).toEqual(['account.schedule_deletion', 'account.cancel_deletion']);
    });

    it('cannot be cancelled when it is due, because the worker may be deleting it', async () => {
      const path = `/accounts/${account}/deletion`;
      await admin.post(path);
      await server.db.sql(`update accounts set delete_at = now() - interval '1 second' where id = $1`, [
        account,
      ]);
      expect(await admin.delete(path)).toMatchObject({ status: 409, body: { code: 'conflict' } });
      await server.db.sql('update accounts set delete_at = null where id = $1', [account]);
      expect((await admin.delete(path)).status).toBe(204);
    });
  });
});

describe('users', () => {
  const server = useConsole();
  let operator: TestPerson;
  let onCall: TestPerson;
  beforeAll(async () => {
    operator = await person(server, { staff: 'operator' });
    onCall = await person(server, { staff: 'on_call' });
  });

  const show = async (id: string): Promise<UserDetailsView> =>
    (await onCall.get<UserDetailsView>(`/staff/users/${id}`)).body;
  const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];
  const signIn = (email: string, password: string): Promise<Answer> =>
    callConsole(server, 'POST', '/auth/sign-in/email', {
      body: { email, password },
      headers: fromNewAddress(),
    });

  describe('users, on the routes of staff', () => {
    it('are found by a part of their name or email, page by page', async () => {
      const emails = ['busca-a@example.com', 'busca-b@example.com', 'busca-c@example.com'];
      for (const email of emails) await person(server, { email });
      const search = async (query: string): Promise<UsersView> =>
        (await onCall.get<UsersView>(`/staff/users?${query}`)).body;
      const first = await search('text=BUSCA-&limit=2');
      const second = await search(`text=BUSCA-&limit=2&before=${first.next}`);
      expect([...first.users, ...second.users].map(({ email }) => email)).toEqual(emails.toReversed());
      expect(second.next).toBeNull();
      expect((await search('text=100%25')).users).toEqual([]);
    });

    it('are found by a text with _ or %, which match only themselves', async () => {
      const [ana, bia] = ['an_a%1@example.com', 'anxa11@example.com'];
      for (const email of [ana, bia]) await person(server, { email });
      for (const text of ['an_a', 'a%1', 'N_A%1@EXAMPLE']) {
        const { body } = await onCall.get(`/staff/users?text=${encodeURIComponent(text)}`);
        expect(body.users.map(({ email }: { email: string }) => email)).toEqual([ana]);
      }
    });

    it('are shown with their accounts and sessions, and without their credentials', async () => {
      const account = await buildAccount(server.db.database, { name: 'Loja Azul' });
      const { id, email } = await person(server, { accounts: { [account]: 'developer' } });
      const shown = await show(id);
      expect(shown).toMatchObject({
        email,
        staff: null,
        sessions: 1,
        memberships: [{ accountId: account, accountName: 'Loja Azul', role: 'developer' }],
      });
      expect(JSON.stringify(shown)).not.toMatch(/password|token|secret/i);
    });

    it('are signed out in all sessions by operators', async () => {
      const who = await person(server);
      expect((await onCall.post(`/staff/users/${who.id}/sign-out`)).status).toBe(403);
      expect((await who.get('/session')).status).toBe(200);

      expect((await operator.post(`/staff/users/${who.id}/sign-out`)).status).toBe(204);

      expect((await who.get('/session')).status).toBe(401);
      expect(await show(who.id)).toMatchObject({ sessions: 0, lastUsedAt: null });
      expect(await latest()).toMatchObject({
        action: 'user.sign_out_everywhere',
        actor: { kind: 'staff', id: operator.id },
        subject: who.id,
      });
    });

    it('get a new password, which only the response contains', async () => {
      const who = await person(server);
      const { body } = await operator.post<{ password: string }>(`/staff/users/${who.id}/password`);
      expect((await who.get('/session')).status).toBe(401);
      expect((await signIn(who.email, body.password)).status).toBe(200);
      expect(JSON.stringify(await listAuditEntries(server.db.database, { limit: 5 }))).not.toContain(
        body.password,
      );
    });

    it('are shown without the second factor that an operator removed', async () => {
      const { who } = await withTwoFactor(server, {});
      expect((await show(who.id)).hasTwoFactor).toBe(true);
      expect((await operator.post(`/staff/users/${who.id}/remove-two-factor`)).status).toBe(204);
      expect((await show(who.id)).hasTwoFactor).toBe(false);
      expect(await latest()).toMatchObject({ action: 'user.two_factor_removed' });
    });

    it('become staff with a new password, if their address is confirmed or an operator vouches for it', async () => {
      const who = await person(server);
      const become = (staff: string | null, rest = {}): Promise<Answer> =>
        operator.put(`/staff/users/${who.id}/staff`, { staff, ...rest });
      expect(await become('on_call')).toMatchObject({
        status: 422,
        body: { errors: { isVouchedFor: 'unconfirmed' } },
      });

      const { body } = await become('on_call', { isVouchedFor: true });

      expect(body.password).toMatch(/^[\w-]{22}$/);
      expect(await show(who.id)).toMatchObject({ staff: 'on_call', isConfirmed: true });
      expect(await become(null)).toMatchObject({ status: 200, body: { password: null } });
      expect((await show(who.id)).staff).toBeNull();
    });

    it('cannot be changed by themselves, except in the profile', async () => {
      for (const answer of [
        await operator.post(`/staff/users/${operator.id}/sign-out`),
        await operator.post(`/staff/users/${operator.id}/password`),
        await operator.put(`/staff/users/${operator.id}/staff`, { staff: null }),
      ])
        expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect((await operator.get('/session')).status).toBe(200);
    });
  });
});
