import type { Message, RequestRecord } from '@onecode/simulator';
import type { SendView } from '@onecode/testing';
import type { AttemptRow, Creation, Evidence, Guess, LedgerRow, SendRow } from '../evidence.js';

/** Guarantees of the service by name, each with a function that returns a line per violation, with only ids and states. */
export type Invariants = Readonly<Record<string, (facts: Facts) => string[]>>;

/** The content of an answer to a client about a send. `view` is null for the answer to a guess. */
export interface Observation {
  startedAt: number;
  endedAt: number;
  view: SendView | null;
  verification: string;
}

/** Everything that is known about one send in the database. */
export interface SendFacts {
  row: SendRow;
  attempts: AttemptRow[];
  ledger: LedgerRow[];
  /** The provider's messages that name an attempt of this send. */
  messages: Message[];
  /** The requests to the provider that name one. */
  requests: RequestRecord[];
  /** Answered with this send. */
  creations: Creation[];
  /** Ordered by the start of their requests. */
  observations: Observation[];
  guesses: Guess[];
}

/** Whether a call for the send, or its failure without one, is still to come. */
export const isDelivering = ({ phase }: SendRow): boolean => phase !== 'unconfirmed' && phase !== 'done';

/** The evidence, grouped by send. */
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

  const creations = history.filter((event) => event.kind === 'create');
  const answered = groupBy(creations, ({ reply }) => (reply.kind === 'answer' ? reply.body.id : ''));
  const statusRequests = groupBy(
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
      observations: [...own.creations, ...(statusRequests.get(row.id) ?? []), ...own.guesses]
        .flatMap(observationOf)
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

function observationOf({ startedAt, endedAt, reply }: Evidence['history'][number]): Observation[] {
  if (reply.kind !== 'answer') return [];
  const { body } = reply;
  return [{ startedAt, endedAt, view: 'id' in body ? body : null, verification: body.verification }];
}

/** Identifies an application's idempotency key, which is ASCII in these runs. */
export const keyName = (applicationId: string, key: string): string => `${applicationId} ${key}`;

export function groupBy<T>(items: readonly T[], getKey: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = getKey(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** An invariant of single sends. `find` returns the violation of a send. */
export const ofEachSend =
  (find: (send: SendFacts, facts: Facts) => (string | false)[]): Invariants[string] =>
  (facts) =>
    facts.sends.flatMap((send) =>
      find(send, facts)
        .filter((wrong) => wrong !== false)
        .map((wrong) => `send ${send.row.id}: ${wrong}`),
    );

/** Whether the request was carried out, or may have been. */
export function mayHaveHappened({ reply }: { reply: Evidence['history'][number]['reply'] }): boolean {
  return reply.kind === 'answer' || isIndeterminate({ reply });
}

/** Whether the client cannot know whether its request was carried out. */
export function isIndeterminate({ reply }: { reply: Evidence['history'][number]['reply'] }): boolean {
  return reply.kind === 'lost' || (reply.kind === 'problem' && reply.status >= 500);
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
