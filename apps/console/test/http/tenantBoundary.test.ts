import { randomUUID } from 'node:crypto';
import { newTryoutIdempotencyKey } from '@onecode/store/users';
import { newId } from '@onecode/store/client';
import type { MemberRole } from '@onecode/store/users';
import { buildAccount, buildCaller, buildSend, buildSender, refuseRequests } from '@onecode/testing';
import type { Access, Route } from '../../src/http/route.js';
import { ROUTES } from '../../src/features/routes.js';
import { useConsole } from '../console.js';
import { callConsole, person, type Answer, type TestPerson } from '../people.js';
import { BODIES, formatRoute, named, parametersOf, QUERIES, someFor } from './requests.js';
import { givePasskey, letConfirmationPass } from '../secondFactor.js';

/** One account with one of everything, and its admin. */
interface Tenant {
  accountId: string;
  admin: TestPerson;
  /** Returns an id of the kind of a route's parameter. */
  ids: Readonly<Record<string, string>>;
  /** The values that users outside the account must never see. */
  secrets: readonly string[];
}

const server = useConsole();
let ours: Tenant;
let theirs: Tenant;
let viewer: TestPerson;
let developer: TestPerson;
let operator: TestPerson;
let onCall: TestPerson;
let sender: string;

async function createTenant(name: string): Promise<Tenant> {
  const { db } = server;
  const accountId = await buildAccount(db.database, { name: `${name} account`, credits: 5 });
  const live = await buildCaller(db.database, 'live', { id: accountId });
  const admin = await person(server, {
    accounts: { [accountId]: 'admin' },
    email: `${name}-admin@example.com`,
  });
  const other = await person(server, {
    accounts: { [accountId]: 'viewer' },
    email: `${name}-other@example.com`,
  });
  // Created on the Try it page, which shows a send only to its creator.
  const idempotencyKey = newTryoutIdempotencyKey(admin.id);
  const send = await buildSend(db.database, live, { recipient: '+5511987654321', idempotencyKey });
  const refused = randomUUID();
  await refuseRequests(db.database, live, 'invalid_json', [{ requestId: refused }]);
  await admin.post(`/accounts/${accountId}/invitations`, {
    email: `${name}-invited@example.com`,
    role: 'viewer',
  });
  const [invitation] = await db.sql<{ id: string }>('select id from invitations where account_id = $1', [
    accountId,
  ]);
  const [exhausted] = await db.sql<{ id: string }>(
    `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
     select account_id, recipient_key, 100, clock_timestamp() from sends where id = $1 returning id`,
    [send],
  );
  await db.sql('update applications set name = $1 where id = $2', [`${name} shop`, live.applicationId]);
  await admin.call('PUT', `/accounts/${accountId}/webhook`, { url: `https://${name}.example.com/hook` });
  await admin.post(`/accounts/${accountId}/webhook/test`, {});
  const [delivery] = await db.sql<{ id: string }>('select id from outbox where account_id = $1', [accountId]);
  const own = await buildSender(db.database, { owner: { accountId, applicationIds: [] } });
  await db.sql('update api_keys set name = $1 where id = $2', [`${name} key`, live.keyId]);
  const passkey = await givePasskey(server, admin, `${name} passkey`);
  const ids = {
    application: live.applicationId,
    key: live.keyId,
    send,
    member: other.id,
    invitation: invitation!.id,
    recipient: exhausted!.id,
    sender: own.id,
    delivery: delivery!.id,
    passkey,
  };
  return {
    accountId,
    admin,
    ids,
    secrets: [...Object.values(ids), own.number, accountId, refused, admin.id, name],
  };
}

beforeAll(async () => {
  sender = (await buildSender(server.db.database)).id;
  [ours, theirs] = [await createTenant('ours'), await createTenant('theirs')];
  viewer = await person(server, { accounts: { [ours.accountId]: 'viewer' } });
  developer = await person(server, { accounts: { [ours.accountId]: 'developer' } });
  operator = await person(server, { staff: 'operator' });
  onCall = await person(server, { staff: 'on_call' });
}, 60_000);

const isOf =
  (...access: Access[]) =>
  (route: Route): boolean =>
    access.includes(route.access);

/** Returns the path with ids and with the required query. */
function addressOf(route: Route, ids: Readonly<Record<string, string>>): string {
  const filled = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`the test knows no id for :${name}`);
    return id;
  });
  const query = QUERIES[formatRoute(route)];
  return query === undefined ? filled : `${filled}?${new URLSearchParams(query).toString()}`;
}

