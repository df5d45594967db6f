import {
  mergeFacts,
  parseMessagingLimit,
  THROUGHPUT_ON_BUSINESS_APP,
  type BusinessAccountAlert,
  type BusinessAccountValues,
  type Facts,
  type FactSource,
  type NumberValues,
  type Part,
  type ProviderReport,
  type Reported,
  type SenderReading,
  type TemplateValues,
} from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { syncProviderBlocks } from './blocks.js';

/** Applies a webhook about a business account. Webhooks arrive in any order and may be repeated. */
export async function applyProviderReport(
  database: Database,
  businessAccountId: string,
  report: ProviderReport,
  at: Date,
): Promise<void> {
  const origin = { at, source: 'webhook' } as const;
  await database.transaction(async (connection) => {
    const senders = await lockSenders(connection, null, businessAccountId);
    switch (report.about) {
      case 'template':
        await merge(connection, [businessAccountId, report.name, report.language], report.values, origin);
        break;
      case 'number':
        for (const { id, number } of senders)
          if (report.displayNumber === null || number === `+${report.displayNumber}`)
            await merge(connection, [id], report.values, origin);
        break;
      case 'business_account':
        await merge(connection, [businessAccountId], report.values, origin);
        break;
      case 'alert':
        await addAlert(connection, businessAccountId, report.alert, at);
    }
    for (const { id } of senders) await syncProviderBlocks(connection, id);
  });
}

/** Applies the parts of a read that succeeded. @param startedAt by the database's clock */
export async function applySenderReading(
  database: Database,
  sender: { id: string; template: string; businessAccountId: string | null },
  reading: SenderReading,
  startedAt: Date,
): Promise<void> {
  const origin = { at: startedAt, source: 'read' } as const;
  const businessAccountId = valueOf(reading.businessAccountId) ?? sender.businessAccountId;
  const { portfolioId = null, ...number } = valueOf(reading.number) ?? {};
  const templates = valueOf(reading.templates);
  await database.transaction(async (connection) => {
    const senders = await lockSenders(connection, sender.id, businessAccountId);
    // All senders of a business account have its portfolio.
    await connection.sql.execute`
      update senders set business_account_id = coalesce(${businessAccountId}, business_account_id), portfolio_id = coalesce(${portfolioId}, portfolio_id)
      where removed_at is null and (id = ${sender.id}::uuid or business_account_id = ${businessAccountId})
        and (business_account_id, portfolio_id) is distinct from
          (coalesce(${businessAccountId}, business_account_id), coalesce(${portfolioId}, portfolio_id))`;
    const values = { ...number, token: valueOf(reading.token) };
    const facts = await merge<NumberValues>(connection, [sender.id], values, origin);
    if (businessAccountId !== null) {
      const account = { ...valueOf(reading.businessAccount), isSubscribed: valueOf(reading.subscription) };
      await merge<BusinessAccountValues>(connection, [businessAccountId], account, origin);
      if (templates !== undefined)
        await mergeTemplates(connection, businessAccountId, sender.template, templates, origin);
    }
    await writeReading(connection, sender.id, reading, facts, startedAt);
    for (const { id } of senders) await syncProviderBlocks(connection, id);
  });
}

const valueOf = <Value>(part: Part<Value>): Value | undefined => ('value' in part ? part.value : undefined);

/** Stores a read's time and failures, and the values that the choice of senders depends on: throughput and room for recipients. */
async function writeReading(
  connection: Connection,
  senderId: string,
  reading: SenderReading,
  { messagingLimit, isOnBusinessApp }: Facts<NumberValues>,
  startedAt: Date,
): Promise<void> {
  const failures = Object.entries(reading).flatMap(([part, result]) =>
    'failure' in result ? [[part, result.failure]] : [],
  );
  const recipients = await countRecentRecipients(connection, senderId);
  const hasRoom = recipients < (parseMessagingLimit(messagingLimit?.value) ?? Infinity);
  const throughputMax = isOnBusinessApp?.value === true ? THROUGHPUT_ON_BUSINESS_APP : null;
  await connection.sql.execute`
    update senders set read_tried_at = ${startedAt}, read_failures = ${JSON.stringify(Object.fromEntries(failures))}::jsonb,
      recipients_24h = ${recipients}::integer, has_recipient_room = ${hasRoom}, throughput = least(throughput, ${throughputMax}::integer),
      read_at = case when ${'value' in reading.number} then ${startedAt} else read_at end
    where id = ${senderId}::uuid`;
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
 * Locks a sender and the senders of a business account. Changes of senders take locks in this order: senders by id, their facts, their
 * blocks. The lock of the senders serializes the changes of their facts and blocks, unless the business account of one is not stored yet.
 */
function lockSenders(
  { sql }: Connection,
  senderId: string | null,
  businessAccountId: string | null,
): Promise<{ id: string; number: string }[]> {
  return sql.query`
    select id, number from senders
    where removed_at is null and (id = ${senderId}::uuid or business_account_id = ${businessAccountId})
    order by id for no key update`;
}

/**
 * Merges values into the known facts, and returns the result.
 *
 * @param about the id of a sender or a business account; for a template, also its name and language
 * @param origin when the provider reported the values, and through which channel
 */
async function merge<Values extends object>(
  { sql }: Connection,
  [subject, template = '', language = '']: readonly [subject: string, template?: string, language?: string],
  values: Reported<Values>,
  { at, source }: { at: Date; source: FactSource },
): Promise<Facts<Values>> {
  const [known] = await sql.query<{ facts: Facts<Values> }[]>`
    select facts from provider_facts where subject = ${subject} and template = ${template} and language = ${language}`;
  const facts = mergeFacts<Values>(known?.facts ?? {}, values, at, source);
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
  origin: { at: Date; source: FactSource },
): Promise<void> {
  const known = await connection.sql.query<{ language: string }[]>`
    select language from provider_facts where subject = ${subject} and template = ${template}`;
  const deleted = known
    .filter(({ language }) => templates.every((listed) => listed.language !== language))
    .map(({ language }) => ({ language, values: { status: 'DELETED' } }));
  for (const { language, values } of [...templates, ...deleted])
    await merge<TemplateValues>(connection, [subject, template, language], values, origin);
}

/** Stores the business accounts of phone number ids, for senders without a known business account. */
export async function learnBusinessAccounts(
  database: Database,
  accounts: ReadonlyMap<string, string>,
): Promise<void> {
  if (accounts.size === 0) return;
  await database.sql.execute`
    update senders s set business_account_id = k.business_account_id
    from unnest(${[...accounts.keys()]}::text[], ${[...accounts.values()]}::text[]) as k (phone_number_id, business_account_id)
    where s.phone_number_id = k.phone_number_id and s.business_account_id is null`;
}
