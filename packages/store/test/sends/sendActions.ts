import {
  claim,
  failure,
  hashesOf,
  settle,
  type ClaimOffer,
  type Decision,
  type Judgement,
  type Outcome,
  type Send,
} from '@onecode/domain';
import { changeSend, findSend, verifySend, type Sender } from '@onecode/store';
import {
  buildSend,
  TEST_PEPPER,
  type SendOptions,
  type TestCaller,
  type TestDatabase,
} from '@onecode/testing';

export const CODE = '042913';
const POLICY = { attemptsMax: 5, backoffMs: 1000 };
const LEASE_MS = 15_000;

type Store = Pick<TestDatabase, 'database' | 'sql'>;

export const accepted = (messageId: string): Outcome => ({ kind: 'accepted', messageId });

/** What the tests of `changeSend` read and change in a store. */
export function sendActions(store: Store) {
  const read = async (caller: TestCaller, id: string): Promise<Send> =>
    (await findSend(store.database, caller.accountId, id))!.send;
  const version = async (id: string): Promise<number> =>
    (await store.sql<{ version: number }>('select version from sends where id = $1', [id]))[0]!.version;
  const attemptsOf = (id: string) =>
    store.sql(
      'select number, sender_id, outcome, error_code, message_id from attempts where send_id = $1 order by number',
      [id],
    );
  const returnedOf = (id: string) =>
    store.sql(`select bucket, units from ledger_entries where send_id = $1 and kind = 'returned'`, [id]);

  const verify = async ({ accountId }: TestCaller, id: string, guess: string): Promise<Judgement> => {
    const judged = await verifySend(store.database, {
      id,
      accountId,
      hashes: hashesOf(TEST_PEPPER, id, guess),
    });
    const { traceparent: _, ...judgement } = judged!;
    return judgement;
  };

  const fail = (id: string) =>
    changeSend(store.database, { id }, (send, now): Decision<string> =>
      send.status === 'failed'
        ? { result: 'failed before' }
        : { result: 'failed now', change: failure('rejected_by_provider', now) },
    );

  /** As if the send had been made that much earlier. */
  const age = (id: string, seconds: number) =>
    store.sql(
      `update sends set created_at = created_at - make_interval(secs => $2), expires_at = expires_at - make_interval(secs => $2)
       where id = $1`,
      [id, seconds],
    );

  /** Makes a send that waits for a sender. @returns its id */
  async function waiting(caller: TestCaller, wishes: SendOptions = {}): Promise<string> {
    const id = await buildSend(store.database, caller, wishes);
    await changeSend(store.database, { id }, (send) => ({
      result: null,
      change: { awaitingSender: true, dueAt: send.expiresAt },
    }));
    return id;
  }

  return { read, version, attemptsOf, returnedOf, verify, fail, age, waiting };
}

/** A worker that claims sends for one sender and writes the outcomes of its attempts. */
export function workerActions(store: Store, sender: () => Sender) {
  const offer = (): ClaimOffer => ({
    leaseMs: LEASE_MS,
    policy: POLICY,
    slot: { sender: sender(), waitMs: 0 },
  });
  const claimSend = (id: string) =>
    changeSend(store.database, { id }, (send, now) => claim(send, now, offer()));
  const settleSend = (id: string, attempt: number, outcome: Outcome) =>
    changeSend(store.database, { id }, (send, now) => settle(send, now, attempt, outcome, POLICY, 0));

  return { claimSend, settleSend };
}
