import { FINDINGS, KNOWN_FINDINGS } from '../src/findings.js';
import { healthFindings, isLateForOneAccount, subjectOf } from '../src/healthFindings.js';
import {
  NO_BACKLOG,
  type Backlog,
  type HealthStatistics,
  type SenderStop,
  type StoppedTemplate,
} from '../src/healthStatistics.js';
import type { TrafficCount, TrafficEvent, TrafficKey, WebhookResult } from '../src/traffic.js';

type Read = { [Name in keyof HealthStatistics]-?: NonNullable<HealthStatistics[Name]> };
type Change = Partial<HealthStatistics>;

const stop = (cause: SenderStop['cause'], more: Partial<SenderStop> = {}): SenderStop => ({
  cause,
  onlyFor: '',
  errorCode: null,
  reason: 'why',
  isConfiguration: false,
  since: '2026-11-23T02:14:00.000Z',
  until: null,
  ...more,
});
const ACTIVE = {
  id: 'active',
  account: null,
  number: '+1 ••••• 3881',
  state: 'active',
  stops: [] as SenderStop[],
  isFlagged: false,
} as const;
const PAUSED = { ...ACTIVE, id: 'paused', state: 'paused', stops: [stop('operator')] } as const;
const COOLING = { ...ACTIVE, id: 'cooling', state: 'cooling_down', stops: [stop('fault')] } as const;
const STOPPED = { ...PAUSED, stops: [stop('provider')] } as const;
const refused = (errorCode: number, onlyFor = ''): SenderStop =>
  stop('fault', { errorCode, onlyFor, isConfiguration: true });
const template = (serving: number): StoppedTemplate => ({
  template: 'verification_code',
  language: 'en',
  status: 'PAUSED',
  at: '2026-11-23T02:14:00.000Z',
  account: null,
  serving,
});
const backlog = (count: number, oldestSeconds: number): Backlog => ({
  ...NO_BACKLOG,
  count,
  oldestSeconds,
  accounts: 1,
});
const sweptSecondsAgo = (...ages: number[]): Read['loops'] =>
  ages.flatMap((secondsAgo) => ['deliver', 'sweep'].map((loop) => ({ loop, secondsAgo })));

const HEALTHY: Omit<Read, 'redisRefusal' | 'stoppedTemplates' | 'traffic' | 'retention'> = {
  postgresqlMs: 2,
  redisMs: 1,
  connections: { used: 40, most: 97 },
  queues: [{ isPaused: false }],
  waiting: { due: backlog(5, 1.2), forSender: backlog(2, 0.8), held: NO_BACKLOG, underWay: backlog(3, 0) },
  attempts: [],
  provider: { calls: 900, accepted: 880, failing: 20, secondsP95: 1.1 },
  receipts: { oldestDueSeconds: 0.4 },
  loops: sweptSecondsAgo(1, 2),
  workers: 2,
  senders: [ACTIVE, ACTIVE],
  ownWaiting: [],
  mails: { oldestSeconds: 20, givenUp: 0 },
};

const waiting = (change: Partial<Read['waiting']>) => ({ waiting: { ...HEALTHY.waiting, ...change } });
const waitForSender = (oldestSeconds: number): Change => waiting({ forSender: backlog(9, oldestSeconds) });
const ACCOUNT = { id: 'account', name: 'Loja Azul' };
const ofAccount = <Of extends object>(one: Of) => ({ ...one, account: ACCOUNT });
const ownWaiting = (oldestSeconds: number): Change => ({
  ownWaiting: [{ account: ACCOUNT, waiting: backlog(9, oldestSeconds) }],
});
const late = (oldestSeconds: number): Change => waiting({ due: backlog(9, oldestSeconds) });
const HELD = waiting({ held: backlog(1, 3) });
const provider = (change: Partial<Read['provider']>) => ({ provider: { ...HEALTHY.provider, ...change } });
const count = (event: TrafficEvent, times: number, more: Partial<TrafficKey> = {}): TrafficCount => ({
  event,
  country: 'BR',
  senderId: 'sender-1',
  accountId: '',
  reason: '',
  count: times,
  ...more,
});
const traffic = (fiveMinutes: TrafficCount[], twoMinutes: TrafficCount[]) => ({
  traffic: { fiveMinutes, twoMinutes },
});
const twoMinutes = (counts: Partial<Record<TrafficEvent, number>>): Change =>
  traffic(
    [],
    Object.entries(counts).map(([event, times]) => count(event as TrafficEvent, times)),
  );
