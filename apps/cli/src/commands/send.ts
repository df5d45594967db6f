import { deliveryWait, GUESSES_MAX, holdMatches } from '@onecode/domain';
import {
  findSendAccount,
  findSendDetails,
  listHolds,
  logRead,
  timelineOf,
  type Hold,
  type SendDetails,
  type TimelineEvent,
} from '@onecode/store';
import { explainError } from '@onecode/whatsapp';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { id } from '../arguments.js';
import { withDatabase } from '../database.js';
import { UserError } from '../errors.js';
import { example, print, type Row } from '../output.js';

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null;

/** What staff may see of a send: whose it is, but neither its recipient nor its code. @param holds those that stop it */
function rowOf(send: SendDetails, account: { id: string; name: string }, holds: readonly Hold[]): Row {
  const wait = deliveryWait(send, holds.length > 0);
  return {
    id: send.id,
    account_id: account.id,
    account: account.name,
    application_id: send.applicationId,
    application: send.applicationName,
    mode: send.mode,
    status: send.status,
    verification: send.verification,
    country: send.country,
    locale: send.locale,
    request_id: send.requestId,
    traceparent: send.traceparent,
    channel: send.channel,
    from: send.from,
    charged_from: send.chargedFrom,
    failure_reason: send.failureReason,
    guesses_left: send.verification === 'pending' ? GUESSES_MAX - send.wrongGuesses : 0,
    awaiting_sender: send.awaitingSender,
    due_at: timeOf(send.dueAt),
    waits_for: wait?.for ?? null,
    waits_until: timeOf(wait?.until ?? null),
    holds: holds.map(({ kind, target, reason, since }) => ({
      since: since.toISOString(),
      kind,
      target,
      reason,
    })),
    lost_at: timeOf(send.lostAt),
    created_at: send.createdAt.toISOString(),
    expires_at: send.expiresAt.toISOString(),
    sent_at: timeOf(send.sentAt),
    delivered_at: timeOf(send.deliveredAt),
    read_at: timeOf(send.readAt),
    verified_at: timeOf(send.verifiedAt),
    failed_at: timeOf(send.failedAt),
    refunded_at: timeOf(send.units.find(({ kind }) => kind === 'returned')?.at ?? null),
    wrong_guesses: send.wrongGuessTimes.map((at) => at.toISOString()),
    denied_at: send.deniedAt.map((at) => at.toISOString()),
    identity_changed_at: timeOf(send.identityChangedAt),
    attempts: send.attempts.map((attempt) => ({
      number: attempt.number,
      started_at: attempt.startedAt.toISOString(),
      finished_at: timeOf(attempt.finishedAt),
      outcome: attempt.outcome,
      error_code: attempt.errorCode,
      sender: attempt.senderNumber,
      is_own_sender: attempt.isOwnSender,
    })),
    receipts: send.receipts.map((receipt) => ({
      attempt: receipt.attempt,
      occurred_at: receipt.occurredAt.toISOString(),
      status: receipt.status,
      error_code: receipt.errorCode,
    })),
    units: send.units.map(({ kind, bucket, at }) => ({ at: at.toISOString(), kind, bucket })),
    timeline: timelineOf(send).map(eventOf),
  };
}

/** An event with its time, its kind and what else is known of it: of a provider's error also what it means and what to do. */
function eventOf(event: TimelineEvent): Readonly<Record<string, unknown>> {
  const { at, kind, ...facts } = event;
  const named = Object.entries(facts).map(([name, value]): [string, unknown] => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { at: at.toISOString(), event: kind, ...Object.fromEntries(named), ...explanationOf(event) };
}

function explanationOf(event: TimelineEvent): Row {
  if (!('outcome' in event) || event.outcome === null || event.outcome === 'accepted') return {};
  const { meaning, remedy } = explainError(event.errorCode, event.outcome);
  return { meaning: meaning.english, remedy: remedy.english };
}

export function addSendCommands(program: Command): void {
  program
    .command('send')
    .description('sends: one code to one recipient')
    .addHelpText('after', example('send show ID'))
    .command('show')
    .description(
      'show the whole story of a send, without its recipient and its code; the audit log records it',
    )
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
        return rowOf(send, account, matching);
      });
      print(command, row, { apart: 'timeline' });
    });
}
