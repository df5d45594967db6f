import { randomUUID } from 'node:crypto';
import { applyReceipt, claim, settle, simulate, type Outcome, type Receipt } from '@onecode/domain';
import { changeReportedSend, changeSend, listSenderDetails } from '@onecode/store';
import { buildSender, type TestDatabase } from '@onecode/store/testing';

const POLICY = { attemptsMax: 5, backoffMs: 1000 };
const REJECTED: Outcome = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' };

/** How far a worker and the provider have brought a send. */
export type Stage = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed';

/** Brings a queued live send to a stage, through the same decisions as the worker. */
export async function bringTo(store: TestDatabase, id: string, stage: Stage): Promise<void> {
  const { database } = store;
  if (stage === 'queued') return;
  const [sender = await buildSender(database)] = await listSenderDetails(database);
  const attemptId = randomUUID();
  await changeSend(database, { id }, (send, now) =>
    claim(send, now, { attemptId, leaseMs: 30_000, policy: POLICY, slot: { sender, waitMs: 0 } }),
  );
  if (stage === 'sending') return;
  const messageId = `wamid.${id}`;
  const outcome: Outcome = stage === 'failed' ? REJECTED : { kind: 'accepted', messageId };
  await changeSend(database, { id }, (send, now) => settle(send, now, attemptId, outcome, POLICY, 0));
  if (stage !== 'delivered' && stage !== 'read') return;
  const receipt: Receipt = { messageId, attemptId, status: stage, occurredAt: new Date(), failure: null };
  await changeReportedSend(database, { attemptId, messageId }, (send, now, attempt) =>
    applyReceipt(send, now, receipt, attempt, 30_000),
  );
}

/** Ends a test send, as the worker does. */
export async function finishSandbox(store: TestDatabase, id: string): Promise<void> {
  await changeSend(store.database, { id }, simulate);
}

/** Makes a send old enough for its deadline to have come. */
export async function expire(store: TestDatabase, id: string): Promise<void> {
  await store.sql(
    `update sends set created_at = created_at - (expires_at - now()) - interval '1 second',
       expires_at = now() - interval '1 second',
       verified_at = verified_at - (expires_at - now()) - interval '1 second'
     where id = $1`,
    [id],
  );
}
