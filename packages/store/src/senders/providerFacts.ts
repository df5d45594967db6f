import {
  mergeFacts,
  parseMessagingLimit,
  senderBlock,
  templateBlock,
  templateLanguages,
  THROUGHPUT_ON_BUSINESS_APP,
  type BusinessAccountAlert,
  type Facts,
  type NumberValues,
  type ProviderReport,
  type Reported,
  type SenderKnowledge,
  type SenderReading,
  type TemplateValues,
} from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { endBlocks } from './blocks.js';

/**
 * Takes a sender that is due for a read: only one caller gets it, and its next read is due in ten minutes, also if the caller crashes. New
 * senders are due immediately.
 *
 * @returns the sender and the database's time, or null if none is due
 */
export async function takeDueReading({
  sql,
}: Database): Promise<{ senderId: string; startedAt: Date } | null> {
  const [due = null] = await sql.query<{ senderId: string; startedAt: Date }[]>`
    with due as materialized (
      select id from senders where removed_at is null and read_due_at <= statement_timestamp() order by read_due_at limit 1 for no key update skip locked
    )
    update senders set read_due_at = clock_timestamp() + interval '10 minutes' where id in (select id from due)
    returning id as "senderId", clock_timestamp()::timestamptz(3) as "startedAt"`;
  return due;
}

/**
 * Requests a read of a sender now.
 *
 * @param accountId if given, only a sender of this account
 * @returns the time of the request by the database's clock, which is before the `triedAt` of the read; null if the sender does not exist
 */
export async function requestReading(
  { sql }: Connection,
  senderId: string,
  accountId: string | null = null,
): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date }[]>`
    -- Truncated, because a rounded-up time would be in the future.
    update senders set read_due_at = date_trunc('milliseconds', clock_timestamp())
    where id = ${senderId}::uuid and removed_at is null and (${accountId}::uuid is null or account_id = ${accountId}::uuid)
    returning read_due_at as at`;
  return row?.at ?? null;
}

/** Returns the known facts of all senders, or of one sender. */
export async function listSenderKnowledge(
  { sql }: Connection,
  senderId: string | null = null,
): Promise<SenderKnowledge[]> {
  return sql.query<SenderKnowledge[]>`
    select s.id as "senderId", s.template, s.english_template_language as "englishTemplateLanguage", coalesce(n.facts, '{}') as number, coalesce(b.facts, '{}') as "businessAccount",
      coalesce(b.alerts, '[]') as alerts, (
        select coalesce(jsonb_agg(jsonb_build_object('language', t.language, 'facts', t.facts) order by t.language), '[]')
        from provider_facts t where t.subject = s.business_account_id and t.template = s.template
      ) as templates,
      s.read_tried_at as "triedAt", s.read_at as "readAt", s.read_failures as failures, s.recipients_24h as "recipients24h"
    from senders s left join provider_facts n on n.subject = s.id::text and n.template = ''
    left join provider_facts b on b.subject = s.business_account_id and b.template = ''
    where s.removed_at is null and coalesce(s.id = ${senderId}::uuid, true)
    order by s.id`;
}

/** Applies a webhook about a business account. Webhooks arrive in any order and may be repeated. */
export async function applyProviderReport(
  database: Database,
  businessAccountId: string,
  { template, numbers, businessAccount, alert }: ProviderReport,
  at: Date,
): Promise<void> {
  await database.transaction(async (connection) => {
    const senders = await lockSenders(connection, null, businessAccountId);
    if (template)
      await merge(connection, [businessAccountId, template.name, template.language], template.values, at);
    if (numbers) for (const { id } of senders) await merge(connection, [id], numbers, at);
    if (businessAccount) await merge(connection, [businessAccountId], businessAccount, at);
    if (alert) await addAlert(connection, businessAccountId, alert, at);
    for (const { id } of senders) await syncProviderBlocks(connection, id, at);
  });
}

/**
 * Applies the parts of a read that succeeded. Ignores a read during which the sender was removed.
 *
 * @param startedAt by the database's clock
 */
