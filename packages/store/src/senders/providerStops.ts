import {
  senderStop,
  TEMPLATE_STATE_CODES,
  templateLanguages,
  templateStop,
  type BusinessAccountValues,
  type Facts,
  type Locale,
  type NumberValues,
  type ProviderStop,
  type TemplateValues,
} from '@onecode/domain';
import type { Connection } from '../client/database.js';

/** A stop that the provider's word began. */
export interface BegunStop extends ProviderStop {
  senderId: string;
  /** Null for a stop of the whole sender. */
  locale: Locale | null;
}

interface StoppableSender {
  id: string;
  englishTemplateLanguage: 'en' | 'en_US';
  number: Facts<NumberValues>;
  account: Facts<BusinessAccountValues>;
  templates: { language: string; facts: Facts<TemplateValues> }[];
}

/**
 * Stops the senders that the provider would refuse, by what is known of their templates, numbers and business account, and ends the stops
 * that its word began and that nothing says any more. An operator's pause stays.
 *
 * @param which the senders of a business account, or one sender
 * @returns the stops that this call began
 */
export async function syncProviderStops(
  connection: Connection,
  which: { businessAccountId: string } | { senderId: string },
): Promise<BegunStop[]> {
  const senders = await connection.sql.query<StoppableSender[]>`
    select s.id, s.english_template_language as "englishTemplateLanguage", coalesce(r.facts, '{}') as number,
      coalesce(b.facts, '{}') as account, (
        select coalesce(jsonb_agg(jsonb_build_object('language', t.language, 'facts', t.facts)), '[]') from message_templates t
        where t.business_account_id = s.business_account_id and t.name = s.template
      ) as templates
    from senders s left join sender_readings r on r.sender_id = s.id left join business_accounts b on b.id = s.business_account_id
    where ${'senderId' in which ? which.senderId : null}::uuid = s.id
      or ${'businessAccountId' in which ? which.businessAccountId : null}::text = s.business_account_id
    order by s.id`;
  const begun: BegunStop[] = [];
  for (const sender of senders) {
    const stop = senderStop(sender.number, sender.account, new Date());
    const isNew =
      stop === null ? await endPause(connection, sender.id) : await pause(connection, sender.id, stop);
    if (stop !== null && isNew) begun.push({ ...stop, senderId: sender.id, locale: null });
    for (const [locale, language] of Object.entries(templateLanguages(sender.englishTemplateLanguage))) {
      const facts = sender.templates.find((template) => template.language === language)?.facts;
      if (facts === undefined) continue;
      const begunStop = await syncLanguage(connection, sender.id, locale as Locale, facts);
      if (begunStop !== null) begun.push(begunStop);
    }
  }
  return begun;
}

async function pause(
  { sql }: Connection,
  senderId: string,
  { reason, source }: ProviderStop,
): Promise<boolean> {
  const written = await sql.execute`
    update senders set paused_at = clock_timestamp(), paused_until = null, pause_reason = ${reason}, pause_source = ${source}
    where id = ${senderId}::uuid and (paused_at is null or paused_until is not null)`;
  return written === 1;
}

async function endPause({ sql }: Connection, senderId: string): Promise<boolean> {
  const written = await sql.execute`
    update senders set paused_at = null, paused_until = null, pause_reason = null, pause_source = null, consecutive_failures = 0
    where id = ${senderId}::uuid and paused_at is not null and paused_until is null and pause_source in ('webhook', 'read')`;
  return written === 1;
}

async function syncLanguage(
  { sql }: Connection,
  senderId: string,
  locale: Locale,
  facts: Facts<TemplateValues>,
): Promise<BegunStop | null> {
  const stop = templateStop(facts);
  if (stop === null) {
    // A call that met the old state just now is not outdone by what was said before it.
    await sql.execute`
      update sender_language_stops set stopped_until = clock_timestamp(), consecutive_failures = 0
      where sender_id = ${senderId}::uuid and locale = ${locale} and (stopped_until is null or stopped_until > clock_timestamp()
        and code = any(${[...TEMPLATE_STATE_CODES]}::integer[])
        and ${facts.status?.at ?? null}::timestamptz >= date_trunc('second', stopped_at))`;
    return null;
  }
  const written = await sql.execute`
    insert into sender_language_stops as l (sender_id, locale, source, reason, stopped_at)
    values (${senderId}::uuid, ${locale}, ${stop.source}, ${stop.reason}, clock_timestamp())
    on conflict (sender_id, locale) do update set code = null, source = excluded.source, reason = excluded.reason,
      consecutive_failures = 0, stopped_at = excluded.stopped_at, stopped_until = null
    where l.stopped_until is not null or l.reason <> excluded.reason`;
  return written === 1 ? { ...stop, senderId, locale } : null;
}
