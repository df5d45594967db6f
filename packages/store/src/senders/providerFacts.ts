import {
  mergeAlerts,
  mergeFacts,
  parseMessagingLimit,
  THROUGHPUT_ON_BUSINESS_APP,
  type BusinessAccountAlert,
  type BusinessAccountValues,
  type DatedAlert,
  type Facts,
  type FactSource,
  type NumberValues,
  type ProviderReport,
  type SenderReading,
  type TemplateValues,
} from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { syncProviderBlocks, type StartedBlock } from './providerBlocks.js';
import { countRecentRecipients } from './recipients.js';

/** When the provider reported a fact, and through which channel. */
interface FactOrigin {
  at: Date;
  source: FactSource;
}

/**
 * Applies a webhook about a business account. Webhooks arrive in any order and may be repeated. @returns the blocks that this call started
 */
export async function applyProviderReport(
  database: Database,
  businessAccountId: string,
  report: ProviderReport,
  at: Date,
): Promise<StartedBlock[]> {
  const origin: FactOrigin = { at, source: 'webhook' };
  return database.transaction(async (connection) => {
    const senders = await lockSenders(connection, null, businessAccountId);
    switch (report.about) {
      case 'template':
        await mergeTemplate(connection, businessAccountId, report, origin);
        break;
      case 'number':
      case 'all_numbers':
        for (const { id, number } of senders)
          if (report.about === 'all_numbers' || number === `+${report.displayNumber}`)
            await merge(connection, { subject: id }, report.values, origin);
        break;
      case 'business_account':
        await merge(connection, { subject: businessAccountId }, report.values, origin);
        await addAlerts(connection, businessAccountId, report.alerts, at);
    }
    return syncProviderBlocks(connection, { businessAccountId });
  });
}