const fiveMinutes = (...counts: TrafficCount[]) => traffic(counts, []);
const webhook = (reason: WebhookResult, times: number): TrafficCount =>
  count('webhook', times, { country: '', senderId: '', reason });
const delivered = (times: number): TrafficCount => count('delivered', times, { country: '', senderId: '' });
const failed = (times: number, more: Partial<TrafficKey> = {}): TrafficCount =>
  count('failed', times, { country: '', senderId: '', reason: 'rejected_by_provider', ...more });
/** Deliveries of these accounts. */
const deliveredOf = (...accounts: string[]): Change =>
  fiveMinutes(...accounts.map((accountId) => count('delivered', 20, { accountId })));

const found = (change: Change): string[] =>
  healthFindings({ ...HEALTHY, ...change }).map(
    ({ owner, name, severity }) => `${owner} ${name} ${severity}`,
  );

/** Causes stand before their consequences, and what fails before what is degraded. */
const CASES: [when: string, change: Change, findings: string[]][] = [
  ['nothing is wrong', {}, []],
  [
    'nothing was ever sent',
    {
      ...provider({ calls: 0, accepted: 0, failing: 0, secondsP95: null }),
      senders: [],
      ...waiting({ forSender: NO_BACKLOG }),
    },
    [],
  ],
  [
    'PostgreSQL does not answer',
    { postgresqlMs: null, connections: null, waiting: null, loops: null, workers: null, senders: null },
    ['postgresql postgresql_away failing'],
  ],
  [
    'neither PostgreSQL nor Redis answers',
    { postgresqlMs: null, redisMs: null, queues: null },
    ['postgresql postgresql_away failing', 'redis redis_away failing'],
  ],
  [
    'PostgreSQL is slow, and counts take too long',
    { postgresqlMs: 200, waiting: null },
    ['postgresql postgresql_slow degraded'],
  ],
  [
    'a lock holds up counts and sweeps',
    { waiting: null, loops: sweptSecondsAgo(25) },
    ['postgresql postgresql_slow failing', 'us sweeper_stopped failing'],
  ],
  ['Redis does not answer about its queues', { queues: null }, ['redis redis_away failing']],
  [
    'Redis is away and sends are late',
    { redisMs: null, queues: null, ...late(60) },
    ['redis redis_away failing'],
  ],
  [
    'Redis has no memory left',
    { redisMs: null, redisRefusal: 'out_of_memory', queues: null },
    ['redis redis_refuses_writes failing'],
  ],
  [
    'Redis evicts keys',
    { redisMs: null, redisRefusal: 'unfit', queues: null },
    ['redis redis_unfit failing'],
  ],
  ['only other loops run', { loops: [{ loop: 'clean_up', secondsAgo: 1 }] }, ['us sweeper_stopped failing']],
  [
    'no worker runs, and so everything waits',
    {
      workers: 0,
      loops: sweptSecondsAgo(900),
      receipts: { oldestDueSeconds: 900 },
      ...waiting({ due: backlog(9, 900), forSender: backlog(9, 900) }),
    },
    ['us no_worker failing'],
  ],
  [
    'only one of the two loops runs',
    { loops: [...sweptSecondsAgo(900), { loop: 'sweep', secondsAgo: 1 }] },
    ['us sweeper_stopped failing'],
  ],
  ['one of two workers is gone', { loops: sweptSecondsAgo(1, 900) }, []],
  ['a queue is paused', { queues: [{ isPaused: false }, { isPaused: true }] }, ['us queue_paused failing']],
  [
    'Meta refuses our template in a language',
    {
      senders: [{ ...ACTIVE, stops: [refused(132001, 'en')] }],
      stoppedTemplates: [{ ...template(0), status: 'REFUSED' }],
    },
    ['us configuration_fault failing'],
  ],
  [
    'Meta paused a template, which a call met too',
    {
      senders: [{ ...ACTIVE, stops: [stop('provider', { onlyFor: 'en' }), refused(132015, 'en')] }],
      stoppedTemplates: [template(0)],
    },
    ['meta template_stopped_everywhere failing'],
  ],
  [
    'Meta refused our token, and nothing has proved that over since the time of the stop',
    { senders: [{ ...ACTIVE, stops: [refused(190)] }] },
    ['us configuration_fault failing'],
  ],
  [
    'Meta calls the quality of a number low',
    { senders: [ACTIVE, { ...ACTIVE, isFlagged: true }] },
    ['us senders_flagged degraded'],
  ],
  ['too few calls fail to judge', provider({ calls: 4, failing: 4 }), []],
  [
    'as many calls fail as say something',
    provider({ calls: 5, failing: 5 }),
    ['meta provider_failing failing'],
  ],
  ['an operator paused a sender', { senders: [ACTIVE, PAUSED] }, ['held senders_paused degraded']],
  ['a sender cools down', { senders: [ACTIVE, COOLING] }, ['meta senders_cooling_down degraded']],
  [
    'all are stopped, one to cool down',
    { senders: [COOLING, PAUSED] },
    ['meta senders_cooling_down failing', 'held senders_paused failing'],
  ],
  ['nobody knows of the senders', { senders: null, ...waitForSender(300) }, []],
  [
    'Meta paused a template that others serve',
    { stoppedTemplates: [template(2)] },
    ['meta template_stopped degraded'],
  ],
  [
    'Meta paused the only template of a language',
    { stoppedTemplates: [template(1), template(0)], ...waitForSender(70) },
    ['meta template_stopped_everywhere failing', 'meta template_stopped degraded'],
  ],
  [
    'one of two senders is paused and sends wait',
    { senders: [PAUSED, ACTIVE], ...waitForSender(60) },
    ['us senders_busy failing', 'held senders_paused degraded'],
  ],
  [
    'one account sends more than the senders can, and the sends of others are delivered',
    {
      ...waiting({ forSender: { ...backlog(9, 300), othersSeconds: 59, accounts: 4 } }),
      ...deliveredOf('a', 'b'),
    },
    ['us senders_busy degraded'],
  ],
  [
    'one account sends more than the senders can, and nobody else sends',
    { ...waitForSender(300), ...deliveredOf('a') },
    ['us senders_busy failing'],
  ],
  [
    'one account sends more than the senders can, and others wait as long',
    {
      ...waiting({ forSender: { ...backlog(9, 300), othersSeconds: 60, accounts: 2 } }),
      ...deliveredOf('a', 'b'),
    },
    ['us senders_busy failing'],
  ],
  [
    'an account’s own senders are all stopped, each for another cause, and its sends wait',
    {
      senders: [
        ACTIVE,
        ofAccount(PAUSED),
        ofAccount(COOLING),
        ofAccount(STOPPED),
        ofAccount({ ...COOLING, stops: [refused(190)] }),
      ],
      ...ownWaiting(300),
    },
    [
      'us configuration_fault degraded',
      'meta senders_stopped degraded',
      'meta senders_cooling_down degraded',
      'held senders_paused degraded',
    ],
  ],
  [
    'the shared senders are all paused, and an account’s own is not',
    { senders: [PAUSED, ofAccount(ACTIVE)], ...waitForSender(300) },
    ['held senders_paused failing'],
  ],
  [
    'all senders are accounts’ own',
    { senders: [ofAccount(ACTIVE)], ...waiting({ forSender: NO_BACKLOG }) },
    [],
  ],
  [
    'all senders are accounts’ own, and sends wait for shared ones',
    { senders: [ofAccount(ACTIVE)], ...waitForSender(3) },
    ['us no_senders failing'],
  ],
  ['an account that shares none has no sender', ownWaiting(3), ['us no_senders degraded']],
  [
    'an account’s own senders cannot keep up',
    { senders: [ACTIVE, ofAccount(ACTIVE)], ...ownWaiting(300) },
    ['us senders_busy degraded'],
  ],
  [
    'Meta paused the template of an account’s own senders, which the shared ones serve',
    { senders: [ACTIVE, ofAccount(ACTIVE)], stoppedTemplates: [ofAccount(template(0))] },
    ['meta template_stopped_everywhere degraded'],
  ],
  ['no receipt comes on a quiet night', twoMinutes({ accepted: 19 }), []],
  ['no receipt comes', twoMinutes({ accepted: 20 }), ['meta receipts_missing failing']],
  [
    'half of the receipts come',
    twoMinutes({ accepted: 20, receipt_sent: 10 }),
    ['meta receipts_missing degraded'],
  ],
  ['receipts come', twoMinutes({ accepted: 20, receipt_sent: 11 }), []],
  [
    'receipts come in other states only',
    twoMinutes({ accepted: 20, receipt_delivered: 10, receipt_failed: 9 }),
    [],
  ],
  ['a few webhooks are rejected', fiveMinutes(webhook('invalid_signature', 4)), []],
  [
    'webhooks are rejected while nothing is sent',
    fiveMinutes(webhook('invalid_signature', 500)),
    ['us webhooks_rejected degraded'],
  ],
  [
    'webhooks are rejected while the first messages go out',
    traffic([webhook('invalid_signature', 5), count('accepted', 3)], [count('accepted', 3)]),
    ['us webhooks_rejected degraded'],
  ],
  [
    'all webhooks are rejected, and not one receipt has come for two minutes',
    fiveMinutes(webhook('invalid_signature', 5), count('accepted', 1)),
    ['us webhooks_rejected failing'],
  ],
  [
    'webhooks of somebody else are rejected',
    fiveMinutes(webhook('invalid_signature', 500), webhook('accepted', 1)),
    ['us webhooks_rejected degraded'],
  ],
  [
    'webhooks are rejected, and receipts are missing since',
    traffic(
      [webhook('invalid_signature', 5), webhook('accepted', 500)],
      [count('accepted', 20), count('receipt_sent', 10)],
    ),
    ['us webhooks_rejected failing'],
  ],
  ['few sends fail', fiveMinutes(delivered(8), failed(2)), []],
  ['all of too few sends fail', fiveMinutes(failed(9)), []],
  [
    'half of the sends expire',
    fiveMinutes(delivered(5), failed(5, { reason: 'expired_before_delivery' })),
    ['us sends_failing failing', 'us reason_failing failing'],
  ],
  [
    'all sends to one country of many fail',
    fiveMinutes(delivered(500), failed(20, { country: 'MX' })),
    ['meta country_failing failing'],
  ],
  [
    'all sends of one sender of many fail',
    fiveMinutes(delivered(500), failed(20, { senderId: 'sender-2' })),
    ['meta sender_failing failing'],
  ],
  [
    'one account’s codes expire while those of others are delivered',
    fiveMinutes(
      count('delivered', 12, { accountId: 'a' }),
      failed(37, { accountId: 'a', country: 'MX', reason: 'expired_before_delivery' }),
      count('delivered', 3, { accountId: 'b' }),
    ),
    ['us sends_failing degraded', 'us reason_failing degraded', 'us country_failing degraded'],
  ],
  [
    'one account’s codes expire, and those of others too',
    fiveMinutes(
      failed(37, { accountId: 'a', reason: 'expired_before_delivery' }),
      count('delivered', 2, { accountId: 'b' }),
      failed(2, { accountId: 'b', reason: 'expired_before_delivery' }),
    ),
    ['us sends_failing failing', 'us reason_failing failing'],
  ],
  [
    'one account’s codes expire, and of the others none arrives',
    fiveMinutes(
      count('delivered', 5, { accountId: 'a' }),
      failed(37, { accountId: 'a', country: 'MX' }),
      count('accepted', 9, { accountId: 'b' }),
    ),
    ['meta sends_failing failing', 'meta country_failing failing'],
  ],
  [
    'attempts are used up now and then',
    fiveMinutes(delivered(95), failed(5, { reason: 'attempts_exhausted' })),
    ['meta reason_failing degraded'],
  ],
  [
    'codes expire under a hold',
    { ...fiveMinutes(delivered(80), failed(80, { reason: 'expired_before_delivery' })), ...HELD },
    ['held sends_held degraded'],
  ],
  [
    'a hold stops sends, and something worse is wrong',
    { ...HELD, redisMs: 1_200 },
    ['redis redis_slow failing', 'held sends_held degraded'],
  ],
  ['old sends are kept for less than a day too long', { retention: { seconds: 86_399 } }, []],
  ['they are kept for longer', { retention: { seconds: 86_400 } }, ['us retention_behind degraded']],
  ['nothing is kept', { retention: { seconds: null } }, []],
  ['a mail waits a moment', { mails: { oldestSeconds: 299, givenUp: 0 } }, []],
  ['mails wait for the server', { mails: { oldestSeconds: 300, givenUp: 0 } }, ['us mail_not_sent degraded']],
  ['a mail was given up', { mails: { oldestSeconds: null, givenUp: 1 } }, ['us mail_not_sent degraded']],
];