export async function applySenderReading(
  database: Database,
  sender: { id: string; template: string },
  reading: SenderReading,
  startedAt: Date,
): Promise<void> {
  const { businessAccountId, portfolioId, templates } = reading;
  // Webhooks have whole seconds. A webhook of the same second may be newer than this read.
  const at = new Date(Math.floor(startedAt.getTime() / 1000) * 1000 - 1);
  await database.transaction(async (connection) => {
    const senders = await lockSenders(connection, sender.id, businessAccountId);
    if (senders.every(({ id }) => id !== sender.id)) return;
    // All senders of a business account have its portfolio.
    await connection.sql.execute`
      update senders set business_account_id = coalesce(${businessAccountId}, business_account_id), portfolio_id = coalesce(${portfolioId}, portfolio_id)
      where removed_at is null and (id = ${sender.id}::uuid or business_account_id = ${businessAccountId})
        and (business_account_id, portfolio_id) is distinct from
          (coalesce(${businessAccountId}, business_account_id), coalesce(${portfolioId}, portfolio_id))`;
    const facts = await merge<NumberValues>(connection, [sender.id], reading.number, at);
    if (businessAccountId !== null) {
      await merge(connection, [businessAccountId], reading.businessAccount, at);
      if (templates !== null)
        await mergeTemplates(connection, businessAccountId, sender.template, templates, at);
    }
    await writeReading(connection, sender.id, reading.failures, facts, startedAt);
    for (const { id } of senders) await syncProviderBlocks(connection, id, at);
  });
}

/**
 * Stores a read's time and failures, and the values that the choice of senders depends on: throughput and room for recipients. Stores
 * nothing if a newer read is stored.
 */
async function writeReading(
  connection: Connection,
  senderId: string,
  failures: SenderReading['failures'],
  { messagingLimit, isOnBusinessApp }: Facts<NumberValues>,
  startedAt: Date,
): Promise<void> {
  const recipients = await countRecentRecipients(connection, senderId);
  const hasRoom = recipients < (parseMessagingLimit(messagingLimit?.value) ?? Infinity);
  const throughputMax = isOnBusinessApp?.value === true ? THROUGHPUT_ON_BUSINESS_APP : null;
  await connection.sql.execute`
    update senders set read_tried_at = ${startedAt}, read_failures = ${JSON.stringify(failures)}::jsonb,
      recipients_24h = ${recipients}::integer, has_recipient_room = ${hasRoom}, throughput = least(throughput, ${throughputMax}::integer),
      read_at = case when ${failures.number === undefined} then ${startedAt} else read_at end
    where id = ${senderId}::uuid and coalesce(read_tried_at <= ${startedAt}, true)`;
}

/** Meta's largest limit of recipients in 24 hours, apart from unlimited. */
const MESSAGES_MAX = 100_000;

/**
 * Returns how many recipients all senders of a sender's business portfolio (or of its business account, if the portfolio is unknown) have
 * had in the last 24 hours. Counts at most the last `MESSAGES_MAX` messages of each sender.
 */
export async function countRecentRecipients(
  { sql }: Pick<Connection, 'sql'>,
  senderId: string,
): Promise<number> {
  const [{ recipients }] = await sql.query<[{ recipients: number }]>`
    select count(distinct s.recipient_key)::integer as recipients
    from senders o join senders r
      on block_subject('portfolio', r.id, r.business_account_id, r.portfolio_id) = block_subject('portfolio', o.id, o.business_account_id, o.portfolio_id)
    cross join lateral (
      select send_id from attempts
      where sender_id = r.id and outcome = 'accepted' and finished_at >= statement_timestamp() - interval '1 day'
      order by finished_at desc limit ${MESSAGES_MAX}
    ) a cross join lateral (select recipient_key from sends where id = a.send_id limit 1) s
    where o.id = ${senderId}::uuid`;
  return recipients;
}

/**
 * Locks a sender and the senders of a business account, in the order of their ids. The lock serializes the changes of their facts and
 * blocks, except of senders without a known business account.
 */
function lockSenders(
  { sql }: Connection,
  senderId: string | null,
  businessAccountId: string | null,
): Promise<{ id: string }[]> {
  return sql.query`
    select id from senders
    where removed_at is null and (id = ${senderId}::uuid or business_account_id = ${businessAccountId})
    order by id for no key update`;
}

/**
 * Blocks a sender, or a language of its template, if the provider would reject it according to the known facts. Ends such blocks when the
 * facts no longer require them, and older faults of the same sender or language. An operator's pause stays. The caller has locked the
 * sender.
 *
 * @param at when the provider reported the last facts: an older report never ends a newer fault
 */
