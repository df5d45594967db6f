import { newId } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  createTestDatabase,
  type TestDatabase,
} from '@onecode/store/testing';

let store: TestDatabase;
/** Values that the wrong rows below refer to by name. */
const known: Record<string, string> = {};

beforeAll(async () => {
  store = await createTestDatabase();
  const live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  const test = await buildCaller(store.database, 'test', { id: live.accountId });
  const other = await buildCaller(store.database, 'live');
  const sender = await buildSender(store.database);
  const make = () => buildSend(store.database, live);
  Object.assign(known, {
    account: live.accountId,
    application: live.applicationId,
    otherAccount: other.accountId,
    sender: sender.id,
    queued: await make(),
    keyed: await buildSend(store.database, live, { idempotencyKey: 'taken' }),
    sending: await make(),
    sent: await make(),
    failed: await make(),
    testQueued: await buildSend(store.database, test),
    attempt: newId(),
    nothing: newId(),
    hash: `'\\x${'ab'.repeat(32)}'`,
  });
  const routed = `channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender`;
  for (const statement of [
    `update sends set status = 'sending', ${routed} where id = :sending`,
    `update sends set status = 'sent', ${routed}, code_box = null, due_at = null, ring_at = null, sent_at = now()
       where id = :sent`,
    `update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', code_box = null,
       due_at = null, ring_at = null where id = :failed`,
    `insert into attempts (id, send_id) values (:attempt, :sent)`,
    `insert into ledger_entries (account_id, send_id, kind, bucket, units)
       values (:account, :failed, 'returned', 'free_quota', 1)`,
    `insert into sender_country_blocks (sender_id, country, blocked_until) values (:sender, 'BR', now())`,
    `insert into receipts (message_id, status, occurred_at) values ('wamid.taken', 'sent', now())`,
  ])
    await store.sql(bound(statement));
});
afterAll(() => store.drop());

const isUuid = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text);
/** Puts the known values into a statement: `:sent` is the id of the send that was accepted. */
function bound(statement: string): string {
  return statement.replace(/(?<!:):([a-zA-Z]+)/g, (_, name: string) => {
    const value = known[name] as string;
    return isUuid(value) ? `'${value}'` : value;
  });
}

/** The constraint by which PostgreSQL refuses a statement, or null when it does not. */
async function refusedBy(statement: string): Promise<string | null> {
  try {
    await store.sql(bound(statement));
    return null;
  } catch (error) {
    return (error as { constraint?: string }).constraint ?? String(error);
  }
}

const account = (columns: string, values: string) =>
  `insert into accounts (id, ${columns}) values (gen_random_uuid(), ${values})`;
const application = (columns: string, values: string) =>
  `insert into applications (id, account_id, ${columns}) values (gen_random_uuid(), :account, ${values})`;
const sender = (change: string) => `update senders set ${change} where id = :sender`;
const send = (which: string, change: string) => `update sends set ${change} where id = :${which}`;
const attempt = (columns: string, values: string) =>
  `insert into attempts (id, ${columns}) values (gen_random_uuid(), ${values})`;
const entry = (kind: string, bucket: string, units: number, of = ':sent') =>
  `insert into ledger_entries (account_id, send_id, kind, bucket, units)
     values (:account, ${of}, '${kind}', '${bucket}', ${units})`;
const receipt = (columns: string, values: string) =>
  `insert into receipts (occurred_at, ${columns}) values (now(), ${values})`;
const routed = `channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender`;
const undue = 'due_at = null, ring_at = null';
const happened = 'sent_at = now(), delivered_at = now(), read_at = now()';
const copied = (columns: string, values: string) =>
  `insert into sends (id, account_id, application_id, mode, account_number, application_number, recipient, locale, unit,
     code_hash, code_box, due_at, ring_at, created_at, expires_at, ${columns})
   select gen_random_uuid(), account_id, application_id, mode, account_number + 1000, application_number + 1000, recipient,
     locale, unit, code_hash, code_box, due_at, ring_at, created_at, expires_at, ${values} from sends where id = :queued`;

