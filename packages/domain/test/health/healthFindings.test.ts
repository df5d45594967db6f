import { FINDINGS, KNOWN_FINDINGS } from '../../src/health/findings.js';
import { healthFindings, isLateForOneAccount, subjectOf } from '../../src/health/healthFindings.js';
import {
  NO_BACKLOG,
  type Backlog,
  type HealthStatistics,
  type SenderBlock,
  type SenderStatistics,
} from '../../src/health/healthStatistics.js';
import type { TrafficCount, TrafficEvent, TrafficKey, WebhookResult } from '../../src/health/traffic.js';

type Read = { [Name in keyof HealthStatistics]-?: NonNullable<HealthStatistics[Name]> };
type Change = Partial<HealthStatistics>;

const block = (cause: SenderBlock['cause'], more: Partial<SenderBlock> = {}): SenderBlock => ({
  cause,
  onlyFor: '',
  errorCode: null,
  reason: 'why',
  isConfiguration: false,
  since: '2026-11-23T02:14:00.000Z',
  until: null,
  template: null,
  ...more,
});
const ACTIVE: SenderStatistics = {
  id: 'active',
  account: null,
  number: '+1 ••••• 3881',
  state: 'active',
  blocks: [],
  hasLowQuality: false,
  heldMessages: { lastDay: 0, lastHour: 0, lastHourSeconds: 0 },
};
const PAUSED: SenderStatistics = { ...ACTIVE, id: 'paused', state: 'paused', blocks: [block('operator')] };
const COOLING: SenderStatistics = {
  ...ACTIVE,
  id: 'cooling',
  state: 'cooling_down',
  blocks: [block('fault')],
};
const BLOCKED: SenderStatistics = { ...PAUSED, blocks: [block('provider')] };
const refused = (errorCode: number, onlyFor = ''): SenderBlock =>
  block('fault', { errorCode, onlyFor, isConfiguration: true });
const AT = '2026-11-23T02:14:00.000Z';
const BLOCKED_TEMPLATE = block('provider', {
  onlyFor: 'en',
  template: { template: 'verification_code', language: 'en', status: 'PAUSED', at: AT },
});
/** A sender with an English template that Meta blocks. */
const WITHOUT_ENGLISH: SenderStatistics = { ...ACTIVE, id: 'without', blocks: [BLOCKED_TEMPLATE] };
const holding = (lastHour: number, lastHourSeconds: number): SenderStatistics => ({
  ...ACTIVE,
  id: 'holding',
  heldMessages: { lastDay: lastHour + 7, lastHour, lastHourSeconds },
});
const backlog = (count: number, oldestSeconds: number): Backlog => ({
  ...NO_BACKLOG,
  count,
  oldestSeconds,
  accounts: 1,
});
const sweptSecondsAgo = (...ages: number[]): Read['loops'] =>
  ages.flatMap((secondsAgo) => ['deliver', 'sweep'].map((loop) => ({ loop, secondsAgo })));

const HEALTHY = {
  postgresqlMs: 2,
  redisMs: 1,
  connections: { used: 40, most: 97 },
  queues: [{ isPaused: false }],
  waiting: { due: backlog(5, 1.2), forSender: backlog(2, 0.8), held: NO_BACKLOG, underWay: backlog(3, 0) },
  provider: { calls: 900, accepted: 880, failing: 20, secondsP95: 1.1 },
  receipts: { oldestDueSeconds: 0.4 },
  retention: { seconds: null },
  traffic: { fiveMinutes: [], twoMinutes: [] },
  deliveries: [],
  loops: sweptSecondsAgo(1, 2),
  workers: 2,
  senders: [ACTIVE, ACTIVE],
  ownWaiting: [],
  mails: { oldestSeconds: 20, givenUp: 0 },
} satisfies HealthStatistics;

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
/** Deliveries in which these numbers of messages never arrived: of 100 on the last day, and of 100 in the week before. */
const undelivered = (lastDay: number, weekBefore: number): Change => ({
  deliveries: [
    {
      country: 'BR',
      senderId: 'sender-1',
      lastDay: { accepted: 100, undelivered: lastDay },
      weekBefore: { accepted: 100, undelivered: weekBefore },
    },
  ],
});
/** Deliveries of these accounts. */
const deliveredOf = (...accounts: string[]): Change =>
  fiveMinutes(...accounts.map((accountId) => count('delivered', 20, { accountId })));