describe('the findings', () => {
  it.each(CASES)('when %s', (_, change, expected) => {
    expect(found(change)).toEqual(expected);
  });

  it.each(['connections', 'waiting', 'attempts', 'provider', 'receipts', 'traffic'] as const)(
    'without an answer about %s say that PostgreSQL is slow',
    (source) => expect(found({ [source]: null })).toEqual(['postgresql postgresql_slow degraded']),
  );

  it.each(['workers', 'loops', 'senders'] as const)(
    'say nothing without an answer about %s alone',
    (source) => expect(found({ [source]: null })).toEqual([]),
  );

  it('name the countries and senders of which most fail, three at the most', () => {
    const countries = ['AR', 'BR', 'CL', 'MX', 'PE'].map((country, nth) => failed(10 + nth, { country }));
    const named = healthFindings({ ...HEALTHY, ...fiveMinutes(delivered(900), ...countries) });
    const shown = { reason: 'rejected_by_provider', accounts: 1 };
    expect(named.map(({ failures }) => failures)).toEqual([
      { country: 'PE', failed: 14, ended: 14, ...shown },
      { country: 'MX', failed: 13, ended: 13, ...shown },
      { country: 'CL', failed: 12, ended: 12, ...shown },
    ]);
  });
});

describe('codes that are late or fail by us', () => {
  const of = (accountId: string, good: number, late: number, expired = 0): TrafficCount[] => [
    count('delivered', good, { accountId }),
    count('delivered', late, { accountId, reason: 'late' }),
    count('failed', expired, { accountId, reason: 'expired_before_delivery' }),
  ];
  it.each<[string, TrafficCount[], boolean]>([
    ['late for one account', [...of('a', 0, 50), ...of('b', 10, 0), ...of('c', 10, 4)], true],
    ['failed for one account', [...of('a', 5, 0, 50), ...of('b', 10, 0)], true],
    ['late for one account, and for others too', [...of('a', 0, 50), ...of('b', 7, 3)], false],
    ['late for one account, and nobody else sends', of('a', 5, 50), false],
    ['hardly any', [...of('a', 0, 20), ...of('b', 80, 0)], false],
    ['of recipients without WhatsApp', [failed(50, { accountId: 'a' }), ...of('b', 10, 0)], false],
    ['none', [], false],
  ])('are one account’s: %s', (_, counts, expected) => {
    expect(isLateForOneAccount(fiveMinutes(...counts))).toBe(expected);
  });
});

