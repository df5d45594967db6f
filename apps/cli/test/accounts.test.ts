import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { hashApiKey, isApiKey } from '@onecode/domain';
import { changeAccount, createApplication, findCaller, tripBreaker } from '@onecode/store/accounts';
import { buildAccount, buildCaller, buildSend, recipientKeysOf, TEST_ACTOR, until } from '@onecode/testing';
import { argsOf, ID, onecode, TIME, UNKNOWN_ID, useCommandLine } from './onecode.js';

const commandLine = useCommandLine();
const { store, json, text, expectFault } = commandLine;
const { username } = userInfo();
/** Matches any date: a test that starts before midnight (UTC) may end after it. */
const TODAY = expect.stringMatching(/^20\d{2}-\d{2}-\d{2}$/) as string;

describe('account', () => {
  it('create uses the settings and pt-BR for omitted options, and show prints the account', async () => {
    await store.sql('update settings set free_sends = 13, account_rate_per_minute = 77');
    const account = await json('account create --name', 'Loja Azul');
    const rest = { language: 'pt-BR', free_quota: 13, credits: 0, rate_per_minute: 77 };
    expect(account).toEqual({ id: ID, name: 'Loja Azul', ...rest });
    expect(await json(`account show ${String(account['id'])}`)).toMatchObject(account);
  });

  it('create stores all options, ledger entries for the units, and a name of up to 200 characters', async () => {
    const name = '😀'.repeat(200);
    const options = '--language en --free-quota 0 --credits 250 --rate-per-minute 1000000';
    const account = await json(`account create ${options} --name`, `  ${name} `);
    const rest = { language: 'en', free_quota: 0, credits: 250, rate_per_minute: 1_000_000 };
    expect(account).toEqual({ id: ID, name, ...rest });
    const ledger = await store.sql(
      'select kind, bucket, units, reason from ledger_entries where account_id = $1',
      [account['id']],
    );
    expect(ledger).toEqual([{ kind: 'granted', bucket: 'credit', units: 250, reason: 'account created' }]);
  });

  it('create prints aligned text without --json', async () => {
    const printed = await text('account create --free-quota 5 --rate-per-minute 9 --name Readable');
    expect(printed).toMatch(/^id {15}\S{36}\nname {13}Readable\n(?:.+\n){3}rate per minute {2}9\n$/);
  });

  it('credit grants credits with the reason in the ledger, up to the column limit', async () => {
    const rest = { name: 'Buyer', freeQuota: 2, credits: 1, ratePerMinute: 9 };
    const id = await buildAccount(store.database, rest);
    expect(await json(`account credit ${id} --amount 41 --reason`, ' invoice 42 ')).toMatchObject({
      id,
      free_quota: 2,
      credits: 42,
    });
    const newest =
      'select units, reason, reference from ledger_entries where account_id = $1 order by id desc limit 1';
    expect(await store.sql(newest, [id])).toEqual([{ units: 41, reason: 'invoice 42', reference: null }]);
    const year = new Date().getUTCFullYear() + 1;
    await json(`account credit ${id} --amount 5 --reason r --last-day ${year}-02-28 --reference`, 'INV-42');
    expect(await json(`account show ${id}`)).toMatchObject({
      credits: 47,
      expiring: [{ at: `${year}-03-01T00:00:00.000Z`, units: 5 }],
    });
    expect(await store.sql(newest, [id])).toEqual([{ units: 5, reason: 'r', reference: 'INV-42' }]);
    const grant = `account credit ${id} --reason r --grant-id ${randomUUID()} --amount`;
    for (const _ of [1, 2]) expect(await json(`${grant} 3`)).toMatchObject({ credits: 50 });
    await expectFault('--grant-id belongs to another grant', `${grant} 4`);
  });

  it.each([
    ['the senders of an account', 'senders ID own', { senders: 'own' }],
    ['the rate of an account', 'rate ID 1200', { rate_per_minute: 1200 }],
  ])('sets %s', async (_, words, changed) => {
    const id = await buildAccount(store.database);
    expect(await json(`account ${words.replace('ID', id)}`)).toMatchObject({ id, ...changed });
    expect(await json(`account show ${id}`)).toMatchObject(changed);
  });

  it('senders shared and rate default restore the shared senders and the default rate', async () => {
    const usual = await json(`account show ${await buildAccount(store.database)}`);
    expect(usual).toMatchObject({ senders: 'shared' });
    const id = await buildAccount(store.database, { ratePerMinute: 5 });
    for (const senders of ['own', 'shared']) await json(`account senders ${id} ${senders}`);
    await json(`account rate ${id} default`);
    const { senders, rate_per_minute: rate } = usual;
    expect(await json(`account show ${id}`)).toMatchObject({ senders, rate_per_minute: rate });
  });

  it('suspend stores the last reason until the account is resumed', async () => {
    const id = await buildAccount(store.database);
    const suspended = { id, suspended_at: TIME, suspension_reason: 'unpaid' };
    expect(await json(`account suspend ${id} --reason unpaid`)).toMatchObject(suspended);
    expect(await json(`account show ${id}`)).toMatchObject(suspended);
    const [before] = await store.sql('select suspended_at from accounts where id = $1', [id]);
    expect(await json(`account suspend ${id} --reason fraud`)).toMatchObject({ suspension_reason: 'fraud' });
    expect(await store.sql('select suspended_at from accounts where id = $1', [id])).toEqual([before]);
    const free = { id, suspended_at: null, suspension_reason: null };
    expect(await json(`account resume ${id}`)).toMatchObject(free);
    expect(await json(`account show ${id}`)).toMatchObject(free);
    const entries = 'select action from audit_entries where account_id = $1 order by id offset 1';
    expect((await store.sql(entries, [id])).map(({ action }) => action)).toEqual([
      'account.suspend',
      'account.suspend',
      'account.resume',
    ]);
  });

  it('list shows accounts newest first in pages, and finds them by parts of their names', async () => {
    const first = await buildAccount(store.database, { name: 'Padaria Sol' });
    const second = await buildAccount(store.database, { name: 'Clínica Vida Nova' });
    const [listed] = await json<object[]>('account list --limit 1');
    expect(listed).toMatchObject({ id: second, name: 'Clínica Vida Nova', suspended_at: null });
    expect(await json(`account show ${second}`)).toMatchObject(listed!);
    expect(await json(`account list --before ${second} --limit 1`)).toMatchObject([{ id: first }]);
    expect(await json('account list --search', 'vida nov')).toMatchObject([{ id: second }]);
    expect(await json('account list --search nothing')).toEqual([]);
  });

  it('show prints a trial account’s countries, and trials prints today’s sends and their shared limit', async () => {
    expect(await json('account trials')).toEqual({ day: TODAY, sends: 0, sends_per_day: 500 });
    await store.sql('update settings set trial_sends_of_day = 500');
    expect(await json('account trials')).toEqual({ day: TODAY, sends: 0, sends_per_day: 500 });
    await store.sql(
      `update settings set trial_sends_on = (now() at time zone 'UTC')::date, trial_sends_of_day = 37`,
    );
    expect(await json('account trials')).toEqual({ day: TODAY, sends: 37, sends_per_day: 500 });
    const id = await buildAccount(store.database);
    expect(await json(`account show ${id}`)).toMatchObject({ trial_countries: null });
    await store.sql(`update accounts set trial_countries = '{BR,PT}' where id = $1`, [id]);
    expect(await json(`account show ${id}`)).toMatchObject({ trial_countries: ['BR', 'PT'] });
  });
});