const bodyOf = (route: Route): object | undefined => {
  if (route.method === 'get' || route.method === 'delete') return undefined;
  if (route.body === undefined) return {};
  const body = BODIES[formatRoute(route)];
  if (body === undefined) throw new Error(`requests.ts has no body for ${formatRoute(route)}`);
  return body;
};

const ask = (who: TestPerson, route: Route, address: string): Promise<Answer> =>
  who.call(route.method.toUpperCase(), address, bodyOf(route));

/** The text of a response, without the parts that differ in every response. */
const contentOf = ({ status, body }: Answer): string => JSON.stringify([status, body]);

const FORBIDDEN = { status: 403, body: { code: 'forbidden' } };
const ofAccounts = ROUTES.filter(isOf('viewer', 'developer', 'admin'));
const ofStaff = ROUTES.filter(isOf('operator', 'on_call'));
const idsOf = (tenant: Tenant): Record<string, string> => ({ ...tenant.ids, account: tenant.accountId });
const staffIds = (): Record<string, string> => ({
  ...ours.ids,
  account: ours.accountId,
  target: ours.accountId,
  sender,
  incident: newId(),
  user: ours.admin.id,
});

describe('the tenant boundary of the routes', () => {
  it.each(named(ROUTES.filter((route) => route.access !== 'anyone')))(
    '$name requires a session',
    async ({ route }) => {
      const ids = new Proxy({}, { get: () => ours.accountId });
      const answer = await callConsole(server, route.method.toUpperCase(), addressOf(route, ids), {
        body: bodyOf(route),
      });
      expect(answer).toMatchObject({ status: 401, body: { code: 'not_signed_in' } });
    },
  );

  const changes = ROUTES.filter(({ method }) => method !== 'get');
  it.each(named(changes))(
    '$name changes nothing without the session’s token, or from another site',
    async ({ route }) => {
      const who = ofStaff.includes(route) ? operator : ours.admin;
      const address = addressOf(route, new Proxy({}, { get: () => ours.accountId }));
      const forgeries: Record<string, string>[] = [
        { 'x-csrf-token': '' },
        { 'x-csrf-token': theirs.admin.csrfToken },
        { origin: 'https://elsewhere.example' },
      ];
      for (const headers of someFor(changes.indexOf(route), forgeries))
        expect(await who.call(route.method.toUpperCase(), address, bodyOf(route), headers)).toMatchObject({
          status: 403,
          body: { code: 'wrong_origin' },
        });
    },
  );

  it.each(named(ofAccounts))(
    '$name admits only members of the account in its path with a sufficient role, and no staff',
    async ({ route }) => {
      expect(route.path).toMatch(/^\/accounts\/:account(\/|$)/);
      const foreign = await ask(ours.admin, route, addressOf(route, idsOf(theirs)));
      const unknown = await ask(ours.admin, route, addressOf(route, { ...idsOf(theirs), account: newId() }));
      expect(foreign.status).toBe(404);
      expect(contentOf(foreign)).toBe(contentOf(unknown));
      const address = addressOf(route, idsOf(ours));
      expect((await ask(operator, route, address)).status).toBe(404);
      const weaker = { viewer: [], developer: [viewer], admin: [viewer, developer] };
      for (const who of weaker[route.access as MemberRole])
        expect(await ask(who, route, address)).toMatchObject(FORBIDDEN);
    },
  );

  it.each(named(ofAccounts.filter((route) => parametersOf(route).length > 1)))(
    '$name returns the same for an object of another account as for a missing one',
    async ({ route }) => {
      for (const name of parametersOf(route).filter((name) => name !== 'account')) {
        const foreign = { ...idsOf(ours), [name]: String(theirs.ids[name]) };
        const answer = await ask(ours.admin, route, addressOf(route, foreign));
        const unknown = await ask(ours.admin, route, addressOf(route, { ...foreign, [name]: newId() }));
        expect([name, answer.status]).toEqual([name, 404]);
        expect(contentOf(answer)).toBe(contentOf(unknown));
      }
    },
  );

  it.each(named(ofAccounts.filter(({ method }) => method === 'get')))(
    '$name shows nothing of another account',
    async ({ route }) => {
      const { status, body } = await ask(ours.admin, route, addressOf(route, idsOf(ours)));
      expect(status).toBe(200);
      const text = JSON.stringify(body);
      expect(theirs.secrets.filter((secret) => text.includes(secret))).toEqual([]);
    },
  );

  it.each(named(ofStaff))(
    '$name returns 404 to customers, and admits only staff with its role',
    async ({ route }) => {
      const address = addressOf(route, staffIds());
      expect(await ask(ours.admin, route, address)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      if (route.access === 'operator') expect(await ask(onCall, route, address)).toMatchObject(FORBIDDEN);
      if (route.method === 'get') expect((await ask(onCall, route, address)).status).toBe(200);
    },
  );

  it.each(named(ofStaff.filter((route) => parametersOf(route).length > 0 && route.method !== 'get')))(
    '$name returns 404 for an unknown id, without an audit entry',
    async ({ route }) => {
      const entries = () => server.db.sql('select id from audit_entries');
      const before = await entries();
      const unknown = new Proxy({}, { get: () => newId() });
      expect(await ask(operator, route, addressOf(route, unknown))).toMatchObject({ status: 404 });
      expect(await entries()).toEqual(before);
    },
  );

  it('the routes for grants, holds, sender tokens, personal data, deletions, settings and others’ sign-ins require a recent confirmation', () => {
    expect(named(ROUTES.filter(({ confirmed }) => confirmed)).map(({ name }) => name)).toEqual([
      'POST /accounts/:account/recipients/export',
      'POST /accounts/:account/recipients/erase',
      'POST /staff/accounts/:target/recipients/export',
      'POST /staff/accounts/:target/recipients/erase',
      'DELETE /profile/passkeys/:passkey',
      'POST /staff/senders/numbers',
      'POST /staff/senders/setup',
      'POST /staff/senders/:sender/setup',
      'POST /staff/senders/:sender/test',
      'POST /staff/senders',
      'PUT /staff/senders/:sender',
      'DELETE /staff/senders/:sender',
      'PUT /staff/senders/:sender/app',
      'DELETE /staff/senders/:sender/app',
      'PUT /staff/senders/:sender/owner',
      'POST /accounts/:account/senders/numbers',
      'POST /accounts/:account/senders/setup',
      'POST /accounts/:account/senders/:sender/setup',
      'POST /accounts/:account/senders/:sender/test',
      'POST /accounts/:account/senders',
      'PUT /accounts/:account/senders/:sender',
      'DELETE /accounts/:account/senders/:sender',
      'PUT /accounts/:account/senders/:sender/app',
      'DELETE /accounts/:account/senders/:sender/app',
      'PUT /staff/settings',
      'PUT /staff/settings/staff-two-factor',
      'POST /accounts/:account/deletion',
      'POST /staff/accounts/:target/credits',
      'POST /staff/holds',
      'POST /staff/holds/release',
      'POST /staff/users/:user/password',
      'POST /staff/users/:user/remove-two-factor',
      'PUT /staff/users/:user/staff',
    ]);
  });

  it.each(named(ROUTES.filter(({ confirmed }) => confirmed)))(
    '$name is refused without a recent confirmation, and changes nothing',
    async ({ route }) => {
      const isOfStaff = route.path.startsWith('/staff/');
      const stale = await person(
        server,
        isOfStaff ? { staff: 'operator' } : { accounts: { [ours.accountId]: 'admin' } },
      );
      await letConfirmationPass(server, stale);
      const entries = () => server.db.sql('select id from audit_entries');
      const before = await entries();
      expect(await ask(stale, route, addressOf(route, staffIds()))).toMatchObject({
        status: 403,
        body: { code: 'confirmation_required' },
      });
      expect(await entries()).toEqual(before);
    },
  );

  it('on-call staff can pause, resume, check, hold and release, but make no other change', () => {
    const others = ofStaff.filter(({ method, access }) => method !== 'get' && access !== 'operator');
    expect(named(others).map(({ name }) => name)).toEqual([
      'POST /staff/accounts/:target/refused-requests/search',
      'POST /staff/accounts/:target/sends/search',
      'POST /staff/search',
      'POST /staff/health/incidents/:incident/acknowledge',
      'POST /staff/senders/:sender/pause',
      'POST /staff/senders/:sender/resume',
      'POST /staff/senders/:sender/check',
      'POST /staff/holds',
      'POST /staff/holds/release',
    ]);
  });
});
