import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { readSettings } from '@onecode/store/accounts';
import { buildAccount, buildCaller, buildSend, refuseRequests } from '@onecode/testing';
import { expectFault, ID, onecode, TIME, useCommandLine } from './onecode.js';

const commandLine = useCommandLine();
const { store, json, jsonWith, text } = commandLine;
const ACTOR = { actor_kind: 'command_line', actor: userInfo().username };

describe('settings', () => {
  const DEFAULTS = {
    free_sends: 10,
    code_validity_seconds: 600,
    account_rate_per_minute: 600,
    guess_budget: 100,
    trial_sends_per_day: 500,
    trial_account_sends_per_day: 20,
    sign_ups_per_network_day: 20,
    sign_ups_per_domain_day: 100,
    staff_two_factor: 'optional',
    retain_numbers_days: 90,
    retain_sends_days: null,
  };
  afterEach(() =>
    store.sql(
      `update settings set free_sends = 10, code_validity_seconds = 600, account_rate_per_minute = 600, guess_budget = 100,
         trial_sends_per_day = 500, trial_account_sends_per_day = 20, sign_ups_per_network_day = 20, sign_ups_per_domain_day = 100, staff_two_factor = 'optional',
         retain_numbers_days = 90, retain_sends_days = null`,
    ),
  );

  it("get prints the specification's defaults", async () => {
    expect(await json('settings get')).toEqual(DEFAULTS);
  });

  it.each([
    ['free_sends', 0, 'freeSends'],
    ['code_validity_seconds', 1, 'codeValiditySeconds'],
    ['account_rate_per_minute', 1, 'accountRatePerMinute'],
    ['guess_budget', 5, 'guessBudget'],
    ['trial_sends_per_day', 0, 'trialSendsPerDay'],
    ['trial_account_sends_per_day', 0, 'trialAccountSendsPerDay'],
    ['sign_ups_per_network_day', 1, 'signUpsPerNetworkDay'],
    ['sign_ups_per_domain_day', 1_000_000, 'signUpsPerDomainDay'],
    ['staff_two_factor', 'required', 'staffTwoFactor'],
    ['retain_numbers_days', 1, 'retainNumbersDays'],
    ['retain_sends_days', 30, 'retainSendsDays'],
  ] as const)('set changes only %s, to %s', async (name, value, stored) => {
    const before = await readSettings(store.database);
    expect(await json(`settings set ${name} ${value}`)).toEqual({ ...DEFAULTS, [name]: value });
    expect(await readSettings(store.database)).toEqual({ ...before, [stored]: value });
  });

  it.each([
    ['guess_budget', 100],
    ['retain_numbers_days', 90],
    ['retain_sends_days', 365],
  ])('set turns %s off and on', async (name, value) => {
    expect(await json(`settings set ${name} off`)).toEqual({ ...DEFAULTS, [name]: null });
    expect(await text('settings get')).toMatch(new RegExp(`^${name} +off$`, 'm'));
    expect(await json(`settings set ${name} on`)).toEqual({ ...DEFAULTS, [name]: value });
  });

  it('set refuses to keep sends for less than 30 days', async () => {
    const tooShort = ['settings', 'set', 'retain_sends_days', '29'];
    expectFault(await onecode(tooShort, commandLine.env), 2, 'from 30 to 3650');
  });

  it('set code_validity_seconds reminds of the expiry in templates, in text only', async () => {
    const printed = await text('settings set code_validity_seconds 300');
    expect(printed).toMatch(/^code_validity_seconds +300$/m);
    expect(printed).toMatch(/template: it must match 300 seconds\.\n$/);
  });
});

