import { createHash, randomUUID } from 'node:crypto';
import { tripBreaker } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { createSend } from '@onecode/store/sends';
import {
  buildAccount,
  buildCaller,
  buildSend,
  newSend,
  refuseRequests,
  type TestCaller,
} from '@onecode/testing';
import { LIMIT_REFUSALS, RECIPIENT_REFUSALS } from '@onecode/domain';
import { noteMailSender } from '@onecode/store/mails';
import { newId } from '@onecode/store/client';
import type { ProtectionView } from '../../src/features/protection/view.js';
import type { RefusedRequestsView } from '../../src/features/refusedRequests/view.js';
import type { HoldsView } from '../../src/features/holds/view.js';
import type { ExhaustedRecipientsView } from '../../src/features/recipients/view.js';
import { useConsole } from '../console.js';
import { callConsole, PASSWORD, person, type Answer, type TestPerson } from '../people.js';

describe('protection', () => {
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
      [
        '/breaker',
        { rule: { unverifiedPercent: 101, minSends: 1 } },
        { 'rule.unverifiedPercent': 'maximum' },
      ],
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
});

describe('limits of outgoing requests', () => {
  const server = useConsole();
  const sql: typeof server.db.sql = (text, values) => server.db.sql(text, values);

  beforeAll(() => noteMailSender(server.db.database, 'codes@onecode.example'));
  beforeEach(async () => {
    await sql('delete from outbox');
    await sql('delete from counted_tries');
  });

  let networks = 0;
  const fromNewNetwork = (): Record<string, string> => {
    networks += 1;
    return { 'x-forwarded-for': `10.${networks >> 8}.${networks & 255}.1` };
  };

  interface Admin {
    who: TestPerson;
    /** Below `/api`. */
    account: string;
  }

  /** A user who signed up, with the trial account that they created. */
  async function trial(name = 'Loja Azul', staff?: 'operator'): Promise<Admin> {
    const who = await person(server, staff === undefined ? {} : { staff });
    const { body } = await who.post('/accounts', { name, language: 'en' });
    await sql('delete from outbox');
    return { who, account: `/accounts/${body.id}` };
  }

  /** An admin of an account that the operator created. */
  async function customer(): Promise<Admin> {
    const id = await buildAccount(server.db.database, { name: 'Padaria' });
    return { who: await person(server, { accounts: { [id]: 'admin' } }), account: `/accounts/${id}` };
  }

  const invite = (
    { who, account }: Admin,
    email: string,
    headers = fromNewNetwork(),
    role = 'viewer',
  ): Promise<Answer> => who.call('POST', `${account}/invitations`, { email, role }, headers);

  const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => make(n)));
  /** Returns how many responses have each status or problem code. */
  function outcomes(answers: readonly Answer[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status, body } of answers) {
      const outcome = String(body?.code ?? status);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }
  async function mailed(kind: string): Promise<string[]> {
    const rows = await sql<{ recipient: string }>(
      'select recipient from outbox where kind = $1 order by recipient',
      [kind],
    );
    return rows.map(({ recipient }) => recipient);
  }
  const letAnHourPass = (): Promise<unknown> =>
    sql(`update counted_tries set ends_at = ends_at - interval '1 hour'`);

  describe('invitations of a trial account', () => {
    it('are limited to ten a day when fifty are made at once', async () => {
      const admin = await trial();
      const answers = await many(50, (n) => invite(admin, `friend${n}@example.com`));
      expect(outcomes(answers)).toEqual({ 200: 10, too_many_invitations: 40 });
      expect(await mailed('invitation')).toHaveLength(10);
      const invitations = await admin.who.get(`${admin.account}/invitations`);
      expect(invitations.body.invitations).toHaveLength(10);
      await letAnHourPass();
      expect((await invite(admin, 'later@example.com')).status).toBe(429);
      await sql(`update counted_tries set ends_at = clock_timestamp() - interval '1 second'`);
      expect((await invite(admin, 'later@example.com')).status).toBe(200);
    });

    it('reach one mailbox at most three times a day in any spelling, from all trial accounts together', async () => {
      const admins = await many(8, () => trial());
      const spellings = [
        'bia.lima@example.com',
        'BIA.LIMA@Example.com',
        'bialima@example.com',
        'bia.lima+x@example.com',
      ];
      const answers = await Promise.all(admins.map((admin, n) => invite(admin, spellings[n % 4]!)));
      expect(outcomes(answers)).toEqual({ 200: 3, too_many_invitations: 5 });
      expect(await mailed('invitation')).toHaveLength(3);
      // A customer's invitations have a separate count.
      expect((await invite(await customer(), 'bia.lima@example.com')).status).toBe(200);
    });

    it.each([
      ['an IPv4 network', (n: number) => `203.0.113.${n}`],
      ['an IPv6 network', (n: number) => `2001:db8:77:${n}::1`],
    ])('are at most twenty a day from %s, from all trial accounts together', async (_, address) => {
      const admins = await many(5, () => trial());
      const answers = await many(50, (n) =>
        invite(admins[n % 5]!, `friend${n}@example.com`, { 'x-forwarded-for': address(n) }),
      );
      expect(outcomes(answers)).toEqual({ 200: 20, too_many_invitations: 30 });
    });

    it('are counted only if they are created', async () => {
      const [admin, others] = [await trial(), await many(3, () => trial())];
      for (const other of others) await invite(other, 'bia@example.com');
      for (let n = 0; n < 12; n += 1) expect((await invite(admin, 'bia@example.com')).status).toBe(429);
      const answers = await many(12, (n) => invite(admin, `friend${n}@example.com`));
      expect(outcomes(answers)).toEqual({ 200: 10, too_many_invitations: 2 });
    });

    it('are refused with the same response for every reason, with the whole hours until an attempt can succeed', async () => {
      const [admin, others] = [await trial(), await many(3, () => trial())];
      for (const other of others) await invite(other, 'bia@example.com');
      const ofRecipient = await invite(admin, 'bia@example.com');
      await many(10, (n) => invite(admin, `friend${n}@example.com`));
      const ofAccount = await invite(admin, 'eva@example.com');
      expect(ofRecipient.body).toEqual(ofAccount.body);
      for (const { status, body, headers } of [ofRecipient, ofAccount]) {
        expect(status).toBe(429);
        expect(body).toMatchObject({ title: 'Too Many Requests', code: 'too_many_invitations' });
        expect(headers.get('retry-after')).toBe('86400');
      }
    });

    it('are not limited for staff', async () => {
      const admin = await trial('Demonstration', 'operator');
      const answers = await many(25, (n) => invite(admin, `friend${n}@example.com`));
      expect(outcomes(answers)).toEqual({ 200: 25 });
    });
  });

  it('an account that the operator created can invite sixty people a day', async () => {
    const admin = await customer();
    const headers = fromNewNetwork();
    const answers = await many(60, (n) => invite(admin, `friend${n}@example.com`, headers));
    expect(outcomes(answers)).toEqual({ 200: 60 });
  });

  describe('an invitation that an account repeats', () => {
    it.each([
      ['a trial account', trial],
      ['a customer', customer],
    ])(
      'is mailed once an hour for %s, also in another case, for another role and after it was revoked',
      async (_, make) => {
        const admin = await make();
        const headers = fromNewNetwork();
        const both = await many(2, () => invite(admin, 'bia@example.com', headers));
        expect(outcomes(both)).toEqual({ 200: 1, invited_recently: 1 });
        const { id } = both.find(({ status }) => status === 200)!.body;
        expect((await invite(admin, 'BIA@Example.com', headers, 'admin')).body.code).toBe('invited_recently');
        expect((await admin.who.delete(`${admin.account}/invitations/${id}`)).status).toBe(204);
        const refused = await invite(admin, 'bia@example.com', headers);
        expect(refused).toMatchObject({ status: 429, body: { code: 'invited_recently' } });
        const seconds = Number(refused.headers.get('retry-after'));
        expect([seconds > 3_000, seconds <= 3_600]).toEqual([true, true]);
        expect(await mailed('invitation')).toEqual(['bia@example.com']);
        await letAnHourPass();
        expect((await invite(admin, 'bia@example.com', headers)).status).toBe(200);
        expect((await invite(admin, 'bia@example.com', headers)).body.code).toBe('invited_recently');
      },
    );
  });

  describe('a mailed link', () => {
    const link = (path: string, email: string, more: object = {}): Promise<Answer> =>
      callConsole(server, 'POST', `/auth${path}`, {
        body: { email, language: 'en', ...more },
        headers: fromNewNetwork(),
      });
    const signUp = (email: string): Promise<Answer> =>
      link('/sign-up/email', email, { name: 'Eva Lima', password: PASSWORD });

    it('to a new address can be requested five times a day by a user, from all networks together', async () => {
      const ana = await person(server);
      const answers = await many(12, (n) =>
        ana.call('POST', '/auth/change-address', { email: `stranger${n}@example.com` }, fromNewNetwork()),
      );
      expect(outcomes(answers)).toEqual({ 204: 5, too_many_mails: 7 });
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThan(86_000);
      expect(await mailed('address_change')).toHaveLength(5);
    });

    it('to a new address reaches a mailbox five times a day, from all users together', async () => {
      for (let n = 0; n < 8; n += 1) {
        const email = n % 2 === 0 ? 'stranger@example.com' : `stran.ger+${n}@example.com`;
        const ana = await person(server);
        const answer = await ana.call('POST', '/auth/change-address', { email }, fromNewNetwork());
        // A user's page must not show that other users requested links too.
        expect(answer.status).toBe(204);
      }
      expect(await mailed('address_change')).toHaveLength(5);
    });

    it('for a sign-up reaches a mailbox five times a day, and does not use up its password resets', async () => {
      const ana = await person(server);
      for (let n = 0; n < 7; n += 1) {
        expect((await signUp(ana.email)).status).toBe(200);
        await letAnHourPass();
      }
      expect(await mailed('sign_up')).toHaveLength(5);
      expect((await link('/request-password-reset', ana.email)).status).toBe(204);
      expect(await mailed('password_reset')).toEqual([ana.email]);
    });
  });

  describe('events that users send to a webhook by hand', () => {
    const withWebhook = async (admin: Admin, host = 'hooks.example.com'): Promise<Admin> => {
      await admin.who.put(`${admin.account}/webhook`, { url: `https://${host}/onecode` });
      return admin;
    };
    const test = ({ who, account }: Admin): Promise<Answer> =>
      who.call('POST', `${account}/webhook/test`, {}, fromNewNetwork());
    const end = (): Promise<unknown> =>
      sql(
        `update outbox set outcome = 'sent', ended_at = clock_timestamp(), due_at = null where account_id is not null`,
      );

    it('are limited to fifty a day for a trial account, tests and repeats together, when eighty are sent at once', async () => {
      const admin = await withWebhook(await trial());
      expect((await test(admin)).status).toBe(204);
      await end();
      const [delivery] = (await admin.who.get(`${admin.account}/webhook`)).body.deliveries;
      const answers = await many(80, () =>
        admin.who.call(
          'POST',
          `${admin.account}/webhook/deliveries/${delivery.id}/again`,
          {},
          fromNewNetwork(),
        ),
      );
      expect(outcomes(answers)).toEqual({ 204: 49, too_many_events: 31 });
      await end();
      expect(await test(admin)).toMatchObject({ status: 429, body: { code: 'too_many_events' } });
      // A new address or webhook does not reset the count.
      await admin.who.delete(`${admin.account}/webhook`);
      await withWebhook(admin, 'other.example.com');
      expect((await test(admin)).headers.get('retry-after')).toBe('86400');
    });

    it('are limited for a host too, from all trial accounts together', async () => {
      const admins = await many(5, async () => withWebhook(await trial(), 'victim.example.com'));
      const round = async (): Promise<string[]> => {
        const codes: string[] = [];
        for (const admin of admins) {
          codes.push((await test(admin)).body?.code ?? 'posted');
          await end();
        }
        return codes;
      };
      expect(new Set(await round())).toEqual(new Set(['posted']));
      // Simulates 193 more events.
      expect(await sql('update counted_tries set tries = 198 where tries = 5 returning tries')).toHaveLength(
        1,
      );
      expect(await round()).toEqual([
        ...Array<string>(2).fill('posted'),
        ...Array<string>(3).fill('too_many_events'),
      ]);
    });
  });

  describe('changes that mail all admins of an account', () => {
    it('are at most fifty a day for a trial account, except revocations of keys', async () => {
      const { who, account } = await trial();
      const { body } = await who.get(`${account}/applications`);
      const keys = `${account}/applications/${body.applications[0].id}/keys`;
      const answers = await many(30, () => who.post(keys));
      for (let n = 0; n < 15; n += 1) {
        answers.push(await who.put(`${account}/webhook`, { url: `https://hooks.example.com/${n}` }));
        answers.push(await who.put(`${account}/balance-alert`, { below: n + 1 }));
      }
      // The account's first key counts too.
      const { too_many_changes: refused } = outcomes(answers);
      expect([answers.length, refused]).toEqual([60, 11]);
      const made = answers.find(({ body: answer }) => answer?.id !== undefined)!;
      expect((await who.post(`${keys}/${made.body.id}/revoke`)).status).toBe(204);
    });
  });
});