const found = (change: Change): string[] =>
  healthFindings({ ...HEALTHY, ...change }).map(
    ({ owner, name, cause, severity }) => `${owner} ${name} ${cause} ${severity}`,
  );

/** Expected findings list causes before their consequences, and failing findings before degraded ones. */
type Case = [when: string, change: Change, findings: string[]];
const CASES: Case[] = [
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
    ['postgresql postgresql_unavailable unavailable failing'],
  ],
  [
    'neither PostgreSQL nor Redis answers',
    { postgresqlMs: null, redisMs: null, queues: null },
    ['postgresql postgresql_unavailable unavailable failing', 'redis redis_unhealthy unavailable degraded'],
  ],
  [
    'PostgreSQL is slow, and counts take too long',
    { postgresqlMs: 200, waiting: null },
    ['postgresql postgresql_overloaded slow degraded'],
  ],
  [
    'a lock delays counts and sweeps',
    { waiting: null, loops: sweptSecondsAgo(25) },
    ['us workers_behind loops failing', 'postgresql postgresql_overloaded slow degraded'],
  ],
  [
    'Redis does not answer about its queues',
    { queues: null },
    ['redis redis_unhealthy unavailable degraded'],
  ],
  [
    'Redis is unavailable and sends are late',
    { redisMs: null, queues: null, ...late(60) },
    ['us workers_behind sends failing', 'redis redis_unhealthy unavailable degraded'],
  ],
  ['Redis responds after 199 ms', { redisMs: 199 }, []],
  [
    'only other loops run',
    { loops: [{ loop: 'clean_up', secondsAgo: 1 }] },
    ['us workers_behind loops failing'],
  ],
  [
    'no worker runs, so everything waits',
    {
      workers: 0,
      loops: sweptSecondsAgo(900),
      receipts: { oldestDueSeconds: 900 },
      ...waiting({ due: backlog(9, 900), forSender: backlog(9, 900) }),
    },
    ['us no_workers none failing'],
  ],
  [
    'only one of the two loops runs',
    { loops: [...sweptSecondsAgo(900), { loop: 'sweep', secondsAgo: 1 }] },
    ['us workers_behind loops failing'],
  ],
  ['one of two workers stopped', { loops: sweptSecondsAgo(1, 900) }, []],
  [
    'a queue is paused',
    { queues: [{ isPaused: false }, { isPaused: true }] },
    ['held paused_by_operator queue degraded'],
  ],
  [
    'Meta refuses our template in a language',
    { senders: [{ ...ACTIVE, blocks: [refused(132001, 'en')] }], ...waitForSender(70) },
    ['us sender_misconfigured refused failing'],
  ],
  [
    'Meta paused a template, and a call failed because of it',
    { senders: [{ ...ACTIVE, blocks: [BLOCKED_TEMPLATE, refused(132015, 'en')] }] },
    ['meta senders_blocked template failing'],
  ],
  [
    'Meta rejected our token, and no success has cleared the block',
    { senders: [{ ...ACTIVE, blocks: [refused(190)] }] },
    ['us sender_misconfigured refused failing'],
  ],
  [
    'Meta rates the quality of a number as low',
    { senders: [ACTIVE, { ...ACTIVE, hasLowQuality: true }] },
    ['us sender_quality_low quality degraded'],
  ],
  [
    'Meta held five messages of a sender within a quarter of an hour',
    { senders: [ACTIVE, holding(5, 900)] },
    ['meta messages_held held degraded'],
  ],
  [
    'Meta held the messages of an account’s only sender',
    { senders: [ACTIVE, ofAccount(holding(900, 3_500))] },
    ['meta messages_held held degraded'],
  ],
  ['Meta held four messages', { senders: [holding(4, 3_000)] }, []],
  ['Meta held messages for less than a quarter of an hour', { senders: [holding(900, 899)] }, []],
  ['too few calls to judge fail', provider({ calls: 4, failing: 4 }), []],
  [
    'enough calls to judge fail',
    provider({ calls: 5, failing: 5 }),
    ['meta provider_unhealthy errors failing'],
  ],
  [
    'an operator paused a sender',
    { senders: [ACTIVE, PAUSED] },
    ['held paused_by_operator senders degraded'],
  ],
  ['a sender cools down', { senders: [ACTIVE, COOLING] }, ['meta senders_blocked fault degraded']],
  [
    'all senders are blocked, and one of them cools down',
    { senders: [COOLING, PAUSED] },
    ['meta senders_blocked fault failing', 'held paused_by_operator senders failing'],
  ],
  ['the senders are unknown', { senders: null, ...waitForSender(300) }, []],
  [
    'Meta paused a template that others serve',
    { senders: [ACTIVE, WITHOUT_ENGLISH] },
    ['meta senders_blocked template degraded'],
  ],
  [
    'Meta paused the only template of a language, and sends wait',
    { senders: [PAUSED, WITHOUT_ENGLISH], ...waitForSender(70) },
    ['meta senders_blocked template failing', 'held paused_by_operator senders degraded'],
  ],
  [
    'one of two senders is paused and sends wait',
    { senders: [PAUSED, ACTIVE], ...waitForSender(60) },
    ['us insufficient_senders busy failing', 'held paused_by_operator senders degraded'],
  ],
  [
    'one account sends more than the senders can, and the sends of others are delivered',
    {
      ...waiting({ forSender: { ...backlog(9, 300), othersSeconds: 59, accounts: 4 } }),
      ...deliveredOf('a', 'b'),
    },
    ['us insufficient_senders busy degraded'],
  ],
  [
    'one account sends more than the senders can, and is the only one',
    { ...waitForSender(300), ...deliveredOf('a') },
    ['us insufficient_senders busy failing'],
  ],
  [
    'one account sends more than the senders can, and others wait as long',
    {
      ...waiting({ forSender: { ...backlog(9, 300), othersSeconds: 60, accounts: 2 } }),
      ...deliveredOf('a', 'b'),
    },
    ['us insufficient_senders busy failing'],
  ],
  [
    'an account’s own senders are all blocked, each for another cause, and its sends wait',
    {
      senders: [
        ACTIVE,
        ofAccount(PAUSED),
        ofAccount(COOLING),
        ofAccount(BLOCKED),
        ofAccount({ ...COOLING, blocks: [refused(190)] }),
      ],
      ...ownWaiting(300),
    },
    [
      'us sender_misconfigured refused degraded',
      'meta senders_blocked provider degraded',
      'meta senders_blocked fault degraded',
      'held paused_by_operator senders degraded',
    ],
  ],
  [
    'the shared senders are all paused, and an account’s own is not',
    { senders: [PAUSED, ofAccount(ACTIVE)], ...waitForSender(300) },
    ['held paused_by_operator senders failing'],
  ],
  [
    'all senders are accounts’ own',
    { senders: [ofAccount(ACTIVE)], ...waiting({ forSender: NO_BACKLOG }) },
    [],
  ],
  [
    'all senders are accounts’ own, and sends wait for shared ones',
    { senders: [ofAccount(ACTIVE)], ...waitForSender(3) },
    ['us insufficient_senders none failing'],
  ],
  [
    'an account that uses only its own senders has none',
    ownWaiting(3),
    ['us insufficient_senders none degraded'],
  ],
  [
    'an account’s own senders cannot keep up',
    { senders: [ACTIVE, ofAccount(ACTIVE)], ...ownWaiting(300) },
    ['us insufficient_senders busy degraded'],
  ],
  [
    'Meta paused the template of an account’s own senders, which the shared ones serve',
    { senders: [ACTIVE, ofAccount(WITHOUT_ENGLISH)] },
    ['meta senders_blocked template degraded'],
  ],
  ['no receipt arrives on a quiet night', twoMinutes({ accepted: 19 }), []],
  ['no receipt arrives', twoMinutes({ accepted: 20 }), ['meta receipts_missing missing failing']],
  [
    'half of the receipts arrive',
    twoMinutes({ accepted: 20, receipt_sent: 10 }),
    ['meta receipts_missing missing degraded'],
  ],
  ['receipts arrive', twoMinutes({ accepted: 20, receipt_sent: 11 }), []],
  [
    'receipts arrive only with later states',
    twoMinutes({ accepted: 20, receipt_delivered: 10, receipt_failed: 9 }),
    [],
  ],
  [
    'more messages never arrive than in the week before',
    undelivered(10, 5),
    ['meta deliveries_missing country degraded', 'meta deliveries_missing sender degraded'],
  ],
  ['as many messages never arrive as in the week before', undelivered(10, 9), []],
  [
    'messages seem undelivered because no receipt arrives',
    { ...undelivered(10, 5), ...twoMinutes({ accepted: 20 }) },
    ['meta receipts_missing missing failing'],
  ],
  ['a few webhooks are rejected', fiveMinutes(webhook('invalid_signature', 4)), []],
  [
    'webhooks are rejected while nothing is sent',
    fiveMinutes(webhook('invalid_signature', 500)),
    ['us webhooks_rejected signature degraded'],
  ],
  [
    'webhooks are rejected while the first messages are sent',
    traffic([webhook('invalid_signature', 5), count('accepted', 3)], [count('accepted', 3)]),
    ['us webhooks_rejected signature degraded'],
  ],
  [
    'all webhooks are rejected, and no receipt has arrived for two minutes',
    fiveMinutes(webhook('invalid_signature', 5), count('accepted', 1)),
    ['us webhooks_rejected signature failing'],
  ],
  [
    'webhooks with a wrong signature are rejected',
    fiveMinutes(webhook('invalid_signature', 500), webhook('accepted', 1)),
    ['us webhooks_rejected signature degraded'],
  ],
  [
    'webhooks are rejected, and receipts have been missing since then',
    traffic(
      [webhook('invalid_signature', 5), webhook('accepted', 500)],
      [count('accepted', 20), count('receipt_sent', 10)],
    ),
    ['us webhooks_rejected signature failing'],
  ],
  ['few sends fail', fiveMinutes(delivered(8), failed(2)), []],
  ['all of too few sends fail', fiveMinutes(failed(9)), []],
  [
    'half of the sends expire',
    fiveMinutes(delivered(5), failed(5, { reason: 'expired_before_delivery' })),
    ['us sends_failing all failing', 'us sends_failing reason failing'],
  ],
  [
    'all sends to one country of many fail',
    fiveMinutes(delivered(500), failed(20, { country: 'MX' })),
    ['meta sends_failing country failing'],
  ],
  [
    'all sends of one sender of many fail',
    fiveMinutes(delivered(500), failed(20, { senderId: 'sender-2' })),
    ['meta sends_failing sender failing'],
  ],
  [
    'one account’s codes expire while those of others are delivered',
    fiveMinutes(
      count('delivered', 12, { accountId: 'a' }),
      failed(37, { accountId: 'a', country: 'MX', reason: 'expired_before_delivery' }),
      count('delivered', 3, { accountId: 'b' }),
    ),
    [
      'us sends_failing all degraded',
      'us sends_failing reason degraded',
      'us sends_failing country degraded',
    ],
  ],
  [
    'one account’s codes expire, and those of others too',
    fiveMinutes(
      failed(37, { accountId: 'a', reason: 'expired_before_delivery' }),
      count('delivered', 2, { accountId: 'b' }),
      failed(2, { accountId: 'b', reason: 'expired_before_delivery' }),
    ),
    ['us sends_failing all failing', 'us sends_failing reason failing'],
  ],
  [
    'one account’s codes expire, and no other account’s codes arrive',
    fiveMinutes(
      count('delivered', 5, { accountId: 'a' }),
      failed(37, { accountId: 'a', country: 'MX' }),
      count('accepted', 9, { accountId: 'b' }),
    ),
    ['meta sends_failing all failing', 'meta sends_failing country failing'],
  ],
  [
    'attempts are sometimes used up',
    fiveMinutes(delivered(95), failed(5, { reason: 'attempts_exhausted' })),
    ['meta sends_failing reason degraded'],
  ],
  [
    'codes expire under a hold',
    { ...fiveMinutes(delivered(80), failed(80, { reason: 'expired_before_delivery' })), ...HELD },
    ['held paused_by_operator hold degraded'],
  ],
  [
    'a hold stops sends, and something worse is wrong',
    { ...HELD, redisMs: 1_200 },
    ['redis redis_unhealthy slow degraded', 'held paused_by_operator hold degraded'],
  ],
  ['retention is less than a day late', { retention: { seconds: 86_399 } }, []],
  [
    'old sends are kept for longer',
    { retention: { seconds: 86_400 } },
    ['us workers_behind retention degraded'],
  ],
  ['no sends are stored', { retention: { seconds: null } }, []],
  ['a mail waits for a moment', { mails: { oldestSeconds: 299, givenUp: 0 } }, []],
  [
    'mails wait for the server',
    { mails: { oldestSeconds: 300, givenUp: 0 } },
    ['us mail_failing mail degraded'],
  ],
  ['a mail was given up', { mails: { oldestSeconds: null, givenUp: 1 } }, ['us mail_failing mail degraded']],
];