describe('abuse controls', () => {
  const TO = '+5511987654321';
  const OPEN = {
    allowed_countries: 'all',
    allows_premium_rate: true,
    units_per_day: null,
    units_per_month: null,
    units_today: 0,
    units_this_month: 0,
    breaker_unverified_percent: null,
    breaker_min_sends: null,
    blocked_countries: [],
  };
  let id: string;
  beforeEach(async () => {
    id = await buildAccount(store.database);
  });

  it('countries limits an account to the given countries in any case and order, until all are allowed', async () => {
    expect(await json(`account show ${id}`)).toMatchObject(OPEN);
    const listed = { id, ...OPEN, allowed_countries: ['BR', 'US'] };
    expect(await json(`account countries ${id} --allow us,BR,br`)).toEqual(listed);
    expect(await json(`account show ${id}`)).toMatchObject({ allowed_countries: ['BR', 'US'] });
    expect(await json(`account countries ${id} --allow BR,+44`)).toMatchObject({
      allowed_countries: ['BR', 'GB', 'GG', 'IM', 'JE'],
    });
    const printed = await text(`account countries ${id} --allow BR,US`);
    expect(printed).toMatch(/^allowed countries +BR,US\n(?:.*\n)*blocked countries +-$/m);
    expect(await json(`account countries ${id} --allow all`)).toEqual({ id, ...OPEN });
  });

  it('premium-rate refuses premium-rate numbers, and ceiling sets and removes each ceiling independently', async () => {
    expect(await json(`account premium-rate ${id} off`)).toEqual({ id, ...OPEN, allows_premium_rate: false });
    expect(await json(`account premium-rate ${id} on`)).toEqual({ id, ...OPEN });
    const both = { units_per_day: 1_000, units_per_month: 20_000 };
    expect(await json(`account ceiling ${id} --day 1000 --month 20000`)).toEqual({ id, ...OPEN, ...both });
    expect(await json(`account ceiling ${id} --day off`)).toEqual({ id, ...OPEN, units_per_month: 20_000 });
    expect(await json(`account ceiling ${id} --month off`)).toEqual({ id, ...OPEN });
    expect(await json(`account show ${id}`)).toMatchObject(OPEN);
  });

  it('breaker defaults to 50 sends and can be changed, reset and turned off', async () => {
    const ruled = (percent: number | null, sends: number | null) => ({
      ...OPEN,
      id,
      breaker_unverified_percent: percent,
      breaker_min_sends: sends,
    });
    expect(await json(`account breaker ${id} --unverified-percent 90`)).toEqual(ruled(90, 50));
    const changed = ruled(75, 200);
    expect(await json(`account breaker ${id} --unverified-percent 75 --min-sends 200`)).toEqual(changed);
    const rule = { unverifiedPercent: 90, minSends: 50 };
    await changeAccount(store.database, TEST_ACTOR, id, { breaker: rule });
    for (const country of ['NG', 'ZZ']) {
      const evidence = { accountId: id, country, sends: 50, unverified: 50 };
      expect(await tripBreaker(store.database, { ...evidence, rule })).toBe(true);
    }
    expect(await json(`account show ${id}`)).toMatchObject({ blocked_countries: ['NG', 'ZZ'] });
    expect(await json(`account breaker ${id} --reset`)).toEqual(ruled(90, 50));
    expect(await json(`account breaker ${id} --off`)).toEqual(ruled(null, null));
  });

  it('forgive resets the guess budget of a recipient and prints how much was used', async () => {
    await store.sql(
      `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at) values ($1, $2, 100, now()), ($1, $3, 95, now())`,
      [id, recipientKeysOf(TO)[0], recipientKeysOf('+5511987654322')[0]],
    );
    expect(await json(`account forgive ${id} --to`, '+55 11 98765-4321')).toEqual({
      id,
      forgiven_wrong_codes: 100,
    });
    expect(await store.sql('select points from guess_budgets where account_id = $1', [id])).toEqual([
      { points: 95 },
    ]);
  });
});