describe('refused requests', () => {
  const server = useConsole();
  let ours: TestCaller;
  let member: TestPerson;
  let onCall: TestPerson;
  const hash = createHash('sha256').update('order-7').digest();
  const ids = { mine: randomUUID(), keyed: randomUUID() };

  beforeAll(async () => {
    const { database } = server.db;
    ours = await buildCaller(database, 'live');
    member = await person(server, { accounts: { [ours.accountId]: 'viewer' } });
    onCall = await person(server, { staff: 'on_call' });
    await refuseRequests(database, ours, 'rate_limited', [
      { requestId: ids.mine, status: 429, detail: 'A limit.', route: 'POST /v1/send/:id/verify', ageMs: 1 },
    ]);
    await refuseRequests(database, ours, 'invalid_recipient', [
      { requestId: ids.keyed, fields: ['to'], idempotencyKeyHash: hash, count: 30 },
    ]);
  });

  const read = (query: object, who = member, of = ours) =>
    who.post<RefusedRequestsView>(
      `${who === onCall ? '/staff' : ''}/accounts/${of.accountId}/refused-requests/search`,
      query,
    );
  const found = async (text: string, who = member, of = ours): Promise<string[]> =>
    (await read({ text }, who, of)).body.requests.map(({ requestId }) => requestId);

  describe('refused requests in the console', () => {
    it('are counted by reason, newest first, and listed with the route of the API reference', async () => {
      const { body } = await read({});
      const keyed = { status: 422, code: 'invalid_recipient', fields: ['to'], count: 30, defence: null };
      const mine = { status: 429, code: 'rate_limited', detail: 'A limit.', fields: [], count: 1 };
      const facts = {
        application: { id: ours.applicationId, name: 'Test live' },
        keyHint: expect.stringMatching(/^ak_live_/) as string,
      };
      expect(body).toMatchObject({
        reasons: [keyed, mine],
        requests: [
          { ...keyed, ...facts, requestId: ids.keyed, route: 'POST /v1/send' },
          { ...mine, ...facts, requestId: ids.mine, route: 'POST /v1/send/{id}/verify' },
        ],
        next: null,
      });
    });

    it('are found in their account by request id, and by a key in UTF-8 or latin1, even one that looks like an id', async () => {
      expect(await found(ids.mine.toUpperCase())).toEqual([ids.mine]);
      expect(await found('order-7')).toEqual([ids.keyed]);
      expect(await found('order-8')).toEqual([]);
      const caller = await buildCaller(server.db.database, 'live');
      const sent = [
        ['ação', 'utf8'],
        ['ação', 'latin1'],
        ['注文', 'utf8'],
        [randomUUID(), 'utf8'],
      ] as const;
      const requests = sent.map(([key, encoding], ageMs) => ({
        requestId: randomUUID(),
        idempotencyKeyHash: createHash('sha256').update(key, encoding).digest(),
        ageMs,
      }));
      await refuseRequests(server.db.database, caller, 'invalid_json', requests);
      const [utf8, latin1, wide, uuid] = requests.map(({ requestId }) => requestId);
      expect(await found('ação', onCall, caller)).toEqual([utf8, latin1]);
      expect(await found('注文', onCall, caller)).toEqual([wide]);
      expect(await found(sent[3][0], onCall, caller)).toEqual([uuid]);
      expect(await found('注文')).toEqual([]);
    });

    it('are listed page by page and by reason', async () => {
      const caller = await buildCaller(server.db.database, 'live');
      const many = Array.from({ length: 60 }, () => ({ detail: 'One.' }));
      await refuseRequests(server.db.database, caller, 'invalid_json', [...many, { detail: 'Two.' }]);
      const said = { hours: 1, code: 'invalid_json', detail: 'One.', fields: [] };
      const first = await read(said, onCall, caller);
      const second = await read({ ...said, before: first.body.next }, onCall, caller);
      const all = [...first.body.requests, ...second.body.requests].map(({ requestId }) => requestId);
      expect(new Set(all).size).toBe(60);
      expect(first.body.reasons).toHaveLength(2);
      expect(second.body).toMatchObject({ reasons: [], next: null });
    });

    it('are not listed for an invalid filter', async () => {
      const queries = [{ hours: 0 }, { hours: 337 }, { code: 'A' }, { before: 'x' }, { key: 'order-7' }];
      for (const query of [...queries, { text: '' }, { text: 'x'.repeat(256) }])
        expect((await read(query)).status).toBe(422);
    });
  });
});

