const user = (columns: string, values: string): string =>
  `insert into users (id, ${columns}) values (gen_random_uuid(), ${values})`;
/** A row for somebody who is made for it, so that only the row itself can be wrong. */
const ofSomebody = (table: string, columns: string, values: string): string =>
  `with somebody as (insert into users (id, name, email) values (gen_random_uuid(), 'n', gen_random_uuid()::text) returning id)
   insert into ${table} (${columns}) select ${values} from somebody`;
const member = (role: string): string =>
  ofSomebody('members', 'account_id, user_id, role', `:account, id, ${role}`);
const invitation = (rows: readonly [email: string, role: string, tokenHash: string][]): string =>
  `insert into invitations (id, account_id, email, role, token_hash, expires_at) values ${rows
    .map(([email, role, hash]) => `(gen_random_uuid(), :account, ${email}, ${role}, ${hash}, now())`)
    .join(', ')}`;
const digest = (letter: string): string => `repeat('${letter}', 32)::bytea`;
const session = `insert into user_sessions (id, user_id, token, expires_at, updated_at)`;

/** `INVALID_ROWS` of the console's people, and of what workers note. */
export const INVALID_USER_ROWS: [constraint: string, what: string, statement: string][] = [
  ['users_name_check', 'a person without a name', user('name, email', `'', 'a@example.com'`)],
  ['users_name_check', 'an endless name', user('name, email', `repeat('n', 201), 'a@example.com'`)],
  ['users_email_check', 'an address with capitals', user('name, email', `'n', 'A@example.com'`)],
  [
    'users_language_check',
    'an unknown language',
    user('name, email, language', `'n', 'a@example.com', 'fr'`),
  ],
  ['users_staff_check', 'an unknown role', user('name, email, staff', `'n', 'a@example.com', 'admin'`)],
  [
    'users_email_key',
    'two people with one address',
    `${user('name, email', `'n', 'a@example.com'`)}, (gen_random_uuid(), 'm', 'a@example.com')`,
  ],
  [
    'user_sessions_token_key',
    'two sessions with one token',
    `with somebody as (${user('name, email', `'n', 'a@example.com'`)} returning id)
     ${session} select gen_random_uuid(), id, 'token', now(), now() from somebody, generate_series(1, 2)`,
  ],
  [
    'sign_in_limits_key_key',
    'two counts for one key',
    `insert into sign_in_limits (id, key, count, last_request)
     select gen_random_uuid(), 'key', 1, 1 from generate_series(1, 2)`,
  ],
  [
    'counted_tries_tries_check',
    'fewer than no tries',
    `insert into counted_tries values (${digest('h')}, -1)`,
  ],
  [
    'counted_tries_window_seconds_check',
    'tries within less than the time that the index finds',
    `insert into counted_tries (key_hash, tries, window_seconds) values (${digest('h')}, 1, 60)`,
  ],
  [
    'counted_tries_key_hash_check',
    'tries for an address itself',
    `insert into counted_tries values ('a@example.com', 1)`,
  ],
  [
    'used_two_factor_codes_code_hash_check',
    'a code itself',
    ofSomebody('used_two_factor_codes', 'user_id, code_hash', `id, '123456'::bytea`),
  ],
  ['members_role_check', 'a member of no known role', member(`'owner'`)],
  [
    'invitations_email_check',
    'an invited address with capitals',
    invitation([[`'A@example.com'`, `'viewer'`, digest('t')]]),
  ],
  [
    'invitations_role_check',
    'an invitation to no known role',
    invitation([[`'a@example.com'`, `'owner'`, digest('t')]]),
  ],
  [
    'invitations_token_hash_check',
    'a token itself',
    invitation([[`'a@example.com'`, `'viewer'`, `'token'`]]),
  ],
  [
    'invitations_token_hash_key',
    'two invitations with one token',
    invitation([
      [`'a@example.com'`, `'viewer'`, digest('t')],
      [`'b@example.com'`, `'viewer'`, digest('t')],
    ]),
  ],
  [
    'invitations_account_id_email_key',
    'two invitations of one address',
    invitation([
      [`'a@example.com'`, `'viewer'`, digest('t')],
      [`'a@example.com'`, `'viewer'`, digest('u')],
    ]),
  ],
  [
    'heartbeats_loop_check',
    'a loop of no known name',
    `insert into heartbeats values ('dance', gen_random_uuid())`,
  ],
  [
    'processes_kind_check',
    'a process of no known kind',
    `insert into processes values (gen_random_uuid(), 'dance', '1.1.0', '')`,
  ],
];

/** The right rows that these were made from. */
export const VALID_USER_ROWS: readonly string[] = [
  user('name, email, language, staff', `repeat('n', 200), 'right@example.com', 'en', 'on_call'`),
  member(`'viewer'`),
  invitation([[`'right@example.com'`, `'admin'`, digest('r')]]),
  `insert into counted_tries values (${digest('r')}, 0)`,
  ofSomebody('used_two_factor_codes', 'user_id, code_hash', `id, ${digest('r')}`),
  `insert into heartbeats values ('sweep', gen_random_uuid())`,
  `insert into traffic_counts values (now(), 'accepted', 'BR', '', '', 1)`,
  `insert into refused_requests values (gen_random_uuid(), :account, :application, gen_random_uuid(), now(), '', 422, '', '', '{}', null, 1)`,
  `insert into health_readings values (true, now(), '{}')`,
  `insert into processes values (gen_random_uuid(), 'api', '1.1.0', '')`,
];