describe('application', () => {
  let accountId: string;
  beforeAll(async () => {
    accountId = await buildAccount(store.database);
  });

  it.each(['test', 'live'])(
    'create makes an application in %s mode with its limits off, which list and show print',
    async (mode) => {
      const made = await json(`application create --account ${accountId} --name Shop --mode ${mode}`);
      expect(made).toEqual({ id: ID, account_id: accountId, name: 'Shop', mode });
      const row = { ...made, per_minute: null, per_recipient_hour: null, identity_check: 'off' };
      expect(await json('application list --limit 1')).toEqual([row]);
      expect((await json<object[]>(`application list --account ${accountId}`))[0]).toEqual(row);
      expect(await json(`application show ${String(made['id'])}`)).toEqual(row);
    },
  );

  it("limits accepts numbers, off, a single limit, and on for the specification's initial values", async () => {
    const application = { accountId, name: 'Limited', mode: 'live' } as const;
    const { id } = (await createApplication(store.database, TEST_ACTOR, application))!;
    const limits = async (words: string) => {
      const row = await json(`application limits ${id} ${words}`);
      expect(row).toMatchObject({ id, account_id: accountId, name: 'Limited', mode: 'live' });
      return [row['per_minute'], row['per_recipient_hour']];
    };
    expect(await limits('--per-minute on --per-recipient-hour on')).toEqual([60, 5]);
    expect(await limits('--per-minute 1')).toEqual([1, 5]);
    expect(await limits('--per-recipient-hour 1000000')).toEqual([1, 1_000_000]);
    expect(await limits('--per-minute off')).toEqual([null, 1_000_000]);
    const printed = await text(`application limits ${id} --per-recipient-hour off`);
    expect(printed).toMatch(/^per minute {10}off\nper recipient hour {2}off\n/m);
  });

  it('set changes the identity check, and trust forgets the identity of a number', async () => {
    const caller = await buildCaller(store.database, 'live', { credits: 1 });
    const id = caller.applicationId;
    const enforced = { id, identity_check: 'enforce' };
    expect(await json(`application set ${id} identity_check enforce`)).toMatchObject(enforced);
    const sendId = await buildSend(store.database, caller, { recipient: '+5511987654321' });
    await store.sql(
      `insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed)
       select id, application_id, recipient_key, 'DF2lS5v2W6x=', false from sends where id = $1`,
      [sendId],
    );
    const trust = `application trust ${id} --to +5511987654321`;
    expect(await json(trust)).toEqual({ application_id: id, forgotten: 1 });
    expect(await json(trust)).toEqual({ application_id: id, forgotten: 0 });
  });
});

