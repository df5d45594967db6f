import { keyName, groupBy, mayHaveHappened, type Facts, type Invariants, type SendFacts } from './facts.js';
import type { Creation } from '../evidence.js';

const hex = (key: string): string => Buffer.from(key, 'latin1').toString('hex');

/** The id in the answer. */
const idOf = ({ reply }: Creation): string | null => (reply.kind === 'answer' ? reply.body.id : null);

function matches({ row }: SendFacts, creation: Creation): boolean {
  return (
    row.accountId === creation.accountId &&
    row.applicationId === creation.applicationId &&
    row.mode === creation.mode &&
    row.recipient === creation.recipient &&
    row.idempotencyKey === (creation.idempotencyKey === null ? null : hex(creation.idempotencyKey))
  );
}

const nameOfCreation = ({ applicationId, recipient, idempotencyKey }: Creation): string =>
  `${applicationId} ${recipient} ${idempotencyKey === null ? null : hex(idempotencyKey)}`;

/** The answers to a well-formed request by the contract (`openapi.yaml`). */
const ANSWERS: Readonly<Record<Facts['history'][number]['kind'], readonly string[]>> = {
  create: [
    '202',
    '402 insufficient_credits',
    '409 idempotency_key_reused',
    '429 rate_limited',
    '500 internal_error',
  ],
  status: ['200', '500 internal_error'],
  verify: ['200', '500 internal_error'],
};

export const CREATIONS: Invariants = {
  /** Every 202 names a send in the database, with the same account, application, mode, recipient and idempotency key. */
  'accepted-has-row': ({ creations, sendById }) =>
    creations.flatMap((creation) => {
      const id = idOf(creation);
      if (id === null) return [];
      const send = sendById.get(id);
      if (send === undefined) return [`send ${id} was accepted and has no row`];
      return matches(send, creation) ? [] : [`send ${id} does not match its request`];
    }),
  /** An idempotency key of an application has one send, and every 202 for it names that send. */
  'one-id-for-a-key': ({ creationsByKey, sends }) => {
    const idsOf = new Map<string, Set<string>>();
    const add = (name: string, id: string): void =>
      void idsOf.set(name, (idsOf.get(name) ?? new Set()).add(id));
    for (const { row } of sends)
      if (row.idempotencyKey !== null)
        add(keyName(row.applicationId, Buffer.from(row.idempotencyKey, 'hex').toString('latin1')), row.id);
    for (const [name, creations] of creationsByKey)
      for (const id of creations.map(idOf)) if (id !== null) add(name, id);
    return [...idsOf.values()]
      .filter((ids) => ids.size > 1)
      .map((ids) => `one idempotency key has the sends ${[...ids].join(', ')}`);
  },
  /** An idempotency key is bound to the bytes of one body. Another body gets 409, the same body never does. */
  'key-binds-body': ({ creationsByKey }) =>
    [...creationsByKey.values()].flatMap((creations) => {
      const bodies = new Set(creations.map(({ body }) => body));
      const accepted = new Set(creations.filter((one) => idOf(one) !== null).map(({ body }) => body));
      const refused = creations.filter(({ reply }) => reply.kind === 'problem' && reply.status === 409);
      const application = creations[0]?.applicationId;
      return [
        ...(accepted.size > 1
          ? [`application ${application}: two bodies were accepted for one idempotency key`]
          : []),
        ...(refused.length > 0 && bodies.size === 1
          ? [`application ${application}: 409 for an idempotency key with one body`]
          : []),
      ];
    }),
  /** Each send comes from one request that was made and not refused. */
  'row-was-requested': (facts) => {
    // Other clients of the same database keep no history.
    const accounts = new Set(facts.creations.map(({ accountId }) => accountId));
    const requested = groupBy(facts.creations.filter(mayHaveHappened), nameOfCreation);
    const rows = groupBy(
      facts.sends.map(({ row }) => row).filter(({ accountId }) => accounts.has(accountId)),
      ({ applicationId, recipient, idempotencyKey }) => `${applicationId} ${recipient} ${idempotencyKey}`,
    );
    return [...rows].flatMap(([name, same]) => {
      const requests = requested.get(name)?.length ?? 0;
      return same.slice(requests).map(({ id }) => `send ${id} has a row without a request`);
    });
  },
  /** Every answer has a status and a code of the contract. An accepted send is never unknown, a valid API key never refused. */
  'answers-fit-the-contract': ({ history }) =>
    history.flatMap(({ kind, reply }) => {
      if (reply.kind === 'lost') return [];
      const answer = reply.kind === 'answer' ? String(reply.status) : `${reply.status} ${reply.code}`;
      if (!ANSWERS[kind].includes(answer)) return [`${kind} was answered ${answer}`];
      const limited = reply.kind === 'problem' && reply.status === 429;
      return limited && !Number.isInteger(reply.retryAfter) ? ['429 without Retry-After'] : [];
    }),
};
