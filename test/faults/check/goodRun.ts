import type { SendRow } from '../evidence.js';
import { ServiceModel, VALIDITY_MS, type CreationInput, type Draft } from './serviceModel.js';

/** A run that keeps every promise, with its sends by their outcome. */
export interface GoodRun {
  draft: Draft;
  accountId: string;
  /** Sent by its second attempt, both messages delivered. Its creation is repeated; a wrong guess and two right ones follow. */
  verified: SendRow;
  /** With an idempotency key, and delivered. */
  delivered: SendRow;
  /** With its own code, wrong guesses until it locks and one lost guess; its delivery was seen by no client. */
  locked: SendRow;
  /** Its status was read before its deadline and twice after it. */
  expired: SendRow;
  /** Sent, then reported as failed; a client saw it. */
  failed: SendRow;
  /** Failed in the same way; no client saw it. */
  failedUnseen: SendRow;
  /** Failed in the same way and verified afterwards: its unit was reclaimed. */
  reclaimed: SendRow;
  /** With its own code, verified before it was sent; it failed and no client saw it. */
  unsent: SendRow;
  /** Waits for a sender; without an idempotency key. */
  waiting: SendRow;
  /** In test mode; its status was not read after its verification. */
  test: SendRow;
}

export function goodRun(): GoodRun {
  const model = new ServiceModel();
  const accountId = model.addAccount(2, 20);
  const create = (input: Partial<CreationInput> = {}, isLost = false): SendRow => {
    const row = model.create({ accountId, ...input }, isLost);
    if (row === null) throw new Error('the account has no units left');
    return row;
  };
  const reportAll = (row: SendRow, ...statuses: ('sent' | 'delivered' | 'failed')[]): void => {
    const { attempts } = model.draft.rows;
    const own = model.draft.provider.messages.filter(({ opaque }) =>
      attempts.some(({ id, sendId }) => id === opaque && sendId === row.id),
    );
    for (const message of own) for (const status of statuses) model.report(message, status);
  };

  const expired = create();
  model.attempt(expired, 'accepted');
  reportAll(expired, 'delivered');
  model.readStatus(expired);
  model.passTime(VALIDITY_MS + 5_000);
  model.readStatus(expired);
  model.guess(expired, true);
  model.readStatus(expired);

  const verified = create({ idempotencyKey: 'key-1' }, true);
  model.repeat(verified);
  model.repeat(verified, true);
  model.attempt(verified, 'answer_lost');
  model.attempt(verified, 'accepted');
  model.readStatus(verified);
  reportAll(verified, 'sent', 'delivered');
  model.readStatus(verified);
  model.guess(verified, false);
  model.guess(verified, true);
  model.guess(verified, true);
  model.readStatus(verified);

  const delivered = create({ idempotencyKey: 'key-2' });
  model.attempt(delivered, 'accepted');
  reportAll(delivered, 'sent', 'delivered');
  model.readStatus(delivered);

  const locked = create({ ownCode: '4711' });
  model.attempt(locked, 'retry');
  model.attempt(locked, 'sender');
  model.attempt(locked, 'accepted');
  for (let guess = 0; guess < 6; guess++) model.guess(locked, false);
  model.guess(locked, true, true);
  reportAll(locked, 'sent', 'delivered');

  const failed = create();
  const failedUnseen = create();
  for (const row of [failed, failedUnseen]) {
    model.attempt(row, 'accepted');
    reportAll(row, 'failed');
  }
  model.readStatus(failed);
  model.readStatus(failed);

  const reclaimed = create();
  model.attempt(reclaimed, 'accepted');
  reportAll(reclaimed, 'failed');
  model.guess(reclaimed, true);

  const unsent = create({ ownCode: '4712' });
  model.guess(unsent, true);
  model.passTime(50);

  const waiting = create();
  model.awaitSender(waiting);
  model.readStatus(waiting);

  const test = create({ mode: 'test' });
  model.simulate(test);
  model.guess(test, true);

  const emptyId = model.addAccount(0, 1);
  model.create({ accountId: emptyId });
  model.create({ accountId: emptyId });
  const draft = model.settle();
  return {
    draft,
    accountId,
    verified,
    delivered,
    locked,
    expired,
    failed,
    failedUnseen,
    reclaimed,
    unsent,
    waiting,
    test,
  };
}