describe('key', () => {
  const hintOf = (key: string): string => `${key.slice(0, 8)}…${key.slice(-4)}`;

  it.each(['test', 'live'] as const)(
    'create makes a key in %s mode that works until it is revoked',
    async (mode) => {
      const { applicationId, accountId } = await buildCaller(store.database, mode);
      const made = await json<{ id: string; key: string }>(`key create --application ${applicationId}`);
      const key = expect.stringMatching(new RegExp(`^ak_${mode}_`)) as string;
      expect(made).toEqual({ id: ID, key, application_id: applicationId, mode, expires_at: null });
      expect(isApiKey(made.key)).toBe(true);
      const caller = { keyId: made.id, applicationId, accountId, mode, state: 'valid' };
      expect(await findCaller(store.database, hashApiKey(made.key))).toMatchObject(caller);

      const revoked = await json(`key revoke ${made.id}`);
      expect(revoked).toEqual({
        id: made.id,
        application_id: applicationId,
        mode,
        hint: hintOf(made.key),
        expires_at: null,
        created_at: TIME,
        revoked_at: TIME,
      });
      expect(await findCaller(store.database, hashApiKey(made.key))).toMatchObject({ state: 'revoked' });
      expect(await json(`key revoke ${made.id}`)).toEqual(revoked);
    },
  );

  it('create makes a key that expires, and records its end in the audit log', async () => {
    const { applicationId } = await buildCaller(store.database, 'test');
    const create = `key create --application ${applicationId} --expires-in-days`;
    const before = Date.now();
    const made = await json<{ id: string; key: string; expires_at: string }>(`${create} 3650`);
    const days = (Date.parse(made.expires_at) - before) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(3_650);
    expect(days).toBeLessThan(3_651);
    expect(await text(`${create} 1`)).toMatch(/^expires at {6}20\d\d-.*Z$/m);
    const [entry] = await store.sql(
      `select details ->> 'expiresAt' as at from audit_entries where action = 'key.create' and subject = $1`,
      [made.id],
    );
    expect(entry).toEqual({ at: made.expires_at });
    await store.sql(
      `update api_keys set expires_at = clock_timestamp() - interval '1 second' where id = $1`,
      [made.id],
    );
    expect(await findCaller(store.database, hashApiKey(made.key))).toMatchObject({ state: 'expired' });
    expect(await json(`key list --application ${applicationId}`)).toContainEqual(
      expect.objectContaining({ id: made.id, revoked_at: null, expires_at: TIME }),
    );
  });

  it("list prints an application's keys oldest first, without the keys themselves", async () => {
    const first = await buildCaller(store.database, 'live');
    await buildCaller(store.database, 'live', { id: first.accountId });
    const printed = await text(`key create --application ${first.applicationId}`);
    const [, second = ''] = /^key {13}(ak_live_\w+)$/m.exec(printed)!;
    expect(printed).toContain('The key cannot be shown again: store it now.');
    await json(`key revoke ${first.keyId}`);

    const list = `key list --application ${first.applicationId}`;
    const row = { application_id: first.applicationId, mode: 'live', created_at: TIME, expires_at: null };
    expect(await json(list)).toEqual([
      { ...row, id: first.keyId, hint: hintOf(first.key), revoked_at: TIME },
      { ...row, id: ID, hint: hintOf(second), revoked_at: null },
    ]);
    const [header, ...lines] = (await text(list)).trimEnd().split('\n');
    expect(header).toMatch(/^id +application id +mode +hint +created at +revoked at +expires at$/);
    expect(lines).toEqual([expect.stringMatching(/Z +-$/), expect.stringMatching(/ - +-$/)]);
    expect(lines.join()).not.toContain(second);
    // Finds keys with this ending in all applications; another key may have the same ending.
    const ending = second.slice(-4);
    const sameEnding = await json<{ hint: string }[]>(`key list --hint ${ending}`);
    expect(sameEnding).toContainEqual({ ...row, id: ID, hint: hintOf(second), revoked_at: null });
    for (const { hint } of sameEnding) expect(hint.slice(-4)).toBe(ending);

    await store.sql('delete from api_keys where application_id = $1', [first.applicationId]);
    expect(await json(list)).toEqual([]);
    expect(await text(list)).toBe('none\n');
  });
});

