import { tripBreaker } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { createSend } from '@onecode/store/sends';
import { buildAccount, buildCaller, newSend, refuseRequests, type TestCaller } from '@onecode/testing';
import { LIMIT_REFUSALS, RECIPIENT_REFUSALS } from '@onecode/domain';
import type { ProtectionView } from '../../src/features/protection/view.js';
import type { RefusedRequestsView } from '../../src/features/refusedRequests/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let caller: TestCaller;
let account: string;
let people: Record<'admin' | 'viewer' | 'operator' | 'onCall', TestPerson>;
beforeAll(async () => {
  const { database } = server.db;
  account = await buildAccount(database, { name: 'Loja Azul', credits: 1_000, ratePerMinute: 10_000 });
  caller = await buildCaller(database, 'live', { id: account });
  people = {
    admin: await person(server, { accounts: { [account]: 'admin' } }),
    viewer: await person(server, { accounts: { [account]: 'viewer' } }),
    operator: await person(server, { staff: 'operator' }),
    onCall: await person(server, { staff: 'on_call' }),
  };
});

const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];

describe.each([
  { changes: 'admin', sees: 'viewer', path: '/accounts' },
  { changes: 'operator', sees: 'onCall', path: '/staff/accounts' },
] as const)('protection below $path', ({ changes, sees, path }) => {
  const at = (rest = ''): string => `${path}/${account}/protection${rest}`;
  const show = async (): Promise<ProtectionView> => (await people[sees].get<ProtectionView>(at())).body;
  const put = (rest: string, body: object) => people[changes].put(at(rest), body);

  it('changes countries and premium-rate numbers, with an audit entry for each change', async () => {
    await put('/countries', { countries: ['US', 'BR', 'BR'] });
    await put('/premium-rate', { isAllowed: false });
    expect(await show()).toMatchObject({
      allowedCountries: ['BR', 'US'],
      allowsPremiumRate: false,
      trialCountries: null,
      ratePerMinute: 10_000,
    });
    expect(await latest()).toMatchObject({
      action: 'account.change',
      accountId: account,
      actor: { kind: changes === 'admin' ? 'user' : 'staff', id: people[changes].id },
      details: { before: { allowsPremiumRate: true }, after: { allowsPremiumRate: false } },
    });
    await put('/countries', { countries: null });
    await put('/premium-rate', { isAllowed: true });
    expect(await show()).toMatchObject({ allowedCountries: null, allowsPremiumRate: true });
  });

  it('refuses sends above its ceilings, and shows the used units', async () => {
    await put('/ceilings', { unitsPerDay: 0, unitsPerMonth: 500 });
    const before = await show();
    expect(before).toMatchObject({ unitsPerDay: 0, unitsPerMonth: 500 });
    const create = () => createSend(server.db.database, newSend(caller));
    expect(await create()).toMatchObject({ outcome: 'rate_limited', cause: 'day_ceiling' });

    await put('/ceilings', { unitsPerDay: null, unitsPerMonth: null });
    expect(await create()).toMatchObject({ outcome: 'created' });
    expect(await show()).toMatchObject({
      unitsPerDay: null,
      unitsPerMonth: null,
      unitsToday: before.unitsToday + 1,
      unitsThisMonth: before.unitsThisMonth + 1,
    });
  });

  it('shows the breaker and the countries that it blocks until it is reset', async () => {
    const rule = { unverifiedPercent: 90, minSends: 50 };
    await put('/breaker', { rule });
    const counts = { sends: 100, unverified: 97 };
    await tripBreaker(server.db.database, { accountId: account, country: 'US', rule, ...counts });
    expect(await show()).toMatchObject({
      breaker: rule,
      blockedCountries: ['US'],
      trips: [{ country: 'US', isOpen: true, sends: 100, unverified: 97, prefixes: [] }],
    });

    expect(await people[changes].post(at('/breaker/reset'))).toMatchObject({ status: 204 });
    expect(await show()).toMatchObject({ blockedCountries: [], trips: [{ country: 'US', isOpen: false }] });
    await put('/breaker', { rule: null });
    expect((await show()).breaker).toBeNull();
  });

  it.each<[string, object, Record<string, string>]>([
    ['/countries', { countries: ['XX'] }, { countries: 'unknown' }],
    ['/countries', { countries: [] }, { countries: 'minItems' }],
    ['/ceilings', { unitsPerDay: -1, unitsPerMonth: null }, { unitsPerDay: 'minimum' }],
    ['/ceilings', { unitsPerDay: 1 }, { unitsPerMonth: 'required' }],
    ['/breaker', { rule: { unverifiedPercent: 101, minSends: 1 } }, { 'rule.unverifiedPercent': 'maximum' }],
  ])('refuses an invalid %s %j, names the field, and changes nothing', async (rest, body, errors) => {
    const before = await show();
    expect(await put(rest, body)).toMatchObject({ status: 422, body: { code: 'invalid_input', errors } });
    expect(await show()).toEqual(before);
  });
});

it('each refused request contains the protection that refused it', async () => {
  const refusals = [
    { detail: LIMIT_REFUSALS.day_ceiling, defence: 'ceilings' },
    { detail: RECIPIENT_REFUSALS.country, defence: 'countries' },
    { detail: LIMIT_REFUSALS.account_rate, defence: null },
  ];
  await refuseRequests(
    server.db.database,
    caller,
    'rate_limited',
    refusals.map(({ detail }) => ({ status: 429, detail })),
  );
  const { body } = await people.viewer.post<RefusedRequestsView>(
    `/accounts/${account}/refused-requests/search`,
    {},
  );
  const defences = [...body.reasons, ...body.requests].map(({ detail, defence }) => [detail, defence]);
  for (const { detail, defence } of refusals)
    expect(defences.filter(([said]) => said === detail)).toEqual([
      [detail, defence],
      [detail, defence],
    ]);
});
