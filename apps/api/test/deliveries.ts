import { randomUUID } from 'node:crypto';
import { applyReceipt, claim, settle, simulate, type Outcome, type Receipt } from '@onecode/domain';
import { changeReportedSend, changeSend, listSenderDetails } from '@onecode/store';
import { buildSender, type TestDatabase } from '@onecode/testing';
import type { DeliveryStatus } from '@onecode/testing/contract-tests';

const POLICY = { attemptsMax: 5, backoffMs: 1000 };
const REJECTED: Outcome = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' };

const RECEIPTS = { delivered: ['delivered'], read: ['delivered', 'read'] } as const;

/**
 * Brings a queued live send to this status, through the decisions that the worker takes.
 *
 * @param receipts what the provider reports after it accepted the message
 */
export async function bringTo(
  db: TestDatabase,
  id: string,
  status: DeliveryStatus,
  receipts: readonly ('delivered' | 'read')[] = status === 'delivered' || status === 'read'
    ? RECEIPTS[status]
    : [],
): Promise<void> {
  const { database } = db;
  if (status === 'queued') return;
  const [sender = await buildSender(database)] = await listSenderDetails(database);
  const attemptId = randomUUID();
  await changeSend(database, { id }, (send, now) =>
    claim(send, now, { attemptId, leaseMs: 30_000, policy: POLICY, slot: { sender, waitMs: 0 } }),
  );
  if (status === 'sending') return;
  const messageId = `wamid.${id}`;
  const outcome: Outcome = status === 'failed' ? REJECTED : { kind: 'accepted', messageId };
  await changeSend(database, { id }, (send, now) => settle(send, now, attemptId, outcome, POLICY, 0));
  for (const status of receipts) {
    const receipt: Receipt = { messageId, attemptId, status, occurredAt: new Date(), failure: null };
    await changeReportedSend(database, { attemptId, messageId }, (send, now, attempt) =>
      applyReceipt(send, now, receipt, attempt, { policy: POLICY, claimMsMax: 30_000 }, 0),
    );
  }
}

/** Simulates the delivery of a test send, as the worker does. */
export async function simulateDelivery(db: TestDatabase, id: string): Promise<void> {
  await changeSend(db.database, { id }, simulate);
}

/** Moves a send so far into the past that its code expired a second ago. */
export async function expire(db: TestDatabase, id: string): Promise<void> {
  await db.sql(
    `update sends set created_at = created_at - (expires_at - now()) - interval '1 second',
       expires_at = now() - interval '1 second',
       verified_at = verified_at - (expires_at - now()) - interval '1 second'
     where id = $1`,
    [id],
  );
}