describe('ledger verify', () => {
  it('compares every balance, and the reservation and refund of every live send', async () => {
    const clean = { accounts: expect.any(Number), entries: expect.any(Number), faults: [] };
    const caller = await buildCaller(store.database, 'live', { credits: 10 });
    const { accountId } = caller;
    const [sent, failed] = [
      await buildSend(store.database, caller),
      await buildSend(store.database, caller, { recipient: '+5511987650002' }),
    ];
    expect(await json('ledger verify')).toEqual(clean);

    await store.sql('update accounts set credits = credits + 1 where id = $1', [accountId]);
    await store.sql(`update ledger_entries set bucket = 'credit' where send_id = $1`, [sent]);
    await store.sql(
      `update sends set status = 'failed', phase = 'done', failure_reason = 'attempts_exhausted', failed_at = now(), due_at = null, encrypted_code = null
       where id = $1`,
      [failed],
    );
    const { code, stdout } = await onecode(argsOf(['ledger verify --json']), commandLine.env);
    expect(code).toBe(1);
    const { faults } = JSON.parse(stdout) as { faults: unknown[] };
    expect(faults).toEqual(
      expect.arrayContaining([
        { account_id: accountId, bucket: 'credit', balance: expect.any(Number), ledger: expect.any(Number) },
        { account_id: accountId, send_id: sent, reserved: 0, returned: 0, reclaimed: 0, failed: false },
        { account_id: accountId, send_id: failed, reserved: 1, returned: 0, reclaimed: 0, failed: true },
      ]),
    );
    await store.sql('delete from sends where account_id = $1', [accountId]);
    await store.sql('delete from ledger_entries where account_id = $1', [accountId]);
    await store.sql('update accounts set credits = 0, free_quota = 0 where id = $1', [accountId]);
    expect(await json('ledger verify')).toEqual(clean);
  });

  it('may take longer than the statement time-out of a pooler', async () => {
    const database = new URL(store.url).pathname.slice(1);
    await store.sql(`alter database ${database} set statement_timeout = '100ms'`);
    const other = await store.connect();
    await other.query('begin; lock table ledger_entries');
    const env = { ...commandLine.env, DATABASE_POOLER: 'transaction' };
    const ended = onecode(argsOf(['ledger verify --json']), env);
    try {
      await until('a slow statement or the end', async () => {
        const slow = store.sql(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and clock_timestamp() > query_start + interval '300 ms'`,
        );
        return Promise.race([slow.then(({ length }) => length > 0), ended.then(() => true)]);
      });
    } finally {
      await other.end();
      await store.sql(`alter database ${database} reset statement_timeout`);
    }
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('hold', () => {
  it('sets a hold only once, lists it and releases it', async () => {
    const brazil = { kind: 'country', target: 'BR', reason: 'pumped', since: TIME, set_by: username };
    const all = { kind: 'live', target: null, reason: 'template', since: TIME, set_by: username };
    expect(await json('hold set country br --reason pumped')).toEqual(brazil);
    expect(await json('hold set country BR --reason again')).toEqual({ ...brazil, reason: 'again' });
    expect(await json('hold set live --reason template')).toEqual(all);
    expect(await json('hold list')).toEqual([{ ...brazil, reason: 'again' }, all]);
    expect(await json('hold release country BR --reason over')).toEqual({ ...brazil, reason: 'again' });
    expect(await json('hold release live')).toEqual(all);
    expect(await json('hold list')).toEqual([]);
    await expectFault('there is no hold on this target', 'hold release country US');
  });
});

describe('a command that cannot be undone', () => {
  const erase = '--to +5511987650001 --reason r';

  it('asks for confirmation, names the loss, and changes nothing without yes', async () => {
    const { accountId } = await buildCaller(store.database, 'live');
    const name = String((await json(`account show ${accountId}`))['name']);
    for (const [typed, lost] of [
      [`account delete ${accountId} --reason r`, `the account "${name}"`],
      [`recipient erase ${erase}`, 'masks the number in every send'],
    ] as const)
      for (const answer of ['', 'no\n', 'y\n']) {
        const ended = await onecode(typed.split(' '), commandLine.env, answer);
        expect(ended).toMatchObject({ code: 1, stdout: '' });
        expect(ended.stderr).toContain(lost);
        expect(ended.stderr).toContain('not confirmed, so nothing was changed');
      }
    expect(await json(`account show ${accountId}`)).toMatchObject({ suspended_at: null });
  });

  it('runs after yes, and does not ask with --yes or --json', async () => {
    const ids = [];
    for (let count = 0; count < 3; count += 1)
      ids.push((await buildCaller(store.database, 'live')).accountId);
    const typed = (id: string | undefined) => ['account', 'delete', String(id), '--reason', 'r'];
    expect(await onecode(typed(ids[0]), commandLine.env, 'yes\n')).toMatchObject({ code: 0 });
    expect(await text(`account delete ${ids[1]} --reason r --yes`)).toMatch(/^keys deleted +1$/m);
    expect(await json(`account delete ${ids[2]} --reason r`)).toMatchObject({ keys_deleted: 1 });
    expect(await text(`recipient erase ${erase} --yes`)).toMatch(/^sends erased +0$/m);
  });
});

it('recipient export prints all data stored about a number', async () => {
  const caller = await buildCaller(store.database, 'live');
  const id = await buildSend(store.database, caller);
  await store.sql(
    `insert into attempts (send_id, number, outcome, message_id, started_at, finished_at) values ($1, 1, 'accepted', 'wamid.1', now(), now())`,
    [id],
  );
  const [send] = await store.sql<{ recipient: string }>('select recipient from sends where id = $1', [id]);
  const printed = await text(`recipient export --to ${send!.recipient} --account ${caller.accountId}`);
  expect(printed).toContain(id);
  expect(printed).toMatch(/attempts \(\S+Z \S+Z 1 accepted\)|attempts \(.*accepted.*\)/);
  expect(printed).not.toContain('[object');
});

it.each(['recipient export', 'recipient erase --reason r --yes', 'account forgive ACCOUNT'])(
  '%s fails with a number pepper that is not the API’s',
  async (typed) => {
    const caller = await buildCaller(store.database, 'live');
    await buildSend(store.database, caller);
    const NUMBER_PEPPER = Buffer.alloc(32, 7).toString('base64');
    const args = `${typed.replace('ACCOUNT', caller.accountId)} --to +5511987650001`.split(' ');
    const ended = await onecode(args, { ...commandLine.env, NUMBER_PEPPER });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('NUMBER_PEPPER does not match the latest send');
  },
);

it.each([
  'account show ID',
  'account credit ID --amount 1 --reason r',
  'account rate ID 1200',
  'account senders ID own',
  'account suspend ID --reason r',
  'account resume ID',
  'account countries ID --allow BR',
  'account premium-rate ID off',
  'account ceiling ID --day 1',
  'account breaker ID --off',
  'account breaker ID --reset',
  'account breaker ID --unverified-percent 90',
  'account forgive ID --to +5511987654321',
  'application create --account ID --name Shop --mode test',
  'application list --account ID',
  'application show ID',
  'application limits ID --per-minute off',
  'application set ID identity_check off',
  'application trust ID --to +5511987654321',
  'key create --application ID',
  'key list --application ID',
  'key revoke ID',
  'hold set account ID --reason r',
  'account delete ID --reason r',
  'recipient export --to +5511987654321 --account ID',
  'recipient erase --to +5511987654321 --account ID --reason r',
  'request list --account ID',
  'send show ID',
  'sender show ID',
  'sender pause ID',
  'sender resume ID',
  'sender throughput ID 80',
  'sender token ID --token EAAG',
])('onecode %s reports an unknown id', async (typed) => {
  const [group] = typed.split(' ');
  const noun = /(?:--|hold set )(account|application)/.exec(typed)?.[1] ?? group;
  await expectFault(`there is no ${noun} with this id`, typed.replace('ID', UNKNOWN_ID));
});
