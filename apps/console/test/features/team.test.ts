import { createHash } from 'node:crypto';
import { noteMailSender } from '@onecode/store/mails';
import { deleteOldInvitations } from '@onecode/store/users';
import { buildAccount, tableContents } from '@onecode/testing';
import { useConsole } from '../console.js';
import { callConsole, person, type Answer, type TestPerson } from '../people.js';

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
        server.db.sql("update invitations set expires_at = now() - interval '1 second' where id = $1", [id]),
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
    expect((await operator.put(`/staff/accounts/${account}`, { ...wanted, name: 'Loja Rosa' })).status).toBe(
      204,
    );
    expect((await onCall.get(`/staff/accounts/${account}`)).body).toMatchObject({
      name: 'Loja Rosa',
      language: 'en',
    });
    expect(await admin.put(`/accounts/${account}`, { ...wanted, name: ' ' })).toMatchObject({ status: 422 });
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
    expect((await admin.put(`/accounts/${account}/members/${bia.id}`, { role: 'viewer' })).status).toBe(204);
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
