import { Model, type Asked, type Course } from './model.js';
import { LIFE_MS, type Draft } from './modelService.js';
import type { SendRow } from '../evidence.js';

/** A run in which every promise was kept, and the sends in it by what became of them. */
export interface GoodRun {
  draft: Draft;
  accountId: string;
  /** Sent by its second attempt, both messages delivered; repeated; a wrong guess, the right one, and again. */
  verified: SendRow;
  /** Created like `verified`, and delivered. */
  delivered: SendRow;
  /** With a code of its own, five wrong guesses and one that was lost; delivered, and no client saw that. */
  locked: SendRow;
  /** Looked at before its deadline, and twice after it. */
  expired: SendRow;
  /** Sent, and then reported as failed, as a client saw. */
  failed: SendRow;
  /** Failed too, and no client saw that. */
  failedUnseen: SendRow;
  /** With a code of its own, verified before it was sent; it has failed, and no client saw that. */
  unsent: SendRow;
  /** Waits for a sender; without a key. */
  waiting: SendRow;
  /** In test mode; verified, and not looked at after that. */
  test: SendRow;
}

export function goodRun(): GoodRun {
  const model = new Model();
  const accountId = model.account(2, 20);
  const create = (asked: Partial<Asked> = {}, course: Course = {}): SendRow => {
    const row = model.create({ accountId, ...asked }, course);
    if (row === null) throw new Error('the account is empty');
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
  model.look(expired);
  model.pass(LIFE_MS + 5_000);
  model.look(expired);
  model.guess(expired, true);
  model.look(expired);

  const verified = create({ idempotencyKey: 'key-1' }, { lost: true });
  model.repeat(verified);
  model.repeat(verified, {}, true);
  model.attempt(verified, 'unheard');
  model.attempt(verified, 'accepted');
  model.look(verified);
  reportAll(verified, 'sent', 'delivered');
  model.look(verified);
  model.guess(verified, false);
  model.guess(verified, true);
  model.guess(verified, true);
  model.look(verified);

  const delivered = create({ idempotencyKey: 'key-2' });
  model.attempt(delivered, 'accepted');
  reportAll(delivered, 'sent', 'delivered');
  model.look(delivered);

  const locked = create({ ownCode: '4711' });
  model.attempt(locked, 'retry');
  model.attempt(locked, 'sender');
  model.attempt(locked, 'accepted');
  for (let guess = 0; guess < 6; guess++) model.guess(locked, false);
  model.guess(locked, true, { lost: true });
  reportAll(locked, 'sent', 'delivered');

  const failed = create();
  const failedUnseen = create();
  for (const row of [failed, failedUnseen]) {
    model.attempt(row, 'accepted');
    reportAll(row, 'failed');
  }
  model.look(failed);
  model.look(failed);

  const unsent = create({ ownCode: '4712' });
  model.guess(unsent, true);
  model.pass(50);

  const waiting = create();
  model.await(waiting);
  model.look(waiting);

  const test = create({ mode: 'test' });
  model.simulate(test);
  model.guess(test, true);

  const poorId = model.account(0, 1);
  model.create({ accountId: poorId });
  model.create({ accountId: poorId });
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
    unsent,
    waiting,
    test,
  };
}