/** Each wrong row with the constraint that must refuse it. */
const WRONG: [constraint: string, what: string, statement: string][] = [
  ['settings_id_check', 'a second row of settings', `insert into settings (id) values (false)`],
  ['settings_free_sends_check', 'fewer than no free sends', `update settings set free_sends = -1`],
  ['settings_free_sends_check', 'too many free sends', `update settings set free_sends = 1000001`],
  ['settings_code_validity_seconds_check', 'no validity', `update settings set code_validity_seconds = 0`],
  [
    'settings_code_validity_seconds_check',
    'a validity above the provider’s limit',
    `update settings set code_validity_seconds = 5401`,
  ],
  ['settings_account_rate_per_minute_check', 'no rate', `update settings set account_rate_per_minute = 0`],
  [
    'settings_account_rate_per_minute_check',
    'an endless rate',
    `update settings set account_rate_per_minute = 1000001`,
  ],

  ['accounts_name_check', 'an account without a name', account('name, language, free_quota', `'', 'en', 0`)],
  [
    'accounts_name_check',
    'an account with an endless name',
    account('name, language, free_quota', `repeat('n', 201), 'en', 0`),
  ],
  [
    'accounts_language_check',
    'an unknown language',
    account('name, language, free_quota', `'n', 'pt_BR', 0`),
  ],
  [
    'accounts_free_quota_check',
    'a negative free quota',
    `update accounts set free_quota = -1 where id = :account`,
  ],
  ['accounts_credits_check', 'negative credits', `update accounts set credits = -1 where id = :account`],
  [
    'accounts_rate_per_minute_check',
    'an account’s rate of 0',
    `update accounts set rate_per_minute = 0 where id = :account`,
  ],

  ['applications_name_check', 'an application without a name', application('name, mode', `'', 'test'`)],
  ['applications_mode_check', 'an unknown mode', application('name, mode', `'n', 'demo'`)],
  [
    'applications_per_minute_check',
    'an application’s rate of 0',
    application('name, mode, per_minute', `'n', 'test', 0`),
  ],
  [
    'applications_per_recipient_hour_check',
    'a recipient’s rate of 0',
    application('name, mode, per_recipient_hour', `'n', 'test', 0`),
  ],
  [
    'applications_account_id_fkey',
    'an application of no account',
    `insert into applications (id, account_id, name, mode) values (gen_random_uuid(), :nothing, 'n', 'test')`,
  ],

  [
    'api_keys_hash_check',
    'a key that is not hashed with SHA-256',
    `insert into api_keys (id, application_id, hash, hint) values (gen_random_uuid(), :application, 'ak_live_x', 'h')`,
  ],
  [
    'api_keys_hash_key',
    'a key twice',
    `insert into api_keys (id, application_id, hash, hint)
       select gen_random_uuid(), :application, :hash::bytea, 'h' from generate_series(1, 2)`,
  ],

  ['senders_phone_number_id_check', 'a phone number id with letters', sender(`phone_number_id = '1a'`)],
  ['senders_number_check', 'a sender’s number without plus', sender(`number = '15550783881'`)],
  ['senders_template_check', 'a template with capitals', sender(`template = 'Code'`)],
  ['senders_template_check', 'a template name that is too long', sender(`template = repeat('a', 513)`)],
  ['senders_english_check', 'an unknown English', sender(`english = 'en_GB'`)],
  ['senders_faults_check', 'fewer than no faults', sender('faults = -1')],
  ['senders_check', 'a pause without a reason', sender('paused_at = now()')],
  ['senders_check1', 'the end of a pause without its beginning', sender('paused_until = now()')],
  [
    'senders_phone_number_id_key',
    'a phone number id twice',
    `insert into senders (id, phone_number_id, number, token_box, template, english)
       select gen_random_uuid(), phone_number_id, number, token_box, template, english from senders`,
  ],
  [
    'sender_country_blocks_country_check',
    'a country in small letters',
    `update sender_country_blocks set country = 'br'`,
  ],
  [
    'sender_country_blocks_pkey',
    'a country blocked twice',
    `insert into sender_country_blocks (sender_id, country, blocked_until) values (:sender, 'BR', now())`,
  ],

  ['sends_status_check', 'an unknown status', send('sent', `status = 'lost'`)],
  ['sends_verification_check', 'a stored expiry', send('sent', `verification = 'expired'`)],
  ['sends_wrong_guesses_check', 'a sixth guess', send('sent', `wrong_guesses = 6, verification = 'pending'`)],
  ['sends_wrong_guesses_check', 'fewer than no guesses', send('sent', 'wrong_guesses = -1')],
  ['sends_attempts_check', 'fewer than no attempts', send('sent', 'attempts = -1')],
  ['sends_idempotency_key_check', 'an empty idempotency key', send('keyed', `idempotency_key = ''`)],
  [
    'sends_idempotency_key_check',
    'an idempotency key of 256 bytes',
    send('keyed', `idempotency_key = repeat('k', 256)::bytea`),
  ],
  ['sends_body_hash_check', 'a body’s hash of another length', send('keyed', `body_hash = 'short'`)],
  ['idempotency_key_with_body', 'a key without a body', send('keyed', 'body_hash = null')],
  ['idempotency_key_with_body', 'a body without a key', send('queued', `body_hash = :hash`)],
  ['sends_recipient_check', 'a recipient without plus', send('sent', `recipient = '5511987654321'`)],
  ['sends_recipient_check', 'a recipient of 16 digits', send('sent', `recipient = '+1234567890123456'`)],
  ['sends_recipient_check', 'an e-mail recipient', send('sent', `recipient = 'ana@example.com'`)],
  ['sends_country_check', 'a country that is not one', send('sent', `country = '001'`)],
  ['sends_locale_check', 'an unknown locale', send('sent', `locale = 'pt'`)],
  ['sends_unit_check', 'an unknown unit', send('sent', `unit = 'gift'`)],
  ['live_takes_a_unit', 'a live send without a unit', send('sent', 'unit = null')],
  ['live_takes_a_unit', 'a test send with a unit', send('testQueued', `unit = 'credit'`)],
  ['sends_code_hash_check', 'a code that is not hashed', send('sent', `code_hash = '042913'`)],
  ['test_has_no_box', 'a test send with a sealed code', send('testQueued', `code_box = 'x'`)],
  ['box_only_while_needed', 'a sealed code kept after sending', send('sent', `code_box = 'x'`)],
  ['box_only_while_needed', 'a sealed code kept after failing', send('failed', `code_box = 'x'`)],
  ['box_while_needed', 'a code erased before sending', send('queued', 'code_box = null')],
  ['channel_fits_mode', 'an unknown channel', send('sent', `channel = 'sms'`)],
  ['channel_fits_mode', 'a live send in the sandbox', send('sent', `channel = 'sandbox'`)],
  ['channel_fits_mode', 'a test send over WhatsApp', send('testQueued', routed)],
  [
    'channel_once_routed',
    'sending without a channel',
    send('sending', 'channel = null, from_number = null, sender_id = null'),
  ],
  ['channel_once_routed', 'a channel while queued', send('queued', routed)],
  ['state_says_when', 'sent, but at no time', send('sent', 'sent_at = null')],
  ['state_says_when', 'delivered, but at no time', send('sent', `status = 'delivered'`)],
  ['state_says_when', 'read, but at no time', send('sent', `status = 'read'`)],
  [
    'state_says_when',
    'a test send that is read without having been sent',
    send('testQueued', `status = 'read', channel = 'sandbox', read_at = now(), ${undue}`),
  ],
  ['times_in_order', 'sent before it was created', send('sent', `sent_at = created_at - interval '1 ms'`)],
  [
    'times_in_order',
    'delivered before it was sent',
    send('sent', `delivered_at = sent_at - interval '1 ms'`),
  ],
  [
    'times_in_order',
    'read before it was delivered',
    send('sent', `delivered_at = sent_at + interval '2 ms', read_at = sent_at + interval '1 ms'`),
  ],
  ['only_waiting_sends_await', 'sent, and waiting for a sender', send('sent', 'awaiting_sender = true')],
  ['sender_fits_channel', 'a number without a channel', send('queued', `from_number = '+15550783881'`)],
  ['sender_fits_channel', 'sending without a number', send('sending', 'from_number = null')],
  ['sender_fits_channel', 'sending without a sender', send('sending', 'sender_id = null')],
  [
    'sender_fits_channel',
    'a sender before routing',
    send('queued', `from_number = '+15550783881', sender_id = :sender`),
  ],
  [
    'test_is_queued_or_read',
    'a failed test send',
    send(
      'testQueued',
      `status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', ${undue}`,
    ),
  ],
  [
    'test_is_queued_or_read',
    'a test send that is only sent',
    send('testQueued', `status = 'sent', channel = 'sandbox', sent_at = now(), ${undue}`),
  ],
  ['failed_says_why', 'a failure without its time', send('failed', 'failed_at = null')],
  ['failed_says_why', 'a failure without its reason', send('failed', 'failure_reason = null')],
  ['failed_says_why', 'the time of a failure that was none', send('sent', 'failed_at = now()')],
  ['sends_failure_reason_check', 'an unknown reason', send('failed', `failure_reason = 'bad_luck'`)],
  ['verified_says_when', 'verified without a time', send('sent', `verification = 'verified'`)],
  ['verified_says_when', 'a time without verification', send('sent', 'verified_at = now()')],
  [
    'verified_in_time',
    'verified at the deadline',
    send('sent', `verification = 'verified', verified_at = expires_at`),
  ],
  ['locked_after_five', 'locked before the fifth guess', send('sent', `verification = 'locked'`)],
  ['locked_after_five', 'pending after the fifth guess', send('sent', 'wrong_guesses = 5')],
  ['waiting_is_rung', 'a queued send that nothing will look at', send('queued', undue)],
  ['waiting_is_rung', 'a sent send that is looked at', send('sent', 'due_at = now(), ring_at = now()')],
  ['due_is_rung', 'a due send that is never rung', send('queued', 'ring_at = null')],
  ['sends_check', 'a send that expires when it is made', send('sent', 'expires_at = created_at')],
  [
    'sends_application_id_account_id_mode_fkey',
    'a send in another mode than its application',
    `insert into sends (id, account_id, application_id, mode, account_number, application_number, recipient, locale,
       code_hash, due_at, ring_at, created_at, expires_at)
     select gen_random_uuid(), account_id, application_id, 'test', 900, 900, recipient, locale,
       code_hash, due_at, ring_at, created_at, expires_at from sends where id = :queued`,
  ],
  [
    'sends_application_id_account_id_mode_fkey',
    'a send of another account than its application’s',
    send('sent', 'account_id = :otherAccount, account_number = 999'),
  ],
  ['sends_sender_id_fkey', 'a sender that is none', send('sent', 'sender_id = :nothing')],
  [
    'sends_idempotency_key',
    'an idempotency key used twice',
    copied('idempotency_key, body_hash', `'taken'::bytea, :hash::bytea`),
  ],
  [
    'sends_account_number',
    'two sends of an account with one number',
    send('sent', 'account_number = (select account_number from sends where id = :queued)'),
  ],
  [
    'sends_application_number',
    'two sends of an application with one number',
    send('sent', 'application_number = (select application_number from sends where id = :queued)'),
  ],

  [
    'attempts_outcome_check',
    'an unknown outcome of an attempt',
    attempt('send_id, outcome, finished_at', `:sent, 'lost', now()`),
  ],
  ['attempts_check', 'an outcome without an end', attempt('send_id, outcome', `:sent, 'retry'`)],
  ['attempts_check', 'an end without an outcome', attempt('send_id, finished_at', `:sent, now()`)],
  ['attempts_send_id_fkey', 'an attempt of no send', attempt('send_id', ':nothing')],

  ['ledger_entries_kind_check', 'an unknown kind of entry', entry('lost', 'credit', 1)],
  ['ledger_entries_bucket_check', 'an unknown bucket', entry('reserved', 'gift', 1)],
  ['ledger_entries_units_check', 'an entry of nothing', entry('granted', 'credit', 0, 'null')],
  ['ledger_entries_units_check', 'a negative grant', entry('granted', 'credit', -5, 'null')],
  ['ledger_entries_check', 'a grant for a send', entry('granted', 'credit', 1)],
  ['ledger_entries_check', 'a reservation for no send', entry('reserved', 'credit', 1, 'null')],
  ['ledger_entries_check1', 'two units for one send', entry('returned', 'free_quota', 2)],
  ['ledger_entries_once', 'a second reservation', entry('reserved', 'credit', 1)],
  ['ledger_entries_once', 'a second refund', entry('returned', 'free_quota', 1, ':failed')],
  ['ledger_entries_once', 'a second refund to the other bucket', entry('returned', 'credit', 1, ':failed')],

  ['receipts_status_check', 'an unknown status', receipt('message_id, status', `'m', 'held'`)],
  [
    'receipts_result_check',
    'an unknown result',
    receipt('message_id, status, due_at, result', `'m', 'sent', null, 'lost'`),
  ],
  [
    'receipts_check',
    'a receipt that is done with without a result',
    receipt('message_id, status, due_at', `'m', 'sent', null`),
  ],
  [
    'receipts_check',
    'a receipt with a result that is still due',
    receipt('message_id, status, result', `'m', 'sent', 'applied'`),
  ],
  ['receipts_once', 'a report twice', receipt('message_id, status', `'wamid.taken', 'sent'`)],
];

