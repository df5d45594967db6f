import { setTimeout as wait } from 'node:timers/promises';
import {
  preflight,
  senderState,
  activeBlock,
  type PreflightResult,
  type SenderKnowledge,
} from '@onecode/domain';
import { findAccount, readSettings } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { countWorkers } from '@onecode/store/operations';
import { countHeldMessages } from '@onecode/store/reports';
import {
  listSenderKnowledge,
  listSenders,
  requestReading,
  type ListedSender,
  type Sender,
} from '@onecode/store/senders';
import { found } from '../errors.js';
import { pickFields, type Row } from '../output.js';

export async function findSender(database: Database, senderId: string): Promise<ListedSender> {
  return found(
    'sender',
    (await listSenders(database)).find(({ id }) => id === senderId),
  );
}

export function formatSender(sender: Sender) {
  const now = new Date();
  const block = activeBlock(sender.blocks, now);
  return {
    ...pickFields(sender, 'id', 'accountId', 'applicationIds', 'phoneNumberId', 'number', 'template'),
    english: sender.englishTemplateLanguage,
    throughput: sender.throughput,
    state: senderState(sender.blocks, now),
    paused_until: block?.until ?? null,
    pause_reason: block?.reason ?? null,
    /** `sender`, `business` (account) or `portfolio`. */
    pause_scope: block?.scope ?? null,
    faults: sender.blocks.reduce(
      (most, { cause, failures }) => (cause === 'fault' ? Math.max(most, failures) : most),
      0,
    ),
    created_at: sender.createdAt,
  };
}

/** Formats a sender with the provider's reports about it, in the provider's words. */
export async function showSender(database: Database, sender: Sender): Promise<Row> {
  const { number, templates, alerts, readAt, recipients24h } = await knowledgeOf(database, sender);
  const held = await countHeldMessages(database);
  return {
    ...formatSender(sender),
    business_account_id: sender.businessAccountId,
    portfolio_id: sender.portfolioId,
    quality: number.quality?.value ?? 'UNKNOWN',
    messaging_limit: number.messagingLimit?.value ?? null,
    /** null until a worker has counted them. */
    unique_recipients_24h: recipients24h,
    held_messages_24h: held.find(({ senderId }) => senderId === sender.id)?.lastDay ?? 0,
    checked_at: readAt,
    alerts: alerts.map((alert) => pickFields(alert, 'type', 'severity', 'detail', 'at')),
    templates: templates.map(({ language, facts }) => ({
      name: sender.template,
      language,
      status: facts.status?.value ?? null,
      category: facts.category?.value ?? null,
      quality: facts.quality?.value ?? null,
      reason: facts.reason?.value ?? null,
      ttl_seconds: facts.ttlSeconds?.value ?? null,
    })),
  };
}

/** Long enough for a worker to start the read, and for five calls that time out. */
const READ_MS_MAX = 45_000;
const PAUSE_MS = 100;

export interface CheckRow extends Row {
  check: string;
  ok: boolean;
  detail: string;
}

/** Makes a worker read a sender's state from the provider. @returns a result with a remedy for each check */
export async function checkSender(database: Database, sender: Sender): Promise<CheckRow[]> {
  const results = await resultsSince(database, sender, await requestReading(database, sender.id));
  return [
    await checkOwner(database, sender),
    ...results.map(({ check, ok, text }) => ({ check, ok, detail: text })),
  ];
}

/** Checks that the account of a sender uses its own senders. */
async function checkOwner(database: Database, { accountId }: Sender): Promise<CheckRow> {
  const check = 'owner';
  const account = accountId === null ? null : await findAccount(database, accountId);
  if (account === null) return { check, ok: true, detail: 'The sender is shared between all accounts.' };
  const owner = `The sender belongs to the account ${account.name}`;
  return account.senders === 'shared'
    ? {
        check,
        ok: false,
        detail: `${owner}, which uses the shared senders: run onecode account senders ${account.id} own.`,
      }
    : { check, ok: true, detail: `${owner}.` };
}

/** Checks with the provider whether a new token is accepted. @param since when the read was requested */
export async function checkToken(
  database: Database,
  sender: Sender,
  since: Date,
): Promise<{ accepted: boolean | null; detail: string }> {
  const results = await resultsSince(database, sender, since);
  const { name, text, ok } = results.find(({ check }) => check === 'token_valid')!;
  if (name === 'not_read' || name === 'unknown') return { accepted: null, detail: text };
  const scopes = results.find(({ check }) => check === 'token_scopes')!;
  return { accepted: name !== 'token_invalid', detail: ok && !scopes.ok ? scopes.text : text };
}

async function resultsSince(
  database: Database,
  sender: Sender,
  since: Date | null,
): Promise<PreflightResult[]> {
  const readFault = await waitForRead(database, sender, since);
  const knowledge = await knowledgeOf(database, sender);
  return runPreflight(
    database,
    readFault === null ? knowledge : { ...knowledge, failures: allFailed(readFault) },
  );
}

/** Returns the results of a sender's checks, from the provider's latest reports. */
export async function runPreflight(
  database: Database,
  knowledge: SenderKnowledge,
): Promise<PreflightResult[]> {
  const { codeValiditySeconds } = await readSettings(database);
  return preflight({ ...knowledge, codeValiditySeconds, now: new Date() });
}

const allFailed = (why: string): SenderKnowledge['failures'] => ({
  number: why,
  token: why,
  businessAccount: why,
  subscription: why,
  templates: why,
});

/** Waits until a worker has made the requested read. @returns why there is none, or null */
async function waitForRead(database: Database, sender: Sender, since: Date | null): Promise<string | null> {
  if ((await countWorkers(database)) === 0) return 'No worker is running.';
  const end = performance.now() + READ_MS_MAX;
  while (since !== null && performance.now() < end) {
    const { triedAt } = await knowledgeOf(database, sender);
    if (triedAt !== null && triedAt >= since) return null;
    await wait(PAUSE_MS);
  }
  return `No worker responded within ${READ_MS_MAX / 1000} s.`;
}

async function knowledgeOf(database: Database, { id }: Sender): Promise<SenderKnowledge> {
  const [knowledge] = await listSenderKnowledge(database, id);
  if (knowledge === undefined) throw new Error('the sender was deleted');
  return knowledge;
}
