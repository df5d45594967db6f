import type { SendView } from '@onecode/testing';
import type { Creation, Guess, Judgement, LedgerRow, Look, SendRow } from '../evidence.js';
import type { GoodRun } from './goodRun.js';

/** An id that no run has. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-999999999999';

export const creationsOf = ({ draft }: GoodRun, { id }: SendRow): Creation[] =>
  draft.history
    .filter((event) => event.kind === 'create')
    .filter(({ reply }) => reply.kind === 'answer' && reply.body.id === id);
export const looksAt = ({ draft }: GoodRun, { id }: SendRow): Look[] =>
  draft.history.filter((event) => event.kind === 'status').filter(({ sendId }) => sendId === id);
export const guessesAt = ({ draft }: GoodRun, { id }: SendRow): Guess[] =>
  draft.history.filter((event) => event.kind === 'verify').filter(({ sendId }) => sendId === id);

/** Changes what an event was answered with. */
export function show(event: Creation | Look | undefined, change: Partial<SendView>): void {
  if (event?.reply.kind !== 'answer') throw new Error('there is no such answer');
  event.reply = { ...event.reply, body: { ...event.reply.body, ...change } };
}
export function judge(event: Guess | undefined, change: Partial<Judgement>): void {
  if (event?.reply.kind !== 'answer') throw new Error('there is no such answer');
  event.reply = { ...event.reply, body: { ...event.reply.body, ...change } };
}

export const refusal = ({ draft }: GoodRun, status: number): Creation => {
  const found = draft.history
    .filter((event) => event.kind === 'create')
    .find(({ reply }) => reply.kind === 'problem' && reply.status === status);
  if (found === undefined) throw new Error('nothing was refused so');
  return found;
};
export const entries = ({ draft }: GoodRun, { id }: SendRow, kind: LedgerRow['kind']): LedgerRow[] =>
  draft.rows.ledger.filter((entry) => entry.sendId === id && entry.kind === kind);
export const account = ({ draft, accountId }: GoodRun): GoodRun['draft']['rows']['accounts'][number] =>
  draft.rows.accounts.find(({ id }) => id === accountId)!;
export const attemptsOf = ({ draft }: GoodRun, { id }: SendRow): GoodRun['draft']['rows']['attempts'] =>
  draft.rows.attempts.filter(({ sendId }) => sendId === id);
export const messagesOf = (run: GoodRun, row: SendRow): GoodRun['draft']['provider']['messages'] =>
  run.draft.provider.messages.filter(({ opaque }) => attemptsOf(run, row).some(({ id }) => id === opaque));
export const requestOf = (
  run: GoodRun,
  messageId: string,
): GoodRun['draft']['provider']['requests'][number] =>
  run.draft.provider.requests.find((request) => request.messageId === messageId)!;

export function addAttempt(
  { draft }: GoodRun,
  { id }: SendRow,
  outcome: string | null,
  startedAt: number,
  finishedAt = outcome === null ? null : startedAt + 1,
): void {
  const attemptId = `${UNKNOWN_ID.slice(0, -6)}${String(draft.rows.attempts.length).padStart(6, '0')}`;
  const attempt = {
    id: attemptId,
    sendId: id,
    senderId: '1',
    outcome,
    messageId: null,
    startedAt,
    finishedAt,
  };
  draft.rows.attempts.push(attempt);
}