export async function syncProviderBlocks(connection: Connection, senderId: string, at: Date): Promise<void> {
  const { sql } = connection;
  const [known] = await listSenderKnowledge(connection, senderId);
  const { number, businessAccount, templates, englishTemplateLanguage } = known!;
  const word = senderBlock(number, businessAccount);
  const reason = word === null ? null : `Meta reports that it cannot send: ${word}`;
  const blocks = [{ onlyFor: '', reason }];
  for (const [locale, language] of Object.entries(templateLanguages(englishTemplateLanguage))) {
    const facts = templates.find((template) => template.language === language)?.facts ?? {};
    blocks.push({ onlyFor: locale, reason: templateBlock(facts) });
  }
  for (const { onlyFor, reason } of blocks) {
    if (reason === null) continue;
    await sql.execute`
      insert into sender_blocks as b (cause, scope, subject, only_for, source, reason, since)
      values ('provider', 'sender', ${senderId}, ${onlyFor}, 'provider', ${reason}, clock_timestamp())
      on conflict (cause, scope, subject, only_for) do update set reason = excluded.reason, since = excluded.since
      where b.reason <> excluded.reason`;
  }
  const usable = blocks.filter(({ reason }) => reason === null).map(({ onlyFor }) => onlyFor);
  const ended = await sql.query<{ onlyFor: string }[]>`
    delete from sender_blocks where cause = 'provider' and scope = 'sender' and subject = ${senderId} and only_for = any (${usable})
    returning only_for as "onlyFor"`;
  const causedFaults = Prisma.sql`b.cause = 'fault' and b.scope = 'sender' and b.since <= ${at}
    and b.only_for = any (${ended.map(({ onlyFor }) => onlyFor)})`;
  if (ended.length > 0) await endBlocks(connection, senderId, causedFaults);
}

/**
 * Merges values into the known facts, and returns the result.
 *
 * @param about the id of a sender or a business account; for a template, also its name and language
 * @param at when the provider reported the values
 */
async function merge<Values extends object>(
  { sql }: Connection,
  [subject, template = '', language = '']: readonly [subject: string, template?: string, language?: string],
  values: Reported<Values>,
  at: Date,
): Promise<Facts<Values>> {
  const [known] = await sql.query<{ facts: Facts<Values> }[]>`
    select facts from provider_facts where subject = ${subject} and template = ${template} and language = ${language}`;
  const facts = mergeFacts<Values>(known?.facts ?? {}, values, at);
  await sql.execute`
    insert into provider_facts (subject, template, language, facts)
    values (${subject}, ${template}, ${language}, ${JSON.stringify(facts)}::jsonb)
    on conflict (subject, template, language) do update set facts = excluded.facts`;
  return facts;
}

const ALERTS_MAX = 50;

/** Adds an alert to those of a business account, which are kept newest first, without duplicates, up to a maximum. */
async function addAlert(
  { sql }: Connection,
  businessAccountId: string,
  alert: BusinessAccountAlert,
  at: Date,
): Promise<void> {
  await sql.execute`
    insert into provider_facts as f (subject, alerts)
    values (${businessAccountId}, jsonb_build_array(${JSON.stringify({ ...alert, at })}::jsonb))
    on conflict (subject, template, language) do update set alerts = (
      select jsonb_agg(alert order by alert ->> 'at' desc) from (
        select alert from jsonb_array_elements(f.alerts || excluded.alerts) as a (alert)
        group by alert order by alert ->> 'at' desc limit ${ALERTS_MAX}
      ) newest
    )`;
}

/** Merges all languages of a template. A known language that the provider no longer lists was deleted. */
async function mergeTemplates(
  connection: Connection,
  subject: string,
  template: string,
  templates: readonly { language: string; values: Reported<TemplateValues> }[],
  at: Date,
): Promise<void> {
  const known = await connection.sql.query<{ language: string }[]>`
    select language from provider_facts where subject = ${subject} and template = ${template}`;
  const deleted = known
    .filter(({ language }) => templates.every((listed) => listed.language !== language))
    .map(({ language }) => ({ language, values: { status: 'DELETED' } }));
  for (const { language, values } of [...templates, ...deleted])
    await merge<TemplateValues>(connection, [subject, template, language], values, at);
}
