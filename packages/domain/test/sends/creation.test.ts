import { decideCreations, type CreationState, type LimitCause, type NewSend } from '@onecode/domain';

/** A quarter of an hour before a new month in UTC. */
const NOW = Date.UTC(2026, 10, 30, 23, 45);
const MINUTE_MS = 60_000;
const QUARTER_SECONDS = 900;

const STATE: CreationState = {
  now: NOW,
  keyState: 'valid',
  earlier: null,
  mode: 'live',
  language: 'pt-BR',
  codeValiditySeconds: 600,
  allowedCountries: null,
  allowsPremiumRate: true,
  trialCountries: null,
  accountRate: 600,
  accountSends: 40,
  accountTimes: [],
  applicationRate: null,
  applicationSends: 7,
  applicationTimes: [],
  recipientRate: null,
  recipientTimes: null,
  guessPointsMax: 100,
  wrongPoints: null,
  activeCodes: null,
  breakerUntil: null,
  unitsPerDay: null,
  unitsPerMonth: null,
  unitsOfDay: 5,
  unitsOfMonth: 50,
  trialSendsPerDay: 500,
  trialSendsOfDay: 0,
  trialAccountSendsPerDay: 20,
  trialSends: null,
  freeQuota: 10,
  credits: 0,
  othersWait: false,
};
const TRIAL: Partial<CreationState> = { trialCountries: ['BR'] };

let recipients = 0;
const request = (fields: Partial<NewSend> = {}): NewSend => ({
  id: `send ${recipients}`,
  keyId: 'key',
  accountId: 'account',
  applicationId: 'application',
  idempotency: null,
  recipient: '+5511987654321',
  recipientKey: `1:${recipients++}`,
  olderRecipientKeys: [],
  country: 'BR',
  isPremiumRate: false,
  locale: null,
  codeHash: new Uint8Array(33),
  encryptedCode: new Uint8Array(1),
  guessCost: 1,
  requestId: 'request',
  traceparent: null,
  ...fields,
});

const decideAll = (requests: readonly NewSend[], state: Partial<CreationState> = {}) =>
  decideCreations(
    requests,
    requests.map(() => ({ ...STATE, ...state })),
  ).decisions;
const decide = (state: Partial<CreationState> = {}, fields: Partial<NewSend> = {}) =>
  decideAll([request(fields)], state)[0]!;