describe('what stops senders', () => {
  const told = (senders: HealthStatistics['senders']) =>
    healthFindings({ ...HEALTHY, senders }).map((finding) => [
      finding.account,
      `${finding.name} ${subjectOf(finding)}`,
      finding.stops!.map(({ senderId }) => senderId),
      finding.senders,
    ]);

  it('is told with its senders, one finding for each cause', () => {
    const senders = [
      { ...COOLING, id: 'one', stops: [refused(190)] },
      { ...COOLING, id: 'two', stops: [refused(131042)] },
      { ...COOLING, id: 'three', stops: [refused(190)] },
      { ...PAUSED, id: 'four' },
    ];
    expect(told(senders)).toEqual([
      [undefined, 'configuration_fault 190', ['one', 'three'], 4],
      [undefined, 'configuration_fault 131042', ['two'], 4],
      [undefined, 'senders_paused ', ['four'], 4],
    ]);
  });

  it('is told for each owner apart, and of an account says whose it is', () => {
    const other = { id: 'other', name: 'Loja Verde' };
    const senders = [ACTIVE, PAUSED, ofAccount({ ...PAUSED, id: 'own' }), { ...ACTIVE, account: other }];
    expect(told(senders)).toEqual([
      [undefined, 'senders_paused ', ['paused'], 2],
      [ACCOUNT, 'senders_paused account ', ['own'], 1],
    ]);
  });
});