describe('holds and recipients', () => {
  const server = useConsole();

  describe('holds', () => {
    let operator: TestPerson;
    let onCall: TestPerson;
    beforeAll(async () => {
      operator = await person(server, { staff: 'operator' });
      onCall = await person(server, { staff: 'on_call' });
    });

    const show = async (): Promise<HoldsView> => (await onCall.get<HoldsView>('/staff/holds')).body;
    const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];

    it('are set with a reason, show how many sends wait, and are released', async () => {
      const { database } = server.db;
      const caller = await buildCaller(database, 'live', { name: 'Loja Azul', credits: 9 });
      const other = await buildCaller(database, 'live', { credits: 9 });
      for (const one of [caller, caller, other]) await buildSend(database, one);
      await server.db.sql("update sends set phase = 'waiting'");

      const targets = [
        { kind: 'live', target: '' },
        { kind: 'country', target: 'BR' },
        { kind: 'account', target: caller.accountId },
        // Numbers without a country.
        { kind: 'country', target: 'ZZ' },
      ];
      for (const one of targets)
        expect((await onCall.post('/staff/holds', { ...one, reason: 'a test' })).status).toBe(204);

      const held = { reason: 'a test', since: expect.any(String), setBy: onCall.email };
      expect(await show()).toEqual({
        holds: [
          { kind: 'live', target: '', accountName: null, waiting: 3, ...held },
          { kind: 'country', target: 'BR', accountName: null, waiting: 3, ...held },
          { kind: 'account', target: caller.accountId, accountName: 'Loja Azul', waiting: 2, ...held },
          { kind: 'country', target: 'ZZ', accountName: null, waiting: 0, ...held },
        ],
        waiting: 3,
      });
      const { body } = await onCall.get(`/staff/accounts/${caller.accountId}`);
      expect(body.held).toBe(true);

      const release = async (one: object): Promise<number> =>
        (await onCall.post('/staff/holds/release', { ...one, reason: 'over' })).status;
      for (const one of targets) expect(await release(one)).toBe(204);
      expect((await show()).holds).toEqual([]);
      expect(await latest()).toMatchObject({
        action: 'hold.release',
        details: { reason: 'a test', releaseReason: 'over' },
      });
      expect(await release(targets[0]!)).toBe(404);
    });

    it.each([
      [{ kind: 'live', target: 'BR', reason: 'why' }, { target: 'format' }],
      [{ kind: 'country', target: 'XX', reason: 'why' }, { target: 'format' }],
      [{ kind: 'country', target: 'br', reason: 'why' }, { target: 'format' }],
      [{ kind: 'account', target: 'BR', reason: 'why' }, { target: 'format' }],
      [{ kind: 'account', target: newId(), reason: 'why' }, { target: 'unknown' }],
      [{ kind: 'live', target: '' }, { reason: 'required' }],
    ])('are not set by the invalid input %j', async (body, errors) => {
      const last = await latest();

      expect(await operator.post('/staff/holds', body)).toMatchObject({ status: 422, body: { errors } });

      expect((await show()).holds).toEqual([]);
      expect(await latest()).toEqual(last);
    });
  });

  describe('recipients', () => {
    let account: string;
    let other: string;
    let people: Record<'viewer' | 'admin' | 'operator' | 'on_call', TestPerson>;

    beforeAll(async () => {
      account = await buildAccount(server.db.database, { name: 'Loja Azul', credits: 100 });
      other = await buildAccount(server.db.database, { name: 'Loja Roxa', credits: 100 });
      people = {
        viewer: await person(server, { accounts: { [account]: 'viewer' } }),
        admin: await person(server, { accounts: { [account]: 'admin' } }),
        operator: await person(server, { staff: 'operator' }),
        on_call: await person(server, { staff: 'on_call' }),
      };
    });

    afterEach(() => server.db.sql('delete from guess_budgets'));

    const sendTo = async (accountId: string, recipient: string): Promise<string> => {
      const caller = await buildCaller(server.db.database, 'live', { id: accountId });
      return buildSend(server.db.database, caller, { recipient });
    };

    /** Creates a recipient with this many wrong codes in a row. */
    async function guessedAt(
      accountId: string,
      recipient: string,
      { wrong = 100, secondsAgo = 0 } = {},
    ): Promise<string> {
      const [row] = await server.db.sql<{ id: string }>(
        `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
       select account_id, recipient_key, $2, clock_timestamp() - make_interval(secs => $3) from sends where id = $1 returning id`,
        [await sendTo(accountId, recipient), wrong, secondsAgo],
      );
      return row!.id;
    }

    const list = async (who: TestPerson, path: string): Promise<ExhaustedRecipientsView> =>
      (await who.get<ExhaustedRecipientsView>(`${path}/exhausted-recipients`)).body;

    describe.each([
      ['the team', 'accounts', 'viewer', 'admin'],
      ['the staff', 'staff/accounts', 'on_call', 'operator'],
    ] as const)('for %s', (_, path, sees, manages) => {
      const below = (): string => `/${path}/${account}`;

      it('are exported and erased in this account only', async () => {
        const number = '+5511987654321';
        const [id, foreign] = [await sendTo(account, number), await sendTo(other, number)];
        // As users paste it, without the ninth digit.
        const recipient = 'https://wa.me/551187654321';
        const exported = await people[manages].post(`${below()}/recipients/export`, { recipient });
        expect(exported.body).toMatchObject({
          sends: expect.arrayContaining([expect.objectContaining({ id, recipient: number })]),
        });
        expect(JSON.stringify(exported.body)).not.toContain(foreign);

        const erasure = { recipient, reason: 'Request 17 of (11) 8765-4321' };
        const own = 'select from sends where account_id = $1 and recipient = $2';
        const { length } = await server.db.sql(own, [account, number]);
        const { body } = await people[manages].post(`${below()}/recipients/erase`, erasure);
        expect(body).toEqual({ sendsErased: length, codesEnded: length });
        const recipients = 'select recipient from sends where id = any ($1) order by account_id = $2';
        expect(await server.db.sql(recipients, [[id, foreign], account])).toEqual([
          { recipient: number },
          { recipient: '+55 ••••• 4321' },
        ]);
        const [entry] = await listAuditEntries(server.db.database, { limit: 1 });
        const actor = { id: people[manages].id };
        const details = { reason: 'Request 17 of (+55 ••••• 4321' };
        expect(entry).toMatchObject({ action: 'recipient.erase', actor, details });
        expect(JSON.stringify(entry)).not.toContain('87654321');
      });

      it('are listed with their last digits only and the end of the block when they are blocked', async () => {
        await guessedAt(account, '+5511987654321');
        await guessedAt(account, '+5511987650000', { wrong: 3 });
        await guessedAt(other, '+5511987651111');
        const { recipients } = await list(people[sees], below());
        expect(recipients).toMatchObject([{ recipient: '+55 ••••• 4321', wrongInARow: 100 }]);
        expect(JSON.stringify(recipients)).not.toContain('987654321');
        expect(Date.parse(recipients[0]!.recoversAt)).toBeGreaterThan(Date.now());
      });

      it('are listed in the order of their latest wrong codes when they are blocked', async () => {
        for (const one of [1, 2, 3]) await guessedAt(account, `+551198765000${one}`, { secondsAgo: 9 - one });
        const { recipients } = await list(people[sees], below());
        const seen = recipients.map(({ recipient }) => recipient);
        expect(seen).toEqual(['+55 ••••• 0003', '+55 ••••• 0002', '+55 ••••• 0001']);
      });

      it('are listed with an entry in the audit log for staff, and without one for members', async () => {
        await guessedAt(account, '+5511987654321');
        await server.db.sql('delete from counted_tries');
        const reads = () =>
          listAuditEntries(server.db.database, { limit: 100, actionPrefix: 'account.read' });
        const before = (await reads()).length;
        await list(people[sees], below());
        const isStaff = sees === 'on_call';
        expect((await reads()).length - before).toBe(isStaff ? 1 : 0);
      });

      it('are reset in their own account only', async () => {
        const foreign = await guessedAt(other, '+5511987651111');
        const answer = await people[manages].post(`${below()}/exhausted-recipients/${foreign}/reset`);
        expect(answer.status).toBe(404);
        expect(await server.db.sql('select id from guess_budgets')).toHaveLength(1);
      });

      it('are reset with the last digits in the audit log', async () => {
        const id = await guessedAt(account, '+5511987654321');
        const address = `${below()}/exhausted-recipients/${id}/reset`;
        expect((await people[manages].post(address)).status).toBe(204);
        expect((await list(people[sees], below())).recipients).toEqual([]);
        expect(await listAuditEntries(server.db.database, { limit: 1 })).toMatchObject([
          {
            action: 'account.reset_recipient',
            accountId: account,
            actor: { id: people[manages].id },
            details: { recipientEndsWith: '4321' },
          },
        ]);
        expect(await people[manages].post(address)).toMatchObject({ status: 404 });
      });
    });
  });
});
