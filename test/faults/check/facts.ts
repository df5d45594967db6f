import type { Message, RequestRecord } from '@onecode/simulator';
import type { SendView } from '@onecode/testing';
import type { AttemptRow, Creation, Evidence, Guess, LedgerRow, ReceiptRow, SendRow } from '../evidence.js';

/** One promise of the service, and how to find where it was broken. */
export interface Invariant {
  name: string;
  promise: string;
  /** A line for each breach: ids and states only. */
  find: (facts: Facts) => string[];
}

/** One time that a client was shown something of a send; `view` is null where only a judgement was. */
export interface Sight {
  startedAt: number;
  endedAt: number;
  view: SendView | null;
  verification: string;
}

/** All that is known of one send that is in the database. */
export interface SendFacts {
  row: SendRow;
  attempts: AttemptRow[];
  ledger: LedgerRow[];
  /** The provider's messages that carry an attempt of this send. */
  messages: Message[];
  /** The provider's requests that carry one. */
  requests: RequestRecord[];
  receipts: ReceiptRow[];
  /** Answered with this send. */
  creations: Creation[];
  /** In the order in which they began. */
  sights: Sight[];
  guesses: Guess[];
}

/** The evidence, put in order by send. */
export interface Facts extends Evidence {
  sends: SendFacts[];
  sendById: Map<string, SendFacts>;
  sendIdByAttempt: Map<string, string>;
  creations: Creation[];
  /** The creations of each idempotency key, by application and key. */
  creationsByKey: Map<string, Creation[]>;
}

export function factsOf(evidence: Evidence): Facts {
  const { rows, provider, history } = evidence;
  const attempts = groupBy(rows.attempts, ({ sendId }) => sendId);
  const ledger = groupBy(rows.ledger, ({ sendId }) => sendId ?? '');
  const sendIdByAttempt = new Map(rows.attempts.map(({ id, sendId }) => [id, sendId]));
  const sendIdOf = (opaque: string | null): string => sendIdByAttempt.get(opaque ?? '') ?? '';
  const messages = groupBy(provider.messages, ({ opaque }) => sendIdOf(opaque));
  const requests = groupBy(provider.requests, ({ opaque }) => sendIdOf(opaque));
  const attemptByMessage = new Map(provider.messages.map(({ id, opaque }) => [id, opaque]));
  const receipts = groupBy(rows.receipts, (receipt) =>
    sendIdOf(receipt.attemptId ?? attemptByMessage.get(receipt.messageId) ?? null),
  );

  const creations = history.filter((event) => event.kind === 'create');
  const answered = groupBy(creations, ({ reply }) => (reply.kind === 'answer' ? reply.body.id : ''));
  const looks = groupBy(
    history.filter((event) => event.kind === 'status'),
    ({ sendId }) => sendId,
  );
  const guesses = groupBy(
    history.filter((event) => event.kind === 'verify'),
    ({ sendId }) => sendId,
  );

  const sends = rows.sends.map((row): SendFacts => {
    const own = { creations: answered.get(row.id) ?? [], guesses: guesses.get(row.id) ?? [] };
    return {
      ...own,
      row,
      attempts: attempts.get(row.id) ?? [],
      ledger: ledger.get(row.id) ?? [],
      messages: messages.get(row.id) ?? [],
      requests: requests.get(row.id) ?? [],
      receipts: receipts.get(row.id) ?? [],
      sights: [...own.creations, ...(looks.get(row.id) ?? []), ...own.guesses]
        .flatMap(sightOf)
        .toSorted((one, other) => one.startedAt - other.startedAt),
    };
  });
  return {
    ...evidence,
    sends,
    sendById: new Map(sends.map((send) => [send.row.id, send])),
    sendIdByAttempt,
    creations,
    creationsByKey: groupBy(
      creations.filter(({ idempotencyKey }) => idempotencyKey !== null),
      (creation) => keyName(creation.applicationId, creation.idempotencyKey as string),
    ),
  };
}

function sightOf({ startedAt, endedAt, reply }: Evidence['history'][number]): Sight[] {
  if (reply.kind !== 'answer') return [];
  const { body } = reply;
  return [{ startedAt, endedAt, view: 'id' in body ? body : null, verification: body.verification }];
}

/** An application's idempotency key, whose bytes are ASCII in these runs. */
export const keyName = (applicationId: string, key: string): string => `${applicationId} ${key}`;

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** An invariant of each send by itself: `find` answers what is wrong with it, and nothing when all is well. */
export function ofEachSend(
  name: string,
  promise: string,
  find: (send: SendFacts, facts: Facts) => (string | false)[],
): Invariant {
  return {
    name,
    promise,
    find: (facts) =>
      facts.sends.flatMap((send) =>
        find(send, facts)
          .filter((wrong) => wrong !== false)
          .map((wrong) => `send ${send.row.id}: ${wrong}`),
      ),
  };
}

/** Whether the request may have been carried out: it was answered so, or nobody knows. */
export function mayHaveHappened({ reply }: { reply: Evidence['history'][number]['reply'] }): boolean {
  return reply.kind === 'answer' || isIndeterminate({ reply });
}

/** Whether the client cannot know what became of its request. */
export function isIndeterminate({ reply }: { reply: Evidence['history'][number]['reply'] }): boolean {
  return reply.kind === 'lost' || (reply.kind === 'problem' && reply.status >= 500);
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