it('audit list prints changes by the command line, newest first, optionally of one account', async () => {
  const id = await buildAccount(store.database);
  await json(`account credit ${id} --amount 5 --reason`, 'invoice 42');
  await json('settings set free_sends 25');
  const setting = {
    ...ACTOR,
    id: expect.stringMatching(/^\d+$/) as string,
    at: TIME,
    actor_id: null,
    action: 'settings.change',
    account_id: null,
    subject: null,
    details: { before: { freeSends: 10 }, after: { freeSends: 25 } },
  };
  const credit = {
    action: 'account.credit',
    account_id: id,
    details: { amount: 5, reason: 'invoice 42', before: { credits: 0 }, after: { credits: 5 } },
  };
  const [newest, ...rest] = await json<object[]>('audit list --limit 2');
  expect(newest).toEqual(setting);
  expect(rest).toMatchObject([credit]);
  expect(await json(`audit list --account ${id} --limit 1`)).toMatchObject([credit]);
  expect(await text('audit list --limit 2')).toContain(
    '{"after":{"freeSends":25},"before":{"freeSends":10}}',
  );
});

it('cost list counts messages by day and price for the requested days', async () => {
  await store.sql(
    `insert into message_costs select (now() at time zone 'UTC')::date - n, 'BR', 'authentication', 'regular', true, 'PMP', 11, 4, 7
     from unnest(array[0, 40]) n`,
  );
  expect(await json('cost list')).toEqual([
    {
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      country: 'BR',
      category: 'authentication',
      type: 'regular',
      billable: true,
      pricing_model: 'PMP',
      account_id: null,
      messages: 11,
      free_sends: 4,
      credits: 7,
    },
  ]);
  expect(await json('cost list --days 60')).toHaveLength(2);
});

it('cost months sums messages in money with the price of each month', async () => {
  const month = new Date().toISOString().slice(0, 7);
  await store.sql('delete from message_costs');
  await store.sql(
    `insert into message_costs select day, country, 'authentication', 'regular', country <> 'US', 'PMP', n, 4, 7
     from (values ('2026-01-01'::date, 'BR', 1000), (now() at time zone 'UTC', 'BR', 10), (now() at time zone 'UTC', 'PT', 3),
       (now() at time zone 'UTC', 'US', 2)) v (day, country, n)`,
  );
  await json('cost price BR 0.5 --currency USD --since 2025-12');
  expect(await json(`cost price BR 0.25 --currency EUR`)).toEqual([
    { country: 'BR', since: month, price: 0.25, currency: 'EUR' },
    { country: 'BR', since: '2025-12', price: 0.5, currency: 'EUR' },
  ]);
  const of = (month: string, country: string, charged: number, price: number | null, amount: number | null) =>
    expect.objectContaining({ month, country, charged, price, amount, currency: 'EUR' }) as unknown;
  expect(await json('cost months --months 120')).toEqual([
    of(month, 'PT', 3, null, null),
    of(month, 'BR', 10, 0.25, 2.5),
    of(month, 'US', 0, null, 0),
    of('2026-01', 'BR', 1000, 0.5, 500),
  ]);
  await json(`cost price BR off --currency EUR`);
  expect(await json('cost months --months 1')).toContainEqual(of(month, 'BR', 10, 0.5, 5));
});

it('request list shows only an account’s refused requests, finds a request by its id, and counts all in its text output', async () => {
  const caller = await buildCaller(store.database, 'live');
  const other = await buildCaller(store.database, 'live');
  const ids = [randomUUID(), randomUUID()] as const;
  for (const [index, of] of [caller, other].entries())
    await refuseRequests(store.database, of, 'invalid_recipient', [
      { requestId: ids[index]!, fields: ['to'], ageMs: 1 },
      { count: 29 },
    ]);
  const list = `request list --account ${caller.accountId}`;
  const listed = await json<object[]>(list);
  expect(listed).toHaveLength(2);
  expect(listed.at(-1)).toMatchObject({
    at: TIME,
    request_id: ids[0],
    code: 'invalid_recipient',
    fields: ['to'],
    count: 1,
    application_id: caller.applicationId,
    key: expect.stringMatching(/^ak_live_/) as string,
  });
  expect(await json(`${list} --application ${other.applicationId}`)).toEqual([]);
  expect(await json(`${list} --id ${ids[0]}`)).toMatchObject([{ request_id: ids[0] }]);
  expect(await json(`${list} --id ${ids[1]}`)).toEqual([]);
  const printed = await text(list);
  expect(printed).toMatch(/^at +request id +route +status +code/);
  const reasons = '29 × invalid_recipient: A sentence.\n1 × invalid_recipient';
  expect(printed).toContain(`\nRefused in 14 days:\n${reasons}`);
});

