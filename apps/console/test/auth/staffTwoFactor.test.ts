import { changeSetting, listAuditEntries } from '@onecode/store';
import { buildAccount, TEST_ACTOR } from '@onecode/testing';
import { ROUTES } from '../../src/features/routes.js';
import { useConsole } from '../console.js';
import { PASSWORD, person, type Answer, type TestPerson } from '../people.js';
import { letConfirmationPass, turnOn, withTwoFactor } from '../secondFactor.js';

const server = useConsole();
const set = (staffTwoFactor: 'optional' | 'required') =>
  changeSetting(server.db.database, TEST_ACTOR, 'staffTwoFactor', staffTwoFactor);
afterEach(() => set('optional'));

const REQUIRED = { status: 403, body: { code: 'second_factor_required' } };
const STAFF_ROUTES = ROUTES.filter(({ access }) => access === 'operator' || access === 'on_call').map(
  ({ method, path }) => ({ method: method.toUpperCase(), path }),
);

describe('while staff need a second factor', () => {
  it.each(['operator', 'on_call'] as const)('%s without one gets to no route of the staff', async (staff) => {
    const who = await person(server, { staff });
    await set('required');
    expect(STAFF_ROUTES.length).toBeGreaterThan(20);
    for (const { method, path } of STAFF_ROUTES) {
      const address = path.replaceAll(/:\w+/g, '01a1fa05-b8ff-7465-ba7e-fd4e947cdd5c');
      const answer = await who.call(method, address, method === 'GET' ? undefined : {});
      expect([method, path, answer]).toMatchObject([method, path, REQUIRED]);
    }
  });

  it('they get to nothing of the board: its pages lead to where the reason stands', async () => {
    const who = await person(server, { staff: 'operator' });
    await set('required');
    const get = (path: string): Promise<Response> =>
      fetch(`${server.url}/board${path}`, { headers: { cookie: who.cookie }, redirect: 'manual' });
    const page = await get('/');
    expect([page.status, page.headers.get('location')]).toEqual([302, '/staff/health']);
    for (const path of ['/api/queues', '/static/js/main.js']) expect((await get(path)).status).toBe(403);
  });

  it('they sign in, learn why, turn it on, and get in', async () => {
    const who = await person(server, { staff: 'operator' });
    await set('required');
    expect((await who.get('/session')).body).toMatchObject({
      user: { hasTwoFactor: false },
      needsTwoFactor: true,
    });
    const on = await turnOn(server, who);
    expect((await on.who.get('/staff/settings')).status).toBe(200);
    expect((await on.who.get('/session')).body).toMatchObject({
      user: { hasTwoFactor: true },
      needsTwoFactor: true,
    });
  });

  it('nobody on the staff turns it off, but everybody else may', async () => {
    const [operator, customer] = [
      await withTwoFactor(server, { staff: 'on_call' }),
      await withTwoFactor(server),
    ];
    await set('required');
    const turnOff = ({ who }: { who: TestPerson }): Promise<Answer> =>
      who.call(
        'POST',
        '/auth/two-factor/disable',
        { password: PASSWORD },
        { 'x-forwarded-for': '203.0.113.9' },
      );
    expect(await turnOff(operator)).toMatchObject(REQUIRED);
    expect((await operator.who.get('/staff/settings')).status).toBe(200);
    expect((await turnOff(customer)).status).toBe(204);
  });

  it('customers notice nothing, and neither does a person of the staff in their own account', async () => {
    const account = await buildAccount(server.db.database);
    const who = await person(server, { staff: 'operator', accounts: { [account]: 'admin' } });
    const customer = await person(server, { accounts: { [account]: 'viewer' } });
    await set('required');
    for (const one of [who, customer])
      expect((await one.get(`/accounts/${account}/members`)).status).toBe(200);
    expect((await customer.get('/session')).body.needsTwoFactor).toBe(false);
    expect(await customer.get('/staff/settings')).toMatchObject({ status: 404 });
  });
});

describe('requiring it', () => {
  const require = (who: TestPerson, staffTwoFactor = 'required'): Promise<Answer> =>
    who.put('/staff/settings/staff-two-factor', { staffTwoFactor });

  it('is for operators who have one: nobody shuts everybody out by accident', async () => {
    const without = await person(server, { staff: 'operator' });
    expect(await require(without)).toMatchObject(REQUIRED);
    expect((await without.get('/staff/settings')).body.settings.staffTwoFactor).toBe('optional');

    const { who } = await withTwoFactor(server, { staff: 'operator' });
    expect((await require(who)).status).toBe(204);
    expect((await who.get('/staff/settings')).body.settings.staffTwoFactor).toBe('required');
    expect(await listAuditEntries(server.db.database, { limit: 1, actionPrefix: 'settings.' })).toMatchObject(
      [{ actor: { id: who.id }, details: { name: 'staffTwoFactor', before: 'optional', after: 'required' } }],
    );
    expect((await require(who, 'optional')).status).toBe(204);
  });

  it('and ending it, requires a recent confirmation', async () => {
    const { who } = await withTwoFactor(server, { staff: 'operator' });
    await set('required');
    await letConfirmationPass(server, who);
    expect(await require(who, 'optional')).toMatchObject({ body: { code: 'confirmation_required' } });
  });
});
