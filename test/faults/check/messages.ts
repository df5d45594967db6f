import { ofEachSend, type Invariants } from './facts.js';
import { codeOf } from './guesses.js';

export const MESSAGES: Invariants = {
  /** Every request to the provider names an attempt in the database. */
  'requests-name-attempts': ({ provider, sendIdByAttempt }) => [
    ...provider.requests
      // A request that the provider could not read names no attempt.
      .filter(({ opaque, to }) => to !== null && !sendIdByAttempt.has(opaque ?? ''))
      .map(({ number }) => `request ${number} belongs to no attempt`),
    ...provider.messages
      .filter(({ opaque }) => !sendIdByAttempt.has(opaque ?? ''))
      .map(({ acceptedAt }) => `a message of ${acceptedAt} belongs to no attempt`),
  ],
  /** An attempt makes at most one call to the provider. */
  'one-call-for-an-attempt': ofEachSend(({ requests }) => {
    const calls = new Set(requests.map(({ opaque }) => opaque)).size;
    return [requests.length > calls && `${requests.length} requests for ${calls} attempts`];
  }),
  /** All messages of a send carry the same code: its own if it has one. */
  'one-code': ofEachSend((send) => {
    const code = codeOf(send);
    return [
      new Set(send.messages.map((message) => message.code)).size > 1 && 'its messages carry different codes',
      send.messages.some((message) => message.code !== code) &&
        'a message carries a code that is not its own',
    ];
  }),
  /** A message is sent to the recipient of its send. */
  'right-recipient': ofEachSend(({ row, requests, messages }) => [
    [...messages, ...requests].some(({ to }) => to !== null && to !== row.recipient) &&
      'sent to another recipient',
  ]),
  /** A test send has no attempts and reaches no phone. */
  'test-sends-nothing': ofEachSend(({ row, attempts }) => [
    row.mode === 'test' && attempts.length > 0 && `${attempts.length} attempts`,
  ]),
  /**
   * No attempt begins and no message arrives at the provider after the code’s deadline. A message counts from when its request
   * arrived at the provider, which may answer late. A call begins at least a tenth of the code's validity or 30 seconds before
   * the deadline (`is_worth_sending`), longer than a call may take. Only a process or a network that is frozen for longer could
   * violate this without a defect, so the suite's faults are shorter.
   */
  'no-message-after-expiry': ofEachSend(({ row, attempts, messages, requests }) => {
    const arrival = new Map(requests.map(({ messageId, at }) => [messageId, at]));
    const late = messages.filter(
      ({ id, acceptedAt }) => Date.parse(arrival.get(id) ?? acceptedAt) >= row.expiresAt,
    );
    return [
      late.length > 0 && `${late.length} messages after the deadline`,
      attempts.some(({ startedAt }) => startedAt >= row.expiresAt) && 'an attempt after the deadline',
    ];
  }),
};
