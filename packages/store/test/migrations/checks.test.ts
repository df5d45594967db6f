import { newId } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';
import {
  account,
  application,
  attempt,
  budget,
  copied,
  entry,
  happened,
  inserted,
  own,
  receipt,
  routed,
  send,
  sender,
  trip,
  undue,
} from './rowStatements.js';
import { INVALID_ABUSE_CONTROL_ROWS } from './invalidAbuseControlRows.js';
import { INVALID_OPERATOR_ROWS } from './invalidOperatorRows.js';
import { VALID_USER_ROWS, INVALID_USER_ROWS } from './invalidUserRows.js';
import { INVALID_ROWS } from './invalidRows.js';

const ALL_INVALID_ROWS = [
  ...INVALID_ROWS,
  ...INVALID_ABUSE_CONTROL_ROWS,
  ...INVALID_OPERATOR_ROWS,
  ...INVALID_USER_ROWS,
];

const store = useTestDatabase();
/** Values that the invalid rows refer to by name. */
const known: Record<string, string> = {};

beforeAll(async () => {
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
  for (const statement of [
    `update sends set status = 'sending', ${routed} where id = :sending`,
    `update sends set status = 'sent', ${routed}, sealed_code = null, due_at = null, next_enqueue_at = null, sent_at = now()
       where id = :sent`,
    `update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', sealed_code = null,
       due_at = null, next_enqueue_at = null where id = :failed`,
    `insert into attempts (id, send_id) values (:attempt, :sent)`,
    `insert into ledger_entries (account_id, send_id, kind, bucket, units)
       values (:account, :failed, 'returned', 'free_quota', 1)`,
    `insert into sender_country_blocks (sender_id, country, blocked_until) values (:sender, 'BR', now())`,
    `insert into sender_language_stops (sender_id, locale, source, reason) values (:sender, 'en', 'answer', 'why')`,
    `insert into provider_changes (digest, business_account_id, field, value, occurred_at) values ('\\x00', '1', 'security', '{}', now())`,
    `insert into business_accounts (id, facts) values ('1', '{}')`,
    `insert into message_templates (business_account_id, name, language, facts) values ('1', 'code', 'en', '{}')`,
    `insert into sender_readings (sender_id) values (:sender)`,
    `insert into receipts (message_id, attempt_id, status, occurred_at)
       values ('wamid.taken', null, 'sent', now()), ('wamid.taken', :attempt, 'sent', now())`,
  ])
    await store.sql(bound(statement));
});

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

/** The names of the rules in `send_is_valid`, each at the end of a line. */
async function rulesOfSends(): Promise<string[]> {
  const [known] = await store.sql<{ names: string[]; count: number }>(
    `select array(select (regexp_matches(prosrc, $$then '(\\w+)'$$ || '$', 'gn'))[1]) as names,
       regexp_count(prosrc, 'when not') as count
     from pg_proc where proname = 'send_is_valid'`,
  );
  expect(known?.names).toHaveLength(known?.count ?? 0);
  return known?.names ?? [];
}

describe('the database', () => {
  it.each(ALL_INVALID_ROWS)('refuses by %s: %s', async (constraint, _, statement) => {
    expect(await refusedBy(statement)).toBe(constraint);
  });

  it('refuses an invalid new send by the same rule as a change to one', async () => {
    const rules = new Set(await rulesOfSends());
    const invalid = INVALID_ROWS.filter(([rule]) => rules.has(rule));
    expect(new Set(invalid.map(([rule]) => rule))).toEqual(rules);
    for (const [rule, what, change] of invalid)
      expect([what, await refusedBy(inserted(change))]).toEqual([what, rule]);
  });

  it('names a broken rule of sends as it names a check, and does not show the row', async () => {
    const error = await store.sql(bound(send('sent', 'attempts = -1'))).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: '23514',
      table: 'sends',
      constraint: 'sends_attempts_check',
      message: 'new row for relation "sends" violates check constraint "sends_attempts_check"',
    });
    expect((error as { detail?: string }).detail).toBeUndefined();
  });

  it('has an invalid row above for every check and unique index', async () => {
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
      // It is never named itself: its rules are.
      'sends_are_valid',
    ];
    const covered = new Set([...ALL_INVALID_ROWS.map(([constraint]) => constraint), ...implied]);
    const names = [...rows.map((row) => row.name), ...(await rulesOfSends())];
    expect(names.filter((name) => !covered.has(name))).toEqual([]);
  });

  it('accepts the valid rows that the invalid ones were made from', async () => {
    for (const right of [
      `update settings set free_sends = 0, code_validity_seconds = 5400, account_rate_per_minute = 1000000,
         guess_budget = null`,
      account('name, language, free_quota', `repeat('n', 200), 'pt-BR', 0`),
      own(`suspended_at = now(), suspension_reason = repeat('r', 200)`),
      `insert into holds (kind, target, reason, set_by) values ('account', :account, repeat('r', 200), 'n')`,
      own(`allowed_countries = '{BR}', breaker_unverified_percent = 100, breaker_min_sends = 1000`),
      budget(`'live', '+5511987654321', 1`),
      trip(`'ZZ', now(), 50, 50`),
      application('name, mode, per_minute, per_recipient_hour', `'n', 'test', 1, 1`),
      sender(`paused_at = now(), pause_reason = 'why', paused_until = now(), template = repeat('a', 512)`),
      send('keyed', `idempotency_key = repeat('k', 255)::bytea`),
      send('sent', `recipient = '+123456789012345'`),
      send('sent', `wrong_guesses = 5, verification = 'locked', locked_at = now()`),
      send('testQueued', `status = 'read', channel = 'sandbox', ${happened}, ${undue}`),
      copied('country', `'BR'`),
      attempt('send_id, outcome, finished_at', `:sent, 'retry', now()`),
      entry('returned', 'free_quota', 1),
      receipt('message_id, status', `'wamid.taken', 'read'`),
      receipt('message_id, attempt_id, status', `'wamid.taken', :nothing, 'sent'`),
      ...VALID_USER_ROWS,
    ])
      expect([right, await refusedBy(right)]).toEqual([right, null]);
  });
});
