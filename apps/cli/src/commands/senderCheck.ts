import { setTimeout as wait } from 'node:timers/promises';
import { preflight, senderState, standingStop } from '@onecode/domain';
import {
  countRecipients,
  isReadSince,
  listSenderKnowledge,
  readSettings,
  requestReading,
  type Database,
  type Sender,
  type SenderKnowledge,
} from '@onecode/store';
import type { Row } from '../output.js';

export function senderRow(sender: Sender) {
  const now = new Date();
  const stop = standingStop(sender.stops, now);
  return {
    id: sender.id,
    phone_number_id: sender.phoneNumberId,
    number: sender.number,
    template: sender.template,
    english: sender.englishTemplateLanguage,
    throughput: sender.throughput,
    state: senderState(sender.stops, now),
    paused_until: stop?.until?.toISOString() ?? null,
    pause_reason: stop?.reason ?? null,
    faults: sender.stops.reduce(
      (most, { cause, failures }) => (cause === 'fault' ? Math.max(most, failures) : most),
      0,
    ),
    created_at: sender.createdAt.toISOString(),
  };
}

/** A sender with what the provider said of it, in the provider's own words. */
export async function showSender(database: Database, sender: Sender): Promise<Row> {
  const { number, templates, alerts, readAt } = await knowledgeOf(database, sender);
  return {
    ...senderRow(sender),
    business_account_id: sender.businessAccountId,
    quality: number.quality?.value ?? 'UNKNOWN',
    messaging_limit: number.messagingLimit?.value ?? null,
    unique_recipients_24h: await countRecipients(database, sender.id),
    checked_at: readAt?.toISOString() ?? null,
    alerts: alerts.map(({ type, severity, detail, at }) => ({ type, severity, detail, at })),
    templates: templates.map(({ name, language, facts }) => ({
      name,
      language,
      status: facts.status?.value ?? null,
      category: facts.category?.value ?? null,
      quality: facts.quality?.value ?? null,
      reason: facts.reason?.value ?? null,
      ttl_seconds: facts.ttlSeconds?.value ?? null,
    })),
  };
}

/** How long a read may take: five calls that time out, and the wait for a worker. */
const READ_MS_MAX = 45_000;
const PAUSE_MS = 100;

export interface CheckRow extends Row {
  check: string;
  ok: boolean;
  detail: string;
}

/** Lets a worker read what the provider knows of a sender, and says of each check whether it is well and what to do. */
export async function checkSender(database: Database, sender: Sender): Promise<CheckRow[]> {
  const isRead = await read(database, sender.id);
  const knowledge = await knowledgeOf(database, sender);
  const results = preflight({
    ...knowledge,
    failures: isRead ? knowledge.failures : NO_WORKER,
    template: sender.template,
    englishTemplateLanguage: sender.englishTemplateLanguage,
    codeValiditySeconds: (await readSettings(database)).codeValiditySeconds,
    recipients24h: await countRecipients(database, sender.id),
    now: new Date(),
  });
  return results.map(({ check, ok, text }) => ({ check, ok, detail: text }));
}

const WHY_NO_WORKER = `No worker made the read within ${READ_MS_MAX / 1000} s.`;
const NO_WORKER: SenderKnowledge['failures'] = {
  businessAccountId: WHY_NO_WORKER,
  number: WHY_NO_WORKER,
  token: WHY_NO_WORKER,
  businessAccount: WHY_NO_WORKER,
  subscription: WHY_NO_WORKER,
  templates: WHY_NO_WORKER,
};

async function read(database: Database, senderId: string): Promise<boolean> {
  const since = await requestReading(database, senderId);
  const end = performance.now() + READ_MS_MAX;
  while (since !== null && performance.now() < end) {
    if (await isReadSince(database, senderId, since)) return true;
    await wait(PAUSE_MS);
  }
  return false;
}

async function knowledgeOf(database: Database, { id }: Sender): Promise<SenderKnowledge> {
  const [knowledge] = await listSenderKnowledge(database, id);
  if (knowledge === undefined) throw new Error('the sender was deleted');
  return knowledge;
}
