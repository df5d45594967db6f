import {
  senderStop,
  TEMPLATE_STATE_CODES,
  templateLanguages,
  templateStop,
  TOKEN_CODES,
  type BusinessAccountValues,
  type Facts,
  type Locale,
  type NumberValues,
  type ProviderStop,
  type TemplateValues,
} from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { tellSenderStopped } from '../mails/senderStops.js';

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
    select s.id, s.english_template_language as "englishTemplateLanguage", coalesce(n.facts, '{}') as number,
      coalesce(b.facts, '{}') as account, (
        select coalesce(jsonb_agg(jsonb_build_object('language', t.language, 'facts', t.facts)), '[]') from provider_facts t
        where t.subject = s.business_account_id and t.template = s.template
      ) as templates
    from senders s left join provider_facts n on n.subject = s.id::text and n.template = ''
    left join provider_facts b on b.subject = s.business_account_id and b.template = ''
    where s.removed_at is null and (${'senderId' in which ? which.senderId : null}::uuid = s.id
      or ${'businessAccountId' in which ? which.businessAccountId : null}::text = s.business_account_id)
    order by s.id`;
  const begun: BegunStop[] = [];
  const sync = async (senderId: string, locale: Locale | null, stop: ProviderStop | null): Promise<void> => {
    const isNew =
      stop === null
        ? await end(connection, senderId, locale)
        : await begin(connection, senderId, locale, stop);
    if (stop === null || !isNew) return;
    begun.push({ ...stop, senderId, locale });
    await tellSenderStopped(connection, senderId, locale ?? '', stop.reason);
  };
  for (const sender of senders) {
    await sync(sender.id, null, senderStop(sender.number, sender.account, new Date()));
    const languages = templateLanguages(sender.englishTemplateLanguage);
    // In the order in which `take_send_slots` locks them.
    for (const locale of ['en', 'pt-BR'] as const) {
      const facts = sender.templates.find((template) => template.language === languages[locale])?.facts;
      if (facts === undefined) continue;
      const stop = templateStop(facts);
      await sync(sender.id, locale, stop);
      if (stop === null) await endTemplateFault(connection, sender.id, locale, facts);
    }
  }
  return begun;
}

async function begin(
  { sql }: Connection,
  senderId: string,
  locale: Locale | null,
  { reason, source }: ProviderStop,
): Promise<boolean> {
  const written = await sql.execute`
    insert into stops as t (cause, scope, subject, only_for, source, reason, since)
    values ('provider', 'sender', ${senderId}, ${locale ?? ''}, ${source}, ${reason}, clock_timestamp())
    on conflict (cause, scope, subject, only_for) do update set source = excluded.source, reason = excluded.reason, since = excluded.since
    where t.reason <> excluded.reason`;
  return written === 1;
}

async function end({ sql }: Connection, senderId: string, locale: Locale | null): Promise<boolean> {
  const written = await sql.execute`
    delete from stops where cause = 'provider' and scope = 'sender' and subject = ${senderId} and only_for = ${locale ?? ''}`;
  return written === 1;
}

/** A template that is back ends what calls met of it, but not what one met just now: that is not outdone by what was said before it. */
async function endTemplateFault(
  { sql }: Connection,
  senderId: string,
  locale: Locale,
  { status }: Facts<TemplateValues>,
): Promise<void> {
  await sql.execute`
    update stops set failures = 0, until = clock_timestamp(), proven_at = clock_timestamp()
    where cause = 'fault' and scope = 'sender' and subject = ${senderId} and only_for = ${locale} and failures > 0
      and error_code = any (${[...TEMPLATE_STATE_CODES]}::integer[]) and ${status?.at ?? null}::timestamptz >= date_trunc('second', since)`;
}

/** Ends what calls met because of a sender's token before a read found it good. */
export async function endTokenFault({ sql }: Connection, senderId: string, readAt: Date): Promise<void> {
  await sql.execute`
    update stops set failures = 0, until = clock_timestamp(), proven_at = ${readAt}
    where cause = 'fault' and scope = 'sender' and subject = ${senderId} and only_for = '' and failures > 0 and is_configuration
      and (error_code is null or error_code = any (${[...TOKEN_CODES]}::integer[]) or error_code between 200 and 299) and since < ${readAt}`;
}
