import { GUESSES_MAX } from '@onecode/domain';
import type { Hold } from '@onecode/store/holds';
import { logRead } from '@onecode/store/operations';
import {
  findSendAccount,
  findSendDetails,
  buildTimeline,
  deliveryWait,
  type SendDetails,
  type TimelineEvent,
  listHoldsOf,
} from '@onecode/store/reports';
import { explainError } from '@onecode/whatsapp';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { commandGroup, id } from '../arguments.js';
import { withDatabase } from '../database.js';
import { UserError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

/** Formats what staff may see of a send: its account, but not its recipient or code. @param holds the holds that match it */
function formatSend(send: SendDetails, account: { id: string; name: string }, holds: readonly Hold[]): Row {
  const wait = deliveryWait(send, holds.length > 0);
  return {
    id: send.id,
    account_id: account.id,
    account: account.name,
    application_id: send.applicationId,
    application: send.applicationName,
    ...pickFields(send, 'mode', 'status', 'verification', 'country', 'locale', 'requestId', 'traceparent'),
    ...pickFields(send, 'channel', 'from', 'chargedFrom', 'failureReason'),
    guesses_left: send.verification === 'pending' ? GUESSES_MAX - send.wrongGuesses : 0,
    ...pickFields(send, 'phase', 'dueAt'),
    waits_for: wait?.for ?? null,
    waits_until: wait?.until ?? null,
    holds: holds.map((hold) => pickFields(hold, 'since', 'kind', 'target', 'reason')),
    ...pickFields(send, 'createdAt', 'expiresAt', 'sentAt', 'deliveredAt', 'readAt'),
    ...pickFields(send, 'verifiedAt', 'failedAt'),
    refunded_at: send.units.find(({ kind }) => kind === 'returned')?.at ?? null,
    reclaimed_at: send.units.find(({ kind }) => kind === 'reclaimed')?.at ?? null,
    wrong_guesses: send.wrongGuessTimes,
    ...pickFields(send, 'deniedAt', 'identityChangedAt'),
    attempts: send.attempts.map((attempt) => ({
      ...pickFields(attempt, 'number', 'startedAt', 'finishedAt', 'outcome', 'errorCode', 'messageStatus'),
      sender: attempt.senderNumber,
      is_own_sender: attempt.isOwnSender,
    })),
    receipts: send.receipts.map((receipt) =>
      pickFields(receipt, 'attempt', 'occurredAt', 'status', 'errorCode'),
    ),
    units: send.units.map((unit) => pickFields(unit, 'at', 'kind', 'bucket')),
    timeline: buildTimeline(send).map(formatEvent),
  };
}

/** Formats a timeline event; a provider error includes its meaning and remedy. */
function formatEvent(event: TimelineEvent): Row {
  const { at, kind, ...facts } = event;
  const names = Object.keys(facts) as (keyof typeof facts)[];
  return { at, event: kind, ...pickFields(facts, ...names), ...explain(event) };
}

function explain(event: TimelineEvent): Row {
  if (!('outcome' in event) || event.outcome === null || event.outcome === 'accepted') return {};
  const { meaning, remedy } = explainError(event.errorCode, event.outcome);
  return { meaning, remedy };
}

export function addSendCommands(program: Command): void {
  const add = commandGroup(program, 'send', 'sends: one code to one recipient each', 'send show ID');
  add('show', 'show the timeline of a send, without its recipient and code; the audit log records the read')
    .argument('<id>', 'the send', id('the send'))
    .addHelpText('after', example('send show ID'))
    .action(async (sendId: string, _options: object, command: Command) => {
      const row = await withDatabase(async (database) => {
        const account = await findSendAccount(database, sendId);
        const send = account && (await findSendDetails(database, account.id, sendId));
        if (!send) throw new UserError('there is no send with this id');
        await logRead(database, actor(), { action: 'send.read', accountId: account.id, subject: sendId });
        return formatSend(send, account, await listHoldsOf(database, sendId));
      });
      print(command, row, { apart: 'timeline' });
    });
}