describe('send show', () => {
  it('prints the timeline of a send without its recipient, and is recorded in the audit log', async () => {
    const recipient = '+5511987654321';
    const caller = await buildCaller(store.database, 'live');
    const requestId = '7d3a5c1e-2b4f-4a6d-8e90-1c2b3a4d5e6f';
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const id = await buildSend(store.database, caller, { recipient, requestId, traceparent });
    expect(await json(`send show ${id}`)).toMatchObject({
      id,
      account_id: caller.accountId,
      application_id: caller.applicationId,
      mode: 'live',
      status: 'queued',
      verification: 'pending',
      guesses_left: 5,
      phase: 'ready',
      created_at: TIME,
      expires_at: TIME,
      attempts: [],
      receipts: [],
      units: [{ kind: 'reserved', bucket: 'free_quota', at: TIME }],
      request_id: requestId,
      traceparent,
      waits_for: 'worker',
      holds: [],
      refunded_at: null,
      wrong_guesses: [],
      denied_at: null,
      timeline: [{ at: TIME, event: 'created', charged_from: 'free_quota' }],
    });
    const printed = await text(`send show ${id}`);
    expect(printed).toMatch(/\n\n\S+Z created free_quota\n$/);
    expect(printed).not.toContain(recipient.slice(-6));
    const read = { ...ACTOR, action: 'send.read', subject: id };
    expect(await json(`audit list --account ${caller.accountId} --limit 2`)).toMatchObject([read, read]);
  });

  it('prints only the known details of an event', async () => {
    const id = await buildSend(store.database, await buildCaller(store.database, 'live'));
    await store.sql(
      `insert into attempts (send_id, number, outcome, message_id, started_at, finished_at, reported_at, reported_code)
       values ($1, 1, 'recipient', 'wamid.1', now(), now(), now(), 131026)`,
      [id],
    );
    expect(await text(`send show ${id}`)).toMatch(
      /Z receipt failed .*131026 recipient WhatsApp could not deliver to this number: .* Ask the person to check the number/m,
    );
  });

  it('names only the holds that hold a send', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    await json('hold set country AR --reason elsewhere');
    await json(`hold set account ${caller.accountId} --reason`, 'under review');
    expect(await json(`send show ${id}`)).toMatchObject({
      waits_for: 'release',
      waits_until: TIME,
      holds: [{ since: TIME, kind: 'account', target: caller.accountId, reason: 'under review' }],
    });
    await json('hold release country AR');
    await json(`hold release account ${caller.accountId}`);
  });
});

