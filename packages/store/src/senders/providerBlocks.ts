import {
  senderBlock,
  TEMPLATE_STATE_CODES,
  templateBlock,
  templateLanguages,
  type Locale,
  type ProviderBlock,
  type SenderKnowledge,
} from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { queueSenderBlockedAlert } from '../mails/senderBlocks.js';
import { listSenderKnowledge } from './readings.js';

/**
 * Blocks the senders that the provider would reject, according to the known facts about their templates, numbers and business account, and
 * ends such blocks when the facts no longer require them. An operator's pause stays. The caller has locked the senders.
 */
export async function syncProviderBlocks(
  connection: Connection,
  { senderId, businessAccountId }: { senderId?: string; businessAccountId?: string },
): Promise<void> {
  for (const sender of await listSenderKnowledge(connection, senderId, businessAccountId))
    for (const { locale, block, usableAt } of requiredBlocks(sender)) {
      if (block === null) await endProviderBlock(connection, sender.senderId, locale);
      else await startProviderBlock(connection, sender.senderId, locale, block);
      if (usableAt !== undefined) await endTemplateFault(connection, sender.senderId, locale, usableAt);
    }
}

/** Returns what the facts require for the whole sender (`locale` null) and for each language of its template. */
function requiredBlocks({ number, businessAccount, templates, englishTemplateLanguage }: SenderKnowledge) {
  const languages = templateLanguages(englishTemplateLanguage);
  const ofTemplate = (locale: Locale) => {
    const template = templates.find(({ language }) => language === languages[locale]);
    const block = templateBlock(template?.facts ?? {});
    /** When the provider reported the template as usable. */
    const usableAt = block === null ? template?.facts.status?.at : undefined;
    return { locale, block, usableAt };
  };
  const block = senderBlock(number, businessAccount, new Date());
  // In the order in which `take_permits` locks the blocks.
  return [{ locale: null, block, usableAt: undefined }, ofTemplate('en'), ofTemplate('pt-BR')];
}

async function endProviderBlock({ sql }: Connection, senderId: string, locale: Locale | null): Promise<void> {
  await sql.execute`
    delete from sender_blocks
    where cause = 'provider' and scope = 'sender' and subject = ${senderId} and only_for = ${locale ?? ''}`;
}

/**
 * Ends a block that a failed call started because of a template's state, when the template is usable again. Otherwise the health page would
 * report a misconfigured sender until a message succeeds. A block that started after the provider's report stays: an older report never
 * clears a newer fault.
 */
async function endTemplateFault(
  { sql }: Connection,
  senderId: string,
  locale: Locale | null,
  usableAt: string,
): Promise<void> {
  await sql.execute`
    update sender_blocks set failures = 0, until = clock_timestamp(), cleared_at = clock_timestamp()
    where cause = 'fault' and scope = 'sender' and subject = ${senderId} and only_for = ${locale} and failures > 0
      and error_code = any (${[...TEMPLATE_STATE_CODES]}::integer[]) and ${usableAt}::timestamptz >= date_trunc('second', since)`;
}

/** Writes a block and mails the sender's owner, unless the block exists with the same reason. */
async function startProviderBlock(
  connection: Connection,
  senderId: string,
  locale: Locale | null,
  { source, reason }: ProviderBlock,
): Promise<void> {
  const onlyFor = locale ?? '';
  const written = await connection.sql.execute`
    insert into sender_blocks as t (cause, scope, subject, only_for, source, reason, since)
    values ('provider', 'sender', ${senderId}, ${onlyFor}, ${source}, ${reason}, clock_timestamp())
    on conflict (cause, scope, subject, only_for) do update set source = excluded.source, reason = excluded.reason, since = excluded.since
    where t.reason <> excluded.reason`;
  if (written > 0) await queueSenderBlockedAlert(connection, senderId, onlyFor, reason);
}
