import { deliveryWait, GUESSES_MAX, holdMatches } from '@onecode/domain';
import { listHolds, type Hold } from '@onecode/store/holds';
import { logRead } from '@onecode/store/operations';
import {
  findSendAccount,
  findSendDetails,
  buildTimeline,
  type SendDetails,
  type TimelineEvent,
} from '@onecode/store/reports';
import { explainError } from '@onecode/whatsapp';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { commandGroup, id } from '../arguments.js';
import { withDatabase } from '../database.js';
import { UserError } from '../errors.js';
import { example, fieldsOf, print, type Row } from '../output.js';

/** What staff may see of a send: whose it is, but neither its recipient nor its code. @param holds those that stop it */
function formatSend(send: SendDetails, account: { id: string; name: string }, holds: readonly Hold[]): Row {
  const wait = deliveryWait(send, holds.length > 0);
  return {
    id: send.id,
    account_id: account.id,
    account: account.name,
    application_id: send.applicationId,
    application: send.applicationName,
    ...fieldsOf(send, 'mode', 'status', 'verification', 'country', 'locale', 'requestId', 'traceparent'),
    ...fieldsOf(send, 'channel', 'from', 'chargedFrom', 'failureReason'),
    guesses_left: send.verification === 'pending' ? GUESSES_MAX - send.wrongGuesses : 0,
    ...fieldsOf(send, 'phase', 'dueAt'),
    waits_for: wait?.for ?? null,
    waits_until: wait?.until ?? null,
    holds: holds.map((hold) => fieldsOf(hold, 'since', 'kind', 'target', 'reason')),
    ...fieldsOf(send, 'createdAt', 'expiresAt', 'sentAt', 'deliveredAt', 'readAt'),
    ...fieldsOf(send, 'verifiedAt', 'failedAt'),
    refunded_at: send.units.find(({ kind }) => kind === 'returned')?.at ?? null,
    reclaimed_at: send.units.find(({ kind }) => kind === 'reclaimed')?.at ?? null,
    wrong_guesses: send.wrongGuessTimes,
    ...fieldsOf(send, 'deniedAt', 'identityChangedAt'),
    attempts: send.attempts.map((attempt) => ({
      ...fieldsOf(attempt, 'number', 'startedAt', 'finishedAt', 'outcome', 'errorCode'),
      sender: attempt.senderNumber,
      is_own_sender: attempt.isOwnSender,
    })),
    receipts: send.receipts.map((receipt) =>
      fieldsOf(receipt, 'attempt', 'occurredAt', 'status', 'errorCode'),
    ),
    units: send.units.map((unit) => fieldsOf(unit, 'at', 'kind', 'bucket')),
    timeline: buildTimeline(send).map(eventOf),
  };
}

/** An event with its time, its kind and what else is known of it: of a provider's error also what it means and what to do. */
function eventOf(event: TimelineEvent): Row {
  const { at, kind, ...facts } = event;
  const names = Object.keys(facts) as (keyof typeof facts)[];
  return { at, event: kind, ...fieldsOf(facts, ...names), ...explanationOf(event) };
}

function explanationOf(event: TimelineEvent): Row {
  if (!('outcome' in event) || event.outcome === null || event.outcome === 'accepted') return {};
  const { meaning, remedy } = explainError(event.errorCode, event.outcome);
  return { meaning: meaning.english, remedy: remedy.english };
}

export function addSendCommands(program: Command): void {
  const add = commandGroup(program, 'send', 'sends: one code to one recipient', 'send show ID');
  add('show', 'show the whole story of a send, without its recipient and its code; the audit log records it')
    .argument('<id>', 'the send', id('the send'))
    .addHelpText('after', example('send show ID'))
    .action(async (sendId: string, _options: object, command: Command) => {
      const row = await withDatabase(async (database) => {
        const account = await findSendAccount(database, sendId);
        const send = account && (await findSendDetails(database, account.id, sendId));
        if (!send) throw new UserError('there is no send with this id');
        await logRead(database, actor(), { action: 'send.read', accountId: account.id, subject: sendId });
        const holds = send.mode === 'live' && send.dueAt !== null ? await listHolds(database) : [];
        const matching = holds.filter((hold) => holdMatches(hold, { ...send, accountId: account.id }));
        return formatSend(send, account, matching);
      });
      print(command, row, { apart: 'timeline' });
    });
}