describe('healthFindings', () => {
  it.each(CASES)('returns its findings when %s', (_, change, expected) => {
    expect(found(change)).toEqual(expected);
  });

  it.each(['connections', 'waiting', 'provider', 'receipts', 'traffic'] as const)(
    'reports PostgreSQL as slow without statistics of %s',
    (source) => expect(found({ [source]: null })).toEqual(['postgresql postgresql_overloaded slow degraded']),
  );

  it.each(['workers', 'loops', 'senders', 'deliveries'] as const)(
    'returns no finding if only %s is missing',
    (source) => expect(found({ [source]: null })).toEqual([]),
  );

  it('names the three countries with the most failures', () => {
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

describe('isLateForOneAccount', () => {
  const of = (accountId: string, good: number, late: number, expired = 0): TrafficCount[] => [
    count('delivered', good, { accountId }),
    count('delivered', late, { accountId, reason: 'late' }),
    count('failed', expired, { accountId, reason: 'expired_before_delivery' }),
  ];
  it.each<[string, TrafficCount[], boolean]>([
    ['late for one account', [...of('a', 0, 50), ...of('b', 10, 0), ...of('c', 10, 4)], true],
    ['failed for one account', [...of('a', 5, 0, 50), ...of('b', 10, 0)], true],
    ['late for one account, and for others too', [...of('a', 0, 50), ...of('b', 7, 3)], false],
    ['late for the only account that sends', of('a', 5, 50), false],
    ['hardly any late codes', [...of('a', 0, 20), ...of('b', 80, 0)], false],
    ['failures of recipients without WhatsApp', [failed(50, { accountId: 'a' }), ...of('b', 10, 0)], false],
    ['no codes', [], false],
  ])('is true only if the late codes are of one account: %s', (_, counts, expected) => {
    expect(isLateForOneAccount(fiveMinutes(...counts))).toBe(expected);
  });
});

describe('healthFindings about blocked senders', () => {
  const listProblems = (senders: HealthStatistics['senders']) =>
    healthFindings({ ...HEALTHY, senders }).map((finding) => [
      finding.account,
      `${finding.name} ${subjectOf(finding)}`,
      finding.blocks!.map(({ senderId }) => senderId),
      finding.senders,
    ]);

  it('returns one finding per cause, with its senders', () => {
    const senders = [
      { ...COOLING, id: 'one', blocks: [refused(190)] },
      { ...COOLING, id: 'two', blocks: [refused(131042)] },
      { ...COOLING, id: 'three', blocks: [refused(190)] },
      { ...PAUSED, id: 'four' },
    ];
    expect(listProblems(senders)).toEqual([
      [undefined, 'sender_misconfigured 190', ['one', 'three'], 4],
      [undefined, 'sender_misconfigured 131042', ['two'], 4],
      [undefined, 'paused_by_operator senders', ['four'], 4],
    ]);
  });

  it('counts a sender as blocked only while it cannot send', () => {
    const senders = [
      { ...COOLING, id: 'one', blocks: [refused(190)] },
      { ...ACTIVE, id: 'two', blocks: [refused(190)] },
    ];
    expect(healthFindings({ ...HEALTHY, senders })).toMatchObject([{ blocked: 1, senders: 2 }]);
    expect(healthFindings({ ...HEALTHY, senders: [senders[1]!, ACTIVE] })).toMatchObject([
      { name: 'sender_misconfigured', blocked: 0, senders: 2 },
    ]);
  });

  it('returns separate findings for each account, with its name', () => {
    const other = { id: 'other', name: 'Loja Verde' };
    const senders = [ACTIVE, PAUSED, ofAccount({ ...PAUSED, id: 'own' }), { ...ACTIVE, account: other }];
    expect(listProblems(senders)).toEqual([
      [undefined, 'paused_by_operator senders', ['paused'], 2],
      [ACCOUNT, 'paused_by_operator account senders', ['own'], 1],
    ]);
  });
});

describe('thresholds of findings', () => {
  type Threshold = [finding: string, change: (value: number) => Change, degraded: number, failing: number];
  const THRESHOLDS: Threshold[] = [
    ['postgresql postgresql_overloaded slow', (postgresqlMs) => ({ postgresqlMs }), 200, 1_000],
    [
      'postgresql postgresql_overloaded connections',
      (used) => ({ connections: { used, most: 100 } }),
      80,
      95,
    ],
    ['us workers_behind loops', (seconds) => ({ loops: sweptSecondsAgo(seconds, seconds + 5) }), 10, 20],
    ['meta provider_unhealthy errors', (failing) => provider({ calls: 1_000, failing }), 100, 500],
    ['meta provider_unhealthy slow', (secondsP95) => provider({ secondsP95 }), 3, 8],
    [
      'meta sends_failing all',
      (failures) => fiveMinutes(delivered(100 - failures), failed(failures)),
      30,
      50,
    ],
    [
      'us sends_failing reason',
      (failures) =>
        fiveMinutes(delivered(100 - failures), failed(failures, { reason: 'expired_before_delivery' })),
      5,
      20,
    ],
    ['us workers_behind receipts', (oldestDueSeconds) => ({ receipts: { oldestDueSeconds } }), 15, 60],
    ['us workers_behind sends', late, 5, 15],
    ['us insufficient_senders busy', waitForSender, 10, 60],
  ];

  it.each(THRESHOLDS)('apply at the exact value: %s', (name, change, degraded, failing) => {
    const values = [degraded - 0.001, degraded, failing - 0.001, failing];
    expect(values.flatMap((value) => found(change(value)))).toEqual([
      `${name} degraded`,
      `${name} degraded`,
      `${name} failing`,
    ]);
  });

  it('cover every cause, owner and severity of every finding, together with the cases above', () => {
    const changes = [
      ...CASES.map(([, change]) => change),
      ...THRESHOLDS.map(([, change, , failing]) => change(failing)),
    ];
    const seen = [...new Set(changes.flatMap(found))].map((one) => one.split(' '));
    const known = KNOWN_FINDINGS.map(({ owner, name, severity }) => `${owner} ${name} ${severity}`);
    expect(known).toEqual(
      expect.arrayContaining(seen.map(([owner, name, , severity]) => `${owner} ${name} ${severity}`)),
    );
    const causes = Object.entries(FINDINGS).flatMap(([name, kind]) =>
      Object.keys(kind.causes).map((cause) => `${name} ${cause}`),
    );
    expect(new Set(seen.map(([, name, cause]) => `${name} ${cause}`))).toEqual(new Set(causes));
  });
});
