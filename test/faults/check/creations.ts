import { keyName, groupBy, mayHaveHappened, type Facts, type Invariant, type SendFacts } from './facts.js';
import type { Creation } from '../evidence.js';

const hex = (key: string): string => Buffer.from(key, 'latin1').toString('hex');

/** The id that a creation was answered with. */
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

const acceptedHasRow: Invariant = {
  name: 'accepted-has-row',
  promise: 'Every 202 names a send that is in the database, of the same account, application, mode and key.',
  find: ({ creations, sendById }) =>
    creations.flatMap((creation) => {
      const id = idOf(creation);
      if (id === null) return [];
      const send = sendById.get(id);
      if (send === undefined) return [`send ${id} was accepted and has no row`];
      return matches(send, creation) ? [] : [`send ${id} is not the one that was asked for`];
    }),
};

const oneIdForAKey: Invariant = {
  name: 'one-id-for-a-key',
  promise: 'A key of an application has one send, and every 202 for it names that one.',
  find({ creationsByKey, sends }) {
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
      .map((ids) => `one key has the sends ${[...ids].join(', ')}`);
  },
};

const keyBindsBody: Invariant = {
  name: 'key-binds-body',
  promise: 'A key is bound to the bytes of one body: others get 409, and the same never does.',
  find: ({ creationsByKey }) =>
    [...creationsByKey.values()].flatMap((creations) => {
      const bodies = new Set(creations.map(({ body }) => body));
      const accepted = new Set(creations.filter((one) => idOf(one) !== null).map(({ body }) => body));
      const refused = creations.filter(({ reply }) => reply.kind === 'problem' && reply.status === 409);
      const application = creations[0]?.applicationId;
      return [
        ...(accepted.size > 1 ? [`application ${application}: two bodies were accepted for one key`] : []),
        ...(refused.length > 0 && bodies.size === 1
          ? [`application ${application}: 409 for a key with one body`]
          : []),
      ];
    }),
};

const rowWasAskedFor: Invariant = {
  name: 'row-was-asked-for',
  promise: 'A send comes only from a request that was made and not refused, one from each.',
  find(facts) {
    // Whoever else sends in the same database keeps no history.
    const accounts = new Set(facts.creations.map(({ accountId }) => accountId));
    const asked = groupBy(facts.creations.filter(mayHaveHappened), nameOfCreation);
    const rows = groupBy(
      facts.sends.map(({ row }) => row).filter(({ accountId }) => accounts.has(accountId)),
      ({ applicationId, recipient, idempotencyKey }) => `${applicationId} ${recipient} ${idempotencyKey}`,
    );
    return [...rows].flatMap(([name, same]) => {
      const requests = asked.get(name)?.length ?? 0;
      return same.slice(requests).map(({ id }) => `send ${id} has a row that no request explains`);
    });
  },
};

const nameOfCreation = ({ applicationId, recipient, idempotencyKey }: Creation): string =>
  `${applicationId} ${recipient} ${idempotencyKey === null ? null : hex(idempotencyKey)}`;

/** The statuses and codes that section 4 of the contract gives each request, where the request itself is in order. */
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

const answersFitTheContract: Invariant = {
  name: 'answers-fit-the-contract',
  promise:
    'Every answer has a status and a code of the contract: an accepted send is never unknown, a valid key never refused.',
  find: ({ history }) =>
    history.flatMap(({ kind, reply }) => {
      if (reply.kind === 'lost') return [];
      const answer = reply.kind === 'answer' ? String(reply.status) : `${reply.status} ${reply.code}`;
      if (!ANSWERS[kind].includes(answer)) return [`${kind} was answered ${answer}`];
      const limited = reply.kind === 'problem' && reply.status === 429;
      return limited && !Number.isInteger(reply.retryAfter) ? ['429 without a time to wait'] : [];
    }),
};

export const CREATIONS = [acceptedHasRow, oneIdForAKey, keyBindsBody, rowWasAskedFor, answersFitTheContract];
