import { applyReceipt, claim, hashesOf, settle, type Outcome, type Receipt } from '@onecode/domain';
import {
  changeReportedSend,
  changeSend,
  newId,
  storeReceipts,
  verifySend,
  type Database,
  type Sender,
} from '@onecode/store';
import { TEST_PEPPER } from '@onecode/testing';

const POLICY = { attemptsMax: 5, backoffMs: 0 };
const LEASE_MS = 15_000;

/** One call to the provider for a send, as a worker would make it. Without a sender the send waits for one. */
export async function attempt(
  database: Database,
  sendId: string,
  sender: Sender | null,
  outcome: Outcome,
): Promise<string> {
  const attemptId = newId();
  const slot = sender && { sender, waitMs: 0 };
  const offer = { attemptId, leaseMs: LEASE_MS, policy: POLICY, slot };
  await changeSend(database, { id: sendId }, (send, now) => claim({ ...send, dueAt: null }, now, offer));
  if (sender !== null)
    await changeSend(database, { id: sendId }, (send, now) =>
      settle(send, now, attemptId, outcome, POLICY, 0),
    );
  return attemptId;
}

/** What the provider reports on a message, stored and applied. */
export async function report(
  database: Database,
  attemptId: string,
  receipt: Pick<Receipt, 'messageId' | 'status' | 'failure'>,
): Promise<void> {
  const whole: Receipt = { ...receipt, attemptId, occurredAt: new Date() };
  await storeReceipts(database, [whole]);
  await changeReportedSend(database, whole, (send, now, reported) =>
    applyReceipt(send, now, whole, reported, { policy: POLICY, claimMsMax: LEASE_MS }, 0),
  );
}

/** What somebody types. @returns whether it was right */
export async function type(database: Database, sendId: string, guess: string): Promise<boolean> {
  const send = await database.prisma.send.findUniqueOrThrow({ where: { id: sendId } });
  const { accountId } = send;
  const judged = await verifySend(database, {
    id: sendId,
    accountId,
    hashes: hashesOf(TEST_PEPPER, sendId, guess),
  });
  return judged?.valid === true;
}