describe('a threshold', () => {
  type Threshold = [finding: string, change: (value: number) => Change, degraded: number, failing: number];
  const THRESHOLDS: Threshold[] = [
    ['postgresql postgresql_slow', (postgresqlMs) => ({ postgresqlMs }), 200, 1_000],
    ['postgresql postgresql_full', (used) => ({ connections: { used, most: 100 } }), 80, 95],
    ['redis redis_slow', (redisMs) => ({ redisMs }), 200, 1_000],
    ['us sweeper_stopped', (seconds) => ({ loops: sweptSecondsAgo(seconds, seconds + 5) }), 10, 20],
    ['meta provider_failing', (failing) => provider({ calls: 1_000, failing }), 100, 500],
    ['meta provider_slow', (secondsP95) => provider({ secondsP95 }), 3, 8],
    ['meta sends_failing', (failures) => fiveMinutes(delivered(100 - failures), failed(failures)), 30, 50],
    [
      'us reason_failing',
      (failures) =>
        fiveMinutes(delivered(100 - failures), failed(failures, { reason: 'expired_before_delivery' })),
      5,
      20,
    ],
    ['us receipts_late', (oldestDueSeconds) => ({ receipts: { oldestDueSeconds } }), 15, 60],
    ['us sends_late', late, 5, 15],
    ['us senders_busy', waitForSender, 10, 60],
  ];

  it.each(THRESHOLDS)('of %s counts from its very value', (name, change, degraded, failing) => {
    const values = [degraded - 0.001, degraded, failing - 0.001, failing];
    expect(values.flatMap((value) => found(change(value)))).toEqual([
      `${name} degraded`,
      `${name} degraded`,
      `${name} failing`,
    ]);
  });

  it('or a case above is there for every finding, and each is as the table says', () => {
    const changes = [
      ...CASES.map(([, change]) => change),
      ...THRESHOLDS.map(([, change, , failing]) => change(failing)),
    ];
    const seen = new Set(changes.flatMap(found));
    const known = new Set(KNOWN_FINDINGS.map(({ owner, name, severity }) => `${owner} ${name} ${severity}`));
    expect([...seen].filter((one) => !known.has(one))).toEqual([]);
    const names = new Set([...seen].map((one) => one.split(' ')[1]));
    expect(Object.keys(FINDINGS).filter((name) => !names.has(name))).toEqual([]);
  });
});
