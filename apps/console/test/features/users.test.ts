import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount } from '@onecode/testing';
import type { UserDetailsView, UsersView } from '../../src/features/users/view.js';
import { useConsole } from '../console.js';
import { callConsole, fromNewAddress, person, type Answer, type TestPerson } from '../people.js';
import { withTwoFactor } from '../secondFactor.js';

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
