import {
  mergeAlerts,
  mergeFacts,
  type BusinessAccountValues,
  type Facts,
  type FactSource,
  type NumberValues,
  type ProviderReport,
  type SenderReading,
  type TemplateValues,
  type ToldAlert,
} from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { syncProviderStops, type BegunStop } from './providerStops.js';
import { countRecipients } from './recipientCount.js';

/** When the provider said something, and how we know. */
interface Said {
  at: Date;
  source: FactSource;
}

/** Applies what a webhook said of a business account. Webhooks come in any order, and each may come again. @returns the stops that it began */
export async function applyProviderReport(
  database: Database,
  businessAccountId: string,
  report: ProviderReport,
  at: Date,
): Promise<BegunStop[]> {
  const said: Said = { at, source: 'webhook' };
  return database.transaction(async (connection) => {
    await lockFacts(connection, businessAccountId);
    switch (report.about) {
      case 'template':
        await mergeTemplate(connection, businessAccountId, report, said);
        break;
      case 'number':
        for (const id of await sendersOf(connection, businessAccountId, report.displayNumber))
          await mergeNumber(connection, id, report.values, said);
        break;
      case 'all_numbers':
        for (const id of await sendersOf(connection, businessAccountId, null))
          await mergeNumber(connection, id, report.values, said);
        break;
      case 'business_account':
        await mergeBusinessAccount(connection, businessAccountId, report, said);
    }
    return syncProviderStops(connection, { businessAccountId });
  });
}

/**
 * Applies what a read found out about a sender. A part that failed changes nothing but the record of the failure.
 *
 * @param startedAt before the first request, by the database's clock
 * @returns the stops that it began
 */
export async function applySenderReading(
  database: Database,
  sender: { id: string; template: string; businessAccountId: string | null },
  reading: SenderReading,
  startedAt: Date,
): Promise<BegunStop[]> {
  const { businessAccountId: found, number, token, businessAccount, subscription, templates } = reading;
  const said: Said = { at: startedAt, source: 'read' };
  const businessAccountId = 'value' in found ? found.value : sender.businessAccountId;
  return database.transaction(async (connection) => {
    await lockFacts(connection, businessAccountId ?? sender.id);
    await connection.sql.execute`
      update senders set business_account_id = ${businessAccountId}
      where id = ${sender.id}::uuid and business_account_id is distinct from ${businessAccountId}`;
    const values: Partial<NumberValues> = {
      ...('value' in number ? number.value : {}),
      ...('value' in token ? { token: token.value } : {}),
    };
    await mergeNumber(connection, sender.id, values, said);
    if (businessAccountId !== null) {
      const account: Partial<BusinessAccountValues> = {
        ...('value' in businessAccount ? businessAccount.value : {}),
        ...('value' in subscription ? { isSubscribed: subscription.value } : {}),
      };
      await mergeBusinessAccount(connection, businessAccountId, { values: account, alerts: [] }, said);
      if ('value' in templates)
        await mergeTemplates(connection, businessAccountId, sender.template, templates.value, said);
    }
    const failures = Object.fromEntries(
      Object.entries(reading).flatMap(([part, result]) =>
        'failure' in result ? [[part, result.failure]] : [],
      ),
    );
    const recipients = await countRecipients(connection, sender.id);
    await connection.sql.execute`
      update sender_readings set tried_at = ${startedAt}, failures = ${JSON.stringify(failures)}::jsonb, recipients_24h = ${recipients}::integer,
        read_at = case when ${'value' in number} then ${startedAt} else read_at end
      where sender_id = ${sender.id}::uuid`;
    return syncProviderStops(
      connection,
      businessAccountId === null ? { senderId: sender.id } : { businessAccountId },
    );
  });
}

/** Facts are read, merged and written by one at a time. */
async function lockFacts({ sql }: Connection, subject: string): Promise<void> {
  await sql.query`select pg_advisory_xact_lock(hashtextextended(${`provider facts of ${subject}`}, 0))::text`;
}

/** The senders of a business account, or the one of it with this number in digits. */
async function sendersOf(
  { sql }: Connection,
  businessAccountId: string,
  displayNumber: string | null,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }[]>`
    select id from senders
    where business_account_id = ${businessAccountId} and coalesce(number = '+' || ${displayNumber}::text, true)`;
  return rows.map(({ id }) => id);
}

async function mergeNumber(
  { sql }: Connection,
  senderId: string,
  values: Partial<NumberValues>,
  { at, source }: Said,
): Promise<void> {
  await sql.execute`insert into sender_readings (sender_id) values (${senderId}::uuid) on conflict do nothing`;
  const [row] = await sql.query<[{ facts: Facts<NumberValues> }]>`
    select facts from sender_readings where sender_id = ${senderId}::uuid for no key update`;
  const facts = mergeFacts(row.facts, values, at, source);
  await sql.execute`
    update sender_readings set facts = ${JSON.stringify(facts)}::jsonb where sender_id = ${senderId}::uuid`;
}

async function mergeBusinessAccount(
  { sql }: Connection,
  id: string,
  report: Pick<Extract<ProviderReport, { about: 'business_account' }>, 'values' | 'alerts'>,
  { at, source }: Said,
): Promise<void> {
  const [row] = await sql.query<{ facts: Facts<BusinessAccountValues>; alerts: ToldAlert[] }[]>`
    select facts, alerts from business_accounts where id = ${id}`;
  const facts = JSON.stringify(mergeFacts(row?.facts ?? {}, report.values, at, source));
  const alerts = JSON.stringify(mergeAlerts(row?.alerts ?? [], report.alerts, at));
  await sql.execute`
    insert into business_accounts (id, facts, alerts) values (${id}, ${facts}::jsonb, ${alerts}::jsonb)
    on conflict (id) do update set facts = excluded.facts, alerts = excluded.alerts`;
}

interface ReportedTemplate {
  name: string;
  language: string;
  values: Partial<TemplateValues>;
}

async function mergeTemplate(
  { sql }: Connection,
  businessAccountId: string,
  { name, language, values }: ReportedTemplate,
  { at, source }: Said,
): Promise<void> {
  const [row] = await sql.query<{ facts: Facts<TemplateValues> }[]>`
    select facts from message_templates
    where business_account_id = ${businessAccountId} and name = ${name} and language = ${language}`;
  const known = row?.facts ?? {};
  // A read does not say why a template is paused: what the webhook said of the same status stays.
  const { reason, ...others } = values;
  const keepsReason = source === 'read' && reason === null && values.status === known.status?.value;
  const facts = JSON.stringify(mergeFacts(known, keepsReason ? others : values, at, source));
  await sql.execute`
    insert into message_templates (business_account_id, name, language, facts)
    values (${businessAccountId}, ${name}, ${language}, ${facts}::jsonb)
    on conflict (business_account_id, name, language) do update set facts = excluded.facts`;
}

/** Merges all languages of a template. One that was there and is not any more was deleted. */
async function mergeTemplates(
  connection: Connection,
  businessAccountId: string,
  name: string,
  templates: readonly Omit<ReportedTemplate, 'name'>[],
  said: Said,
): Promise<void> {
  const known = await connection.sql.query<{ language: string }[]>`
    select language from message_templates where business_account_id = ${businessAccountId} and name = ${name}`;
  const gone = known.filter(({ language }) => templates.every((template) => template.language !== language));
  for (const template of templates)
    await mergeTemplate(connection, businessAccountId, { name, ...template }, said);
  for (const { language } of gone)
    await mergeTemplate(
      connection,
      businessAccountId,
      { name, language, values: { status: 'DELETED' } },
      said,
    );
}