describe('user', () => {
  const create = (email: string): string => `user create --name Ana --email ${email}`;
  const passwordOf = async (email: string): Promise<unknown> => {
    const [row] = await store.sql(
      'select c.password from user_credentials c join users u on u.id = c.user_id where u.email = $1',
      [email],
    );
    return row?.['password'];
  };
  const logOf = (subject: string) =>
    store.sql('select actor_kind, action, details from audit_entries where subject = $1 order by id', [
      subject,
    ]);

  it('create prints a generated password once and stores its hash', async () => {
    const made = await json<{ id: string }>(`${create('Ana@Example.com')} --staff operator`);
    expect(made).toEqual({
      id: ID,
      email: 'ana@example.com',
      name: 'Ana',
      staff: 'operator',
      account_id: null,
      role: null,
      password: expect.stringMatching(/^[\w-]{22}$/) as string,
    });
    expect(await passwordOf('ana@example.com')).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/);
    const after = { name: 'Ana', email: 'ana@example.com', language: 'pt-BR', staff: 'operator', role: null };
    expect(await logOf(made.id)).toEqual([
      { actor_kind: 'command_line', action: 'user.create', details: { after } },
    ]);
  });

  it('create adds a user to an account with the password from standard input, which is not printed', async () => {
    const account = await buildAccount(store.database);
    const rest = `--account ${account} --role developer --password -`;
    const made = await jsonWith('seven purple kettles\n', `${create('bia@example.com')} ${rest}`);
    expect(made).toMatchObject({ account_id: account, role: 'developer', staff: 'none', password: null });
    expect(await store.sql('select role from members where user_id = $1', [made['id']])).toEqual([
      { role: 'developer' },
    ]);
  });

  it('create refuses a taken address, an unknown account and a weak password', async () => {
    await json(create('carla@example.com'));
    await commandLine.expectFault(
      'a user with this email address already exists',
      create('carla@example.com'),
    );
    const elsewhere = `${create('dora@example.com')} --account ${randomUUID()} --role admin`;
    await commandLine.expectFault('there is no account with this id', elsewhere);
    const weak = `${create('dora@example.com')} --password -`.split(' ');
    for (const [password, line] of [
      ['short\n', 'the password must have 12 characters or more'],
      ['password1234\n', 'the password is common'],
      ['violet-otter-42-gate\n\n', '--password on standard input must be one line'],
    ] as const)
      expectFault(await onecode(weak, commandLine.env, password), 2, line);
    expect(await passwordOf('dora@example.com')).toBeUndefined();
  });

  /** Creates a user with a session, a second factor and no sign-in attempts left. */
  async function lockedOut(email: string): Promise<string> {
    const { id } = await json<{ id: string }>(create(email));
    await store.sql(
      `insert into user_sessions (id, user_id, token, expires_at, updated_at)
       values (gen_random_uuid(), $1::uuid, $1::uuid::text, now() + interval '1 day', now())`,
      [id],
    );
    await store.sql(
      `insert into user_two_factors (id, user_id, secret, backup_codes)
       values (gen_random_uuid(), $1, 'encrypted', 'encrypted')`,
      [id],
    );
    await store.sql('update users set two_factor_enabled = true where id = $1', [id]);
    await store.sql(
      "insert into counted_tries (key_hash, tries, ends_at) values (sha256($1::bytea), 10, now() + interval '1 minute')",
      [Buffer.from(email)],
    );
    return id;
  }
  const sessionsOf = (id: string) => store.sql('select from user_sessions where user_id = $1', [id]);

  it('password sets a new password, ends the sessions and allows new sign-in attempts', async () => {
    const email = 'eva@example.com';
    const id = await lockedOut(email);
    const before = await passwordOf(email);
    const password = expect.stringMatching(/^[\w-]{22}$/) as string;
    expect(await json(`user password ${email}`)).toEqual({ email, password });
    expect(await passwordOf(email)).not.toBe(before);
    expect(await sessionsOf(id)).toEqual([]);
    const tries = 'select from counted_tries where key_hash = sha256($1::bytea)';
    expect(await store.sql(tries, [Buffer.from(email)])).toEqual([]);
    expect((await logOf(id)).at(-1)).toMatchObject({ action: 'user.password', details: {} });
  });

  it('remove-two-factor removes the second factor, the passkeys, the sessions and the identity provider’s login', async () => {
    const email = 'fabi@example.com';
    const id = await lockedOut(email);
    await store.sql(
      `insert into user_passkeys (id, user_id, credential_id, public_key, counter, device_type, backed_up)
       values (gen_random_uuid(), $1, 'lost', 'key', 0, 'singleDevice', false)`,
      [id],
    );
    await store.sql(
      `insert into user_credentials (id, user_id, account_id, provider_id, updated_at)
       values (gen_random_uuid(), $1, 'x', 'oidc', now())`,
      [id],
    );
    expect(await json(`user remove-two-factor ${email}`)).toEqual({ email, two_factor: 'off' });
    for (const table of ['user_two_factors', 'user_passkeys'])
      expect(await store.sql(`select from ${table} where user_id = $1`, [id])).toEqual([]);
    const ways = 'select provider_id from user_credentials where user_id = $1';
    expect(await store.sql(ways, [id])).toEqual([{ provider_id: 'credential' }]);
    expect(await sessionsOf(id)).toEqual([]);
    expect((await logOf(id)).at(-1)).toMatchObject({ action: 'user.two_factor_removed' });
  });

  it('staff sets and removes a staff role, which list and show print', async () => {
    const email = 'gabi@example.com';
    const { id } = await json<{ id: string }>(`${create(email)} --language browser`);
    const row = {
      id,
      email,
      name: 'Ana',
      language: 'browser',
      staff: 'on-call',
      confirmed: true,
      two_factor: 'off',
      created_at: TIME,
    };
    const password = expect.stringMatching(/^[\w-]{22}$/) as string;
    expect(await json(`user staff ${email} on-call`)).toEqual({ ...row, password });
    expect(await json(`user staff ${email} on-call`)).toEqual({ ...row, password: null });
    expect(await json('user list')).toContainEqual(row);
    expect(await json(`user show ${email}`)).toEqual(row);
    expect(await json(`user staff ${email} none`)).toMatchObject({ staff: 'none', password: null });
    expect((await logOf(id)).map(({ action }) => action)).toEqual([
      'user.create',
      'user.staff',
      'user.password',
      'user.staff',
    ]);
  });

  it('staff accepts an unconfirmed address only with --unconfirmed', async () => {
    const email = 'hugo@example.com';
    const { id } = await json<{ id: string }>(create(email));
    const before = await passwordOf(email);
    await store.sql('update users set email_verified = false where id = $1', [id]);
    expect(await json(`user show ${email}`)).toMatchObject({ confirmed: false });
    for (const role of ['operator', 'on-call'])
      await commandLine.expectFault(
        /the address is unconfirmed.*: "Ana" signed up with it on \d{4}-\d\d-\d\dT[\d:.]+Z; .* --unconfirmed\n$/,
        `user staff ${email} ${role}`,
      );
    expect(await passwordOf(email)).toBe(before);
    expect(await json(`user show ${email}`)).toMatchObject({ staff: 'none' });
    expect(await json(`user staff ${email} operator --unconfirmed`)).toMatchObject({
      staff: 'operator',
      confirmed: true,
      password: expect.stringMatching(/^[\w-]{22}$/) as string,
    });
    expect(await passwordOf(email)).not.toBe(before);
  });

  it('staff takes the password from standard input only for a role with more rights', async () => {
    const email = 'iris@example.com';
    await json(create(email));
    const typed = `user staff ${email} operator --password -`;
    const weak = await onecode(typed.split(' '), commandLine.env, 'short\n');
    expectFault(weak, 2, 'the password must have 12 characters or more');
    const made = await jsonWith('seven purple kettles\n', typed);
    expect(made).toMatchObject({ staff: 'operator', password: null });
    const before = await passwordOf(email);
    for (const role of ['operator', 'on-call', 'none']) {
      const again = ['user', 'staff', email, role, '--password', '-'];
      const ended = await onecode(again, commandLine.env, 'eight purple kettles\n');
      expectFault(ended, 1, 'the role adds no rights');
    }
    expect(await passwordOf(email)).toBe(before);
    expect(await json(`user show ${email}`)).toMatchObject({ staff: 'operator' });
  });

  it.each([
    'password unknown@example.com',
    'remove-two-factor unknown@example.com',
    'show unknown@example.com',
    'staff unknown@example.com operator',
  ])('%s reports an unknown address', async (typed) => {
    await commandLine.expectFault('there is no user with this email address', `user ${typed}`);
  });
});
