import type { Phase } from '@onecode/domain';
import { nextStepOf, type NextStep, type SendProgress } from '../../../src/features/sends/nextStep.js';

const CREATED = new Date('2026-11-20T12:00:00Z');
const at = (seconds: number): Date => new Date(CREATED.getTime() + seconds * 1000);

const SEND: SendProgress = {
  mode: 'live',
  status: 'queued',
  verification: 'pending',
  createdAt: CREATED,
  expiresAt: at(600),
  failureReason: null,
  phase: 'ready',
  dueAt: CREATED,
  sentAt: null,
  wrongGuesses: 0,
  attempts: [],
  receipts: [],
};

type Change = Partial<SendProgress>;
type Attempt = SendProgress['attempts'][number];
const attempt = (end: Partial<Attempt> = {}): Attempt => ({
  number: 1,
  startedAt: at(1),
  finishedAt: at(2),
  outcome: 'accepted',
  errorCode: null,
  messageStatus: null,
  senderNumber: '+15550783881',
  isOwnSender: false,
  ...end,
});
const afterAttempt = (phase: Phase, end: Partial<Attempt>): Change => ({
  status: 'sending',
  phase,
  attempts: [attempt(end)],
});
const UNDER_WAY = afterAttempt('calling', { finishedAt: null, outcome: null });
/** An attempt that the provider accepted, or that failed. */
const over = (status: SendProgress['status'], more: Change = {}): Change => ({
  status,
  phase: status === 'sent' ? 'unconfirmed' : 'done',
  ...more,
});
const failed = (failureReason: SendProgress['failureReason'], more: Change = {}): Change => ({
  ...over('failed'),
  failureReason,
  ...more,
});
const failedReceipt = (errorCode: number): SendProgress['receipts'] => [
  { attempt: 1, status: 'failed', occurredAt: at(3), errorCode },
];

/** Returns the next step of a send, this many seconds after its creation. */
type Case = [NextStep, Change, seconds?: number, isHeld?: boolean];

const REFUSED_FOR_NUMBER = failed('rejected_by_provider', {
  attempts: [attempt({ outcome: 'recipient', errorCode: 131026 })],
});
const REFUSED_FOR_US = failed('rejected_by_provider', {
  attempts: [attempt({ outcome: 'config', errorCode: 131008 })],
});

const CASES: Record<string, Case> = {
  'just created': ['queued', {}],
  'not claimed for a long time': ['not_taken_up', {}, 20],
  'without a sender': ['no_sender', { phase: 'waiting' }],
  'claimed before, and without a sender again': ['no_sender', { status: 'sending', phase: 'waiting' }],
  held: ['held', { phase: 'waiting' }, 1, true],
  'held during a call': ['sending', UNDER_WAY, 1, true],
  'during a call': ['sending', UNDER_WAY],
  'before the next attempt': [
    'retrying',
    afterAttempt('backing_off', { outcome: 'retry', errorCode: 131000 }),
  ],
  'to be sent by another sender': ['retrying', afterAttempt('ready', { outcome: 'sender' })],
  'with a lost answer': ['unclear', afterAttempt('backing_off', { outcome: 'unknown' })],
  'with a lost answer of the last attempt': ['unclear', afterAttempt('giving_up', { outcome: 'unknown' })],
  'without another call': ['giving_up', { phase: 'giving_up' }],
  'sent a moment ago': ['sent', over('sent', { sentAt: at(2) }), 10],
  'sent, and not confirmed for a long time': ['unconfirmed', over('sent', { sentAt: at(2) }), 60],
  delivered: ['delivered', over('delivered'), 60],
  read: ['delivered', over('read'), 60],
  'with wrong guesses': ['guessing', over('delivered', { wrongGuesses: 2 })],
  'with a wrong guess before any receipt': ['guessing', over('sent', { wrongGuesses: 1 }), 60],
  locked: ['locked', over('read', { verification: 'locked', wrongGuesses: 5 })],
  'expired before it was sent': ['giving_up', { verification: 'expired' }, 601],
  'expired between attempts': [
    'giving_up',
    { status: 'sending', phase: 'giving_up', verification: 'expired' },
    601,
  ],
  'expired without a receipt': ['expired_unconfirmed', over('sent', { verification: 'expired' }), 601],
  'expired after delivery': ['expired_unused', over('delivered', { verification: 'expired' }), 601],
  verified: ['verified', over('read', { verification: 'verified' })],
  'verified, although the provider reported a failure': [
    'verified',
    failed('rejected_by_provider', { verification: 'verified' }),
  ],
  'failed without a sender': ['expired_before_delivery', failed('expired_before_delivery')],
  'failed after all attempts': ['attempts_exhausted', failed('attempts_exhausted')],
  'failed, and expired afterwards': [
    'attempts_exhausted',
    failed('attempts_exhausted', { verification: 'expired' }),
    601,
  ],
  'refused for its number': ['rejected', REFUSED_FOR_NUMBER],
  'refused for the service’s request': ['refused', REFUSED_FOR_US],
  'reported as failed for the service’s template': [
    'refused',
    failed('rejected_by_provider', { attempts: [attempt()], receipts: failedReceipt(132015) }),
  ],
  'reported as failed, without stored reports': ['rejected', failed('rejected_by_provider')],
  'a test': ['try_code', over('read', { mode: 'test' }), 60],
  'a test, not simulated yet': ['queued', { mode: 'test' }],
};

describe('nextStepOf', () => {
  it.each(Object.entries(CASES))(
    'returns the next step of a send: %s',
    (_, [expected, change, seconds = 1, isHeld = false]) => {
      expect(nextStepOf({ ...SEND, ...change }, isHeld, at(seconds)).step).toBe(expected);
    },
  );

  it('explains a refusal for the recipient with its meaning and remedy', () => {
    expect(nextStepOf({ ...SEND, ...REFUSED_FOR_NUMBER }, false, at(5)).explanation).toMatchObject({
      name: '131026',
      meaning: expect.stringContaining('has no WhatsApp'),
      remedy: expect.stringContaining('check the number'),
    });
  });

  it('explains a refusal for the request without a remedy for integrators', () => {
    expect(nextStepOf({ ...SEND, ...REFUSED_FOR_US }, false, at(5)).explanation?.remedy).toBeNull();
  });
});