describe('decideCreations', () => {
  it('creates a send with the account’s language, a free unit and an expiry', () => {
    expect(decide()).toMatchObject({
      outcome: 'created',
      locale: 'pt-BR',
      chargedFrom: 'free_quota',
      send: {
        status: 'queued',
        phase: 'ready',
        createdAt: new Date(NOW),
        expiresAt: new Date(NOW + 600_000),
      },
      windows: [{ limit: 'account', windowMs: 60_000, quota: 600, left: 599, opensInMs: 60_000 }],
    });
    expect(decide({ othersWait: true })).toMatchObject({ send: { phase: 'waiting' } });
    expect(decide({ mode: 'test', freeQuota: 0 })).toMatchObject({ outcome: 'created', chargedFrom: null });
  });

  it('checks key, idempotency key, country, limits and unit in this order', () => {
    const refused: Partial<CreationState>[] = [
      { keyState: 'revoked' },
      { earlier: { id: 'id', isRepeat: false } },
      { allowedCountries: ['PT'] },
      { unitsPerDay: 5 },
      { freeQuota: 0 },
    ];
    const outcomes = refused.map((_, first) => decide(Object.assign({}, ...refused.slice(first))).outcome);
    expect(outcomes).toEqual([
      'key_refused',
      'reused',
      'recipient_refused',
      'rate_limited',
      'insufficient_credits',
    ]);
  });

  it.each<[LimitCause, Partial<CreationState>, number]>([
    ['account_rate', { accountRate: 1, accountTimes: [[NOW - 20_500, 1]] }, 40],
    [
      'application_rate',
      {
        applicationRate: 2,
        applicationTimes: [
          [NOW - 50_000, 1],
          [NOW - 10_000, 1],
        ],
      },
      10,
    ],
    ['recipient_rate', { recipientRate: 1, recipientTimes: [NOW - 30 * MINUTE_MS] }, 1800],
    ['wrong_guesses', { wrongPoints: 96 }, 17_280],
    ['active_codes', { guessPointsMax: 9, activeCodes: [[NOW + 60_000, 5]] }, 75],
    ['breaker', { breakerUntil: NOW + 5000 }, 5],
    ['month_ceiling', { unitsPerMonth: 50 }, QUARTER_SECONDS],
    ['day_ceiling', { unitsPerDay: 5 }, QUARTER_SECONDS],
    ['trial_share', { ...TRIAL, trialAccountSendsPerDay: 5 }, QUARTER_SECONDS],
    ['trial_ceiling', { ...TRIAL, trialSendsOfDay: 500 }, QUARTER_SECONDS],
    ['trial_failures', { ...TRIAL, trialSends: { count: 9, rejected: 5, lastAt: NOW - 20_000 } }, 40],
  ])('reports %s with the seconds until it reopens', (cause, state, retryAfterSeconds) => {
    expect(decide(state)).toMatchObject({ outcome: 'rate_limited', cause, retryAfterSeconds });
  });

  it('reports the limit that reopens last, or the first in the list if several reopen at the same time', () => {
    expect(decide({ unitsPerDay: 5, breakerUntil: NOW + 5000 })).toMatchObject({ cause: 'day_ceiling' });
    expect(decide({ unitsPerDay: 5, unitsPerMonth: 50 })).toMatchObject({ cause: 'month_ceiling' });
    expect(decide({ ...TRIAL, unitsPerDay: 5, trialAccountSendsPerDay: 5 })).toMatchObject({
      cause: 'day_ceiling',
    });
  });

  it('counts each send of a batch for the later requests of that batch', () => {
    const twoEach = [request(), request(), request()];
    expect(decideAll(twoEach, { freeQuota: 1, credits: 1 })).toMatchObject([
      { chargedFrom: 'free_quota', state: { applicationSends: 7 } },
      { chargedFrom: 'credit', state: { applicationSends: 8 } },
      { outcome: 'insufficient_credits' },
    ]);
    expect(decideAll(twoEach, { unitsPerDay: 6 }).map(({ outcome }) => outcome)).toEqual([
      'created',
      'rate_limited',
      'rate_limited',
    ]);
    expect(decideAll(twoEach, { accountRate: 2 }).map(({ outcome }) => outcome)).toEqual([
      'created',
      'created',
      'rate_limited',
    ]);
  });

  it('raises the guess budget for a code of the batch that is easier to guess, as for a stored one', () => {
    const recipientKey = '1:same';
    const four = request({ recipientKey, guessCost: 100 });
    const six = request({ recipientKey, guessCost: 1 });
    const inOneBatch = decideCreations([four, six], [{ ...STATE, guessPointsMax: 1500 }, STATE]).decisions;
    expect(inOneBatch.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
    expect(decideAll([four, six]).map(({ outcome }) => outcome)).toEqual(['rate_limited', 'created']);
  });

  it('recognizes an idempotency key that an earlier request of the batch binds in the same application', () => {
    const keyed = (key: string, bodyHash: string, applicationId = 'application') =>
      request({ idempotency: { key, bodyHashes: [bodyHash] }, applicationId });
    const first = keyed('k', 'a');
    expect(decideAll([first, keyed('k', 'a'), keyed('k', 'b'), keyed('k', 'a', 'other')])).toMatchObject([
      { outcome: 'created' },
      { outcome: 'existing', id: first.id },
      { outcome: 'reused' },
      { outcome: 'created' },
    ]);
  });

  it('charges no credit unless the credits exceed the units that the free quota owes', () => {
    expect(decide({ freeQuota: -2, credits: 2 })).toMatchObject({ outcome: 'insufficient_credits' });
    expect(decide({ freeQuota: -2, credits: 3 })).toMatchObject({ chargedFrom: 'credit' });
  });

  it('refuses premium-rate numbers and countries outside the lists of the account and the trial', () => {
    const premium = { isPremiumRate: true };
    expect(decide({ allowsPremiumRate: false }, premium)).toMatchObject({ cause: 'range' });
    expect(decide({ ...TRIAL, allowsPremiumRate: true }, premium)).toMatchObject({ cause: 'range' });
    expect(decide(TRIAL, { country: 'PT' })).toMatchObject({ cause: 'trial_country' });
    expect(decide({ allowedCountries: ['BR'] }, { country: 'ZZ' })).toMatchObject({ cause: 'country' });
  });
});