describe('the database', () => {
  it.each(WRONG)('refuses by %s: %s', async (constraint, _, statement) => {
    expect(await refusedBy(statement)).toBe(constraint);
  });

  it('has no check and no unique index for which no wrong row stands above', async () => {
    const rows = await store.sql<{ name: string }>(
      `select conname as name from pg_constraint
         where connamespace = 'public'::regnamespace and contype = 'c' and conrelid <> 0
       union
       select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indisunique and not i.indisprimary and c.relnamespace = 'public'::regnamespace
`,
    );
    const implied = [
      // By the primary key; it is there for the foreign key of sends.
      'applications_id_account_id_mode_key',
    ];
    const covered = new Set([...WRONG.map(([constraint]) => constraint), ...implied]);
    expect(rows.map((row) => row.name).filter((name) => !covered.has(name))).toEqual([]);
  });

  it('accepts the right rows that the wrong ones were made from', async () => {
    for (const right of [
      `update settings set free_sends = 0, code_validity_seconds = 5400, account_rate_per_minute = 1000000`,
      account('name, language, free_quota', `repeat('n', 200), 'pt-BR', 0`),
      application('name, mode, per_minute, per_recipient_hour', `'n', 'test', 1, 1`),
      sender(`paused_at = now(), pause_reason = 'why', paused_until = now(), template = repeat('a', 512)`),
      send('keyed', `idempotency_key = repeat('k', 255)::bytea`),
      send('sent', `recipient = '+123456789012345'`),
      send('sent', `wrong_guesses = 5, verification = 'locked'`),
      send('testQueued', `status = 'read', channel = 'sandbox', ${happened}, ${undue}`),
      copied('country', `'BR'`),
      attempt('send_id, outcome, finished_at', `:sent, 'retry', now()`),
      entry('returned', 'free_quota', 1),
      receipt('message_id, status', `'wamid.taken', 'read'`),
    ])
      expect([right, await refusedBy(right)]).toEqual([right, null]);
  });
});
