import type { AttemptDetails, ReceiptDetails, SendDetails } from '@onecode/store';
import { nextStepOf, type NextStep } from '../../../src/features/sends/nextStep.js';

const CREATED = new Date('2026-11-20T12:00:00Z');
const at = (seconds: number): Date => new Date(CREATED.getTime() + seconds * 1000);

const SEND: SendDetails = {
  id: '01939f5e-0000-7000-8000-000000000000',
  applicationId: '01939f5e-0000-7000-8000-000000000001',
  applicationName: 'Shop',
  mode: 'live',
  status: 'queued',
  verification: 'pending',
  recipientMasked: '+55 ••••• 4321',
  country: 'BR',
  locale: 'pt-BR',
  channel: null,
  createdAt: CREATED,
  expiresAt: at(600),
  failureReason: null,
  chargedFrom: 'credit',
  from: null,
  attemptsCounted: 0,
  awaitingSender: false,
  lostAt: null,
  dueAt: CREATED,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  verifiedAt: null,
  failedAt: null,
  wrongGuesses: 0,
  wrongGuessTimes: [],
  attempts: [],
  receipts: [],
  units: [],
  deniedAt: [],
  identityChangedAt: null,
  requestId: '0199d3c8-0000-7000-8000-000000000000',
  traceparent: null,
};

const attempt = (end: Partial<AttemptDetails> = {}): AttemptDetails => ({
  number: 1,
  startedAt: at(1),
  finishedAt: at(2),
  outcome: 'accepted',
  errorCode: null,
  senderNumber: '+15550783881',
  isOwnSender: false,
  ...end,
});
const failedReceipt = (errorCode: number): ReceiptDetails => ({
  attempt: 1,
  status: 'failed',
  occurredAt: at(3),
  errorCode,
});
const failed = (reason: SendDetails['failureReason']): Partial<SendDetails> => ({
  status: 'failed',
  failureReason: reason,
  failedAt: at(3),
});
const underWay = attempt({ finishedAt: null, outcome: null });

interface Case {
  send: Partial<SendDetails>;
  held?: boolean;
  seconds?: number;
}

const CASES: Record<string, [NextStep, Case]> = {
  'just created': ['queued', { send: {} }],
  'not taken up for long': ['not_taken_up', { send: {}, seconds: 20 }],
  'without a sender': ['no_sender', { send: { awaitingSender: true } }],
  'on its way, and without a sender again': [
    'no_sender',
    { send: { status: 'sending', awaitingSender: true } },
  ],
  held: ['held', { send: { awaitingSender: true }, held: true }],
  'held, with a message under way': [
    'sending',
    { send: { status: 'sending', attempts: [underWay] }, held: true },
  ],
  'under way': ['sending', { send: { status: 'sending', attempts: [underWay] } }],
  'before the next attempt': [
    'retrying',
    { send: { status: 'sending', attempts: [attempt({ outcome: 'retry', errorCode: 131000 })] } },
  ],
  'with a lost answer': [
    'unclear',
    { send: { status: 'sending', attempts: [attempt({ outcome: 'unknown' })] } },
  ],
  'sent a moment ago': ['sent', { send: { status: 'sent', sentAt: at(2) }, seconds: 10 }],
  'sent, and not confirmed for long': [
    'unconfirmed',
    { send: { status: 'sent', sentAt: at(2) }, seconds: 60 },
  ],
  delivered: ['delivered', { send: { status: 'delivered' }, seconds: 60 }],
  read: ['delivered', { send: { status: 'read' }, seconds: 60 }],
  'guessed wrong': ['guessing', { send: { status: 'delivered', wrongGuesses: 2 } }],
  'guessed wrong before any receipt': [
    'guessing',
    { send: { status: 'sent', wrongGuesses: 1 }, seconds: 60 },
  ],
  locked: ['locked', { send: { status: 'read', verification: 'locked', wrongGuesses: 5 } }],
  'expired before it went': [
    'giving_up',
    { send: { status: 'queued', verification: 'expired' }, seconds: 601 },
  ],
  'expired on its way': ['giving_up', { send: { status: 'sending', verification: 'expired' }, seconds: 601 }],
  'expired without a receipt': [
    'expired_unconfirmed',
    { send: { status: 'sent', verification: 'expired' }, seconds: 601 },
  ],
  'expired on the phone': [
    'expired_unused',
    { send: { status: 'delivered', verification: 'expired' }, seconds: 601 },
  ],
  verified: ['verified', { send: { status: 'read', verification: 'verified' } }],
  'verified, whatever the provider says': [
    'verified',
    { send: { ...failed('rejected_by_provider'), verification: 'verified' } },
  ],
  'failed without a sender': ['expired_before_delivery', { send: failed('expired_before_delivery') }],
  'failed after all attempts': ['attempts_exhausted', { send: failed('attempts_exhausted') }],
  'failed and expired since': [
    'attempts_exhausted',
    { send: { ...failed('attempts_exhausted'), verification: 'expired' }, seconds: 601 },
  ],
  'refused for its number': [
    'rejected',
    {
      send: {
        ...failed('rejected_by_provider'),
        attempts: [attempt({ outcome: 'recipient', errorCode: 131026 })],
      },
    },
  ],
  'refused for our request': [
    'refused',
    {
      send: {
        ...failed('rejected_by_provider'),
        attempts: [attempt({ outcome: 'config', errorCode: 131008 })],
      },
    },
  ],
  'reported as failed, for our template': [
    'refused',
    { send: { ...failed('rejected_by_provider'), attempts: [attempt()], receipts: [failedReceipt(132015)] } },
  ],
  'reported as failed, with its reports forgotten': [
    'rejected',
    { send: { ...failed('rejected_by_provider'), attempts: [] } },
  ],
  'a test': ['try_code', { send: { mode: 'test', status: 'read', channel: 'sandbox' }, seconds: 60 }],
  'a test, not simulated yet': ['queued', { send: { mode: 'test' } }],
};

describe('what to do next about a send that is', () => {
  it.each(Object.entries(CASES))('%s', (_, [expected, { send, held = false, seconds = 1 }]) => {
    expect(nextStepOf({ ...SEND, ...send }, held, at(seconds)).step).toBe(expected);
  });

  it('refused says why and what to do', () => {
    const { send } = CASES['refused for its number']![1];
    expect(nextStepOf({ ...SEND, ...send }, false, at(5)).explanation).toMatchObject({
      owner: 'recipient',
      meaning: { name: '131026', english: expect.stringContaining('has no WhatsApp') },
      remedy: { name: 'check_or_other_number', english: expect.stringContaining('check the number') },
    });
  });

  it('refused by our fault holds nothing that integrators should do', () => {
    const { send } = CASES['refused for our request']![1];
    expect(nextStepOf({ ...SEND, ...send }, false, at(5)).explanation?.remedy).toBeNull();
  });
});