/** Applies the parts of a read that succeeded. @param startedAt by the database's clock @returns the blocks that this call started */
export async function applySenderReading(
  database: Database,
  sender: { id: string; template: string; businessAccountId: string | null },
  reading: SenderReading,
  startedAt: Date,
): Promise<StartedBlock[]> {
  const { businessAccountId: found, number, token, businessAccount, subscription, templates } = reading;
  const origin: FactOrigin = { at: startedAt, source: 'read' };
  const businessAccountId = 'value' in found ? found.value : sender.businessAccountId;
  return database.transaction(async (connection) => {
    await lockSenders(connection, sender.id, businessAccountId);
    await connection.sql.execute`
      update senders set business_account_id = ${businessAccountId}
      where id = ${sender.id}::uuid and business_account_id is distinct from ${businessAccountId}`;
    const { portfolioId = null, ...numberValues } = 'value' in number ? number.value : {};
    if (portfolioId !== null)
      await connection.sql.execute`
        update senders set portfolio_id = ${portfolioId}
        where (id = ${sender.id}::uuid or business_account_id = ${businessAccountId}) and portfolio_id is distinct from ${portfolioId}`;
    const recipients = await countRecentRecipients(connection, sender.id);
    const values: Partial<NumberValues> = {
      ...numberValues,
      ...('value' in token ? { token: token.value } : {}),
    };
    const { messagingLimit } = await merge<NumberValues>(connection, { subject: sender.id }, values, origin);
    if (businessAccountId !== null) {
      const account: Partial<BusinessAccountValues> = {
        ...('value' in businessAccount ? businessAccount.value : {}),
        ...('value' in subscription ? { isSubscribed: subscription.value } : {}),
      };
      await merge(connection, { subject: businessAccountId }, account, origin);
      if ('value' in templates)
        await mergeTemplates(connection, businessAccountId, sender.template, templates.value, origin);
    }
    const failures = Object.fromEntries(
      Object.entries(reading).flatMap(([part, result]) =>
        'failure' in result ? [[part, result.failure]] : [],
      ),
    );
    const hasRoom = recipients < (parseMessagingLimit(messagingLimit?.value) ?? Infinity);
    await connection.sql.execute`
      update senders set read_tried_at = ${startedAt}, read_failures = ${JSON.stringify(failures)}::jsonb,
        recipients_24h = ${recipients}::integer, has_recipient_room = ${hasRoom}, read_at = case when ${'value' in number} then ${startedAt} else read_at end,
        throughput = least(throughput, ${numberValues.isOnBusinessApp === true ? THROUGHPUT_ON_BUSINESS_APP : null}::integer)
      where id = ${sender.id}::uuid`;
    return syncProviderBlocks(
      connection,
      businessAccountId === null ? { senderId: sender.id } : { businessAccountId },
    );
  });
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

/** The subject of facts: a sender, a business account, or one language of a business account's template. */
interface FactSubject {
  subject: string;
  template?: string;
  language?: string;
}

async function readFacts<Values>(
  { sql }: Connection,
  { subject, template = '', language = '' }: FactSubject,
): Promise<Facts<Values>> {
  const [row] = await sql.query<{ facts: Facts<Values> }[]>`
    select facts from provider_facts
    where subject = ${subject} and template = ${template} and language = ${language}`;
  return row?.facts ?? {};
}

/** Merges values into the known facts, and returns the result. */
async function merge<Values extends object>(
  connection: Connection,
  of: FactSubject,
  values: Partial<Values>,
  { at, source }: FactOrigin,
): Promise<Facts<Values>> {
  const { subject, template = '', language = '' } = of;
  const facts = mergeFacts(await readFacts<Values>(connection, of), values, at, source);
  await connection.sql.execute`
    insert into provider_facts (subject, template, language, facts)
    values (${subject}, ${template}, ${language}, ${JSON.stringify(facts)}::jsonb)
    on conflict (subject, template, language) do update set facts = excluded.facts`;
  return facts;
}

/** Adds alerts to a business account, which must have facts. */
async function addAlerts(
  { sql }: Connection,
  businessAccountId: string,
  alerts: readonly BusinessAccountAlert[],
  at: Date,
): Promise<void> {
  const [row] = await sql.query<[{ alerts: DatedAlert[] }]>`
    select alerts from provider_facts where subject = ${businessAccountId} and template = ''`;
  await sql.execute`
    update provider_facts set alerts = ${JSON.stringify(mergeAlerts(row.alerts, alerts, at))}::jsonb
    where subject = ${businessAccountId} and template = ''`;
}

type ReportedTemplate = Omit<Extract<ProviderReport, { about: 'template' }>, 'about'>;

async function mergeTemplate(
  connection: Connection,
  businessAccountId: string,
  { name, language, values }: ReportedTemplate,
  origin: FactOrigin,
): Promise<void> {
  const of: FactSubject = { subject: businessAccountId, template: name, language };
  const { status } = await readFacts<TemplateValues>(connection, of);
  // A read returns no reason for a paused template. Keep the webhook's reason while the status is the same.
  const { reason, ...others } = values;
  const keepsReason = origin.source === 'read' && reason === null && values.status === status?.value;
  await merge(connection, of, keepsReason ? others : values, origin);
}

/** Merges all languages of a template. A known language that the provider no longer lists was deleted. */
async function mergeTemplates(
  connection: Connection,
  businessAccountId: string,
  name: string,
  templates: readonly Omit<ReportedTemplate, 'name'>[],
  origin: FactOrigin,
): Promise<void> {
  const known = await connection.sql.query<{ language: string }[]>`
    select language from provider_facts where subject = ${businessAccountId} and template = ${name}`;
  const deleted = known
    .filter(({ language }) => templates.every((template) => template.language !== language))
    .map(({ language }) => ({ language, values: { status: 'DELETED' } }));
  for (const template of [...templates, ...deleted])
    await mergeTemplate(connection, businessAccountId, { name, ...template }, origin);
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
