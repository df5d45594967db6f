import type { Message, RequestRecord } from '@onecode/simulator';
import { ofEachSend, type SendFacts, type Invariants } from './facts.js';

/** The provider's codes about a sender, its business account, its token or its template, and not about the recipient. */
const SENDER_FAULT_CODES: ReadonlySet<number> = new Set([
  190, 368, 131031, 131042, 131048, 132001, 132015, 132016, 133010,
]);
/** The codes of throttles. */
const THROTTLE_CODES: ReadonlySet<number> = new Set([4, 80007, 130429, 131056]);

/** The provider's answer or failure report about one message of a send. */
interface Word {
  at: number;
  sender: string;
  kind: 'sender fault' | 'throttle' | 'other';
}

const kindOf = (code: number | null, http: number | null): Word['kind'] => {
  if (code !== null && SENDER_FAULT_CODES.has(code)) return 'sender fault';
  const isThrottle = code === null ? http === 429 || http === 503 : THROTTLE_CODES.has(code);
  return isThrottle ? 'throttle' : 'other';
};

/** Reports decide about an accepted message; a message with an unknown outcome is a separate signal. */
function wordsOf({ requests, messages }: SendFacts): Word[] {
  const wordOfRequest = ({ at, sender, code, http }: RequestRecord): Word => ({
    at: Date.parse(at),
    sender,
    kind: kindOf(code, http),
  });
  const wordOfMessage = ({ acceptedAt, failedAt, failureCode, sender }: Message): Word => ({
    at: Date.parse(failedAt ?? acceptedAt),
    sender,
    kind: failedAt === null ? 'other' : kindOf(failureCode, null),
  });
  return [
    ...requests.filter(({ messageId }) => messageId === null).map(wordOfRequest),
    ...messages.map(wordOfMessage),
  ].toSorted((one, other) => one.at - other.at);
}

/** A code with less validity left is not sent any more: a tenth of it, at most 30 s, plus the difference of the clocks. */
const lifeMsMin = ({ createdAt, expiresAt }: SendFacts['row']): number =>
  Math.min((expiresAt - createdAt) / 10, 30_000) + 2_000;

/** A send with a code that was verified or locked in the meantime needs no delivery. */
const failedBeforeExpiry = ({ row }: SendFacts): boolean =>
  row.status === 'failed' &&
  row.failedAt !== null &&
  row.failedAt < row.expiresAt - lifeMsMin(row) &&
  row.verifiedAt === null &&
  row.lockedAt === null;

/** A sender that delivered a message so shortly before or after could serve. */
const SERVED_MS = 2_000;

export const SENDER_FAULTS: Invariants = {
  /**
   * No send fails for a fault of one sender, or of its business account or template, while another sender delivers. Another
   * sender is known to serve by a message in the same language that it delivered between the first fault and the failure.
   */
  'a-sender-fault-fails-no-send': ofEachSend((send, { provider }) => {
    const words = wordsOf(send);
    const [first] = words;
    if (!first || words.at(-1)?.kind !== 'sender fault' || !failedBeforeExpiry(send)) return [];
    const faulty = new Set(words.filter(({ kind }) => kind !== 'other').map(({ sender }) => sender));
    const language = send.requests.find((request) => request.language !== null)?.language;
    const served = provider.messages.find(
      (message) =>
        !faulty.has(message.sender) &&
        message.language === language &&
        message.deliveredAt !== null &&
        Date.parse(message.acceptedAt) > first.at - SERVED_MS &&
        Date.parse(message.acceptedAt) < (send.row.failedAt as number) + SERVED_MS,
    );
    return [
      served !== undefined &&
        `${send.row.failureReason} after faults of ${faulty.size} senders, while sender ${served.sender} delivered`,
    ];
  }),
  /** No send fails before its code expires if the provider only throttled it. */
  'a-throttle-fails-no-send': ofEachSend((send) => {
    const words = wordsOf(send);
    return [
      words.length > 0 &&
        words.every(({ kind }) => kind === 'throttle') &&
        failedBeforeExpiry(send) &&
        `${send.row.failureReason} after ${words.length} throttled calls`,
    ];
  }),
};
