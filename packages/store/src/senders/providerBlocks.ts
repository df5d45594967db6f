import {
  senderBlock,
  TEMPLATE_STATE_CODES,
  templateBlock,
  templateLanguages,
  TOKEN_CODES,
  type Facts,
  type Locale,
  type ProviderBlock,
  type TemplateValues,
} from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { queueSenderBlockedAlert } from '../mails/senderBlocks.js';
import { listSenderKnowledge } from './readings.js';

/** A block that started because of a provider report or read. */
export interface StartedBlock extends ProviderBlock {
  senderId: string;
  /** Null if the whole sender is blocked. */
  locale: Locale | null;
}

/**
 * Blocks the senders that the provider would reject, according to the known facts about their templates, numbers and business account, and
 * ends such blocks when the facts no longer require them. An operator's pause stays. The caller has locked the senders.
 *
 * @returns the blocks that this call started
 */
export async function syncProviderBlocks(
  connection: Connection,
  { senderId, businessAccountId }: { senderId?: string; businessAccountId?: string },
): Promise<StartedBlock[]> {
  const { sql } = connection;
  const started: StartedBlock[] = [];
  const sync = async (id: string, locale: Locale | null, block: ProviderBlock | null): Promise<void> => {
    const onlyFor = locale ?? '';
    if (block === null) {
      await sql.execute`
        delete from sender_blocks where cause = 'provider' and scope = 'sender' and subject = ${id} and only_for = ${onlyFor}`;
      return;
    }
    const written = await sql.execute`
      insert into sender_blocks as t (cause, scope, subject, only_for, source, reason, since)
      values ('provider', 'sender', ${id}, ${onlyFor}, ${block.source}, ${block.reason}, clock_timestamp())
      on conflict (cause, scope, subject, only_for) do update set source = excluded.source, reason = excluded.reason, since = excluded.since
      where t.reason <> excluded.reason`;
    if (written === 0) return;
    started.push({ ...block, senderId: id, locale });
    await queueSenderBlockedAlert(connection, id, onlyFor, block.reason);
  };
  const senders = await listSenderKnowledge(connection, senderId, businessAccountId);
  for (const { senderId: id, ...known } of senders) {
    await sync(id, null, senderBlock(known.number, known.businessAccount, new Date()));
    const languages = templateLanguages(known.englishTemplateLanguage);
    // In the order in which `take_permits` locks the rows.
    for (const locale of ['en', 'pt-BR'] as const) {
      const facts = known.templates.find((template) => template.language === languages[locale])?.facts;
      if (facts === undefined) continue;
      const block = templateBlock(facts);
      await sync(id, locale, block);
      if (block === null) await endTemplateFault(connection, id, locale, facts);
    }
  }
  return started;
}

/**
 * Ends blocks that failed calls started because of a template's state, when the template is usable again. A block that started after the
 * provider's report stays: an older report never clears a newer fault.
 */
async function endTemplateFault(
  { sql }: Connection,
  senderId: string,
  locale: Locale,
  { status }: Facts<TemplateValues>,
): Promise<void> {
  await sql.execute`
    update sender_blocks set failures = 0, until = clock_timestamp(), cleared_at = clock_timestamp()
    where cause = 'fault' and scope = 'sender' and subject = ${senderId} and only_for = ${locale} and failures > 0
      and error_code = any (${[...TEMPLATE_STATE_CODES]}::integer[]) and ${status?.at ?? null}::timestamptz >= date_trunc('second', since)`;
}

/** After a read found a sender's token valid, ends the blocks that calls started because of the token before that read. */
export async function endTokenFault({ sql }: Connection, senderId: string, readAt: Date): Promise<void> {
  await sql.execute`
    update sender_blocks set failures = 0, until = clock_timestamp(), cleared_at = ${readAt}
    where cause = 'fault' and scope = 'sender' and subject = ${senderId} and only_for = '' and failures > 0 and is_configuration
      and (error_code is null or error_code = any (${[...TOKEN_CODES]}::integer[]) or error_code between 200 and 299) and since < ${readAt}`;
}
