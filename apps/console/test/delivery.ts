import { matchesCode, settle, type AttemptName, type Outcome, type Receipt } from '@onecode/domain';
import { claim } from '@onecode/testing/claim-model';
import type { Database } from '@onecode/store/client';
import type { Sender } from '@onecode/store/senders';
import { changeSend } from '@onecode/store/sends';
import { applyTestReports, guessCode, TEST_PEPPER } from '@onecode/testing';

const POLICY = { attemptsMax: 5, backoffMs: 0 };
const LEASE_MS = 15_000;

/** Makes one call to the provider for a send, as a worker does. Without a sender, the send waits for one. */
export async function attempt(
  database: Database,
  sendId: string,
  sender: Sender | null,
  outcome: Outcome,
): Promise<AttemptName> {
  const permit = sender && { sender, waitMs: 0 };
  const offer = { leaseMs: LEASE_MS, policy: POLICY, permit };
  const number = await changeSend(database, { id: sendId }, (send, now) => ({
    ...claim({ ...send, dueAt: null }, now, offer),
    result: send.attemptNumber + 1,
  }));
  if (number === null) throw new Error('there is no such send');
  if (sender !== null)
    await changeSend(database, { id: sendId }, (send, now) => settle(send, now, number, outcome, POLICY));
  return { sendId, number };
}

/** Applies a receipt of the provider for a message. */
export async function report(
  database: Database,
  which: AttemptName,
  receipt: Pick<Receipt, 'messageId' | 'status' | 'failure'>,
): Promise<void> {
  await applyTestReports(database, { receipts: [{ ...receipt, attempt: which, occurredAt: new Date() }] });
}

/** Verifies a typed code. @returns whether it was right */
export async function type(database: Database, sendId: string, guess: string): Promise<boolean> {
  const { codeHash } = await database.prisma.send.findUniqueOrThrow({ where: { id: sendId } });
  const isRight = matchesCode(TEST_PEPPER, sendId, guess, codeHash);
  return (await guessCode(database, sendId, isRight)).valid;
}
