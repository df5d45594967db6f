import {
  healthFindings,
  healthVerdict,
  KNOWN_FINDINGS,
  type Finding,
  type Verdict,
} from '../src/healthFindings.js';
import type { HealthStatistics, StoppedTemplate } from '../src/healthStatistics.js';
import type { TrafficCount, TrafficEvent, TrafficKey, WebhookResult } from '../src/traffic.js';

type Read = { [Name in keyof HealthStatistics]-?: NonNullable<HealthStatistics[Name]> };
type Sender = Read['senders'][number];

const sender = (state: Sender['state'] = 'active'): Sender => ({ state });
const stopped = (serving: number): StoppedTemplate => ({
  template: 'verification_code',
  language: 'en',
  status: 'PAUSED',
  at: '2026-11-23T02:14:00.000Z',
  serving,
});
const queue = (isPaused = false): Read['queues'][number] => ({ isPaused });
const none = { count: 0, oldestSeconds: null };
const sweptSecondsAgo = (...ages: number[]): Read['loops'] =>
  ages.map((secondsAgo) => ({ loop: 'sweep', secondsAgo }));

const HEALTHY: Omit<Read, 'redisRefusal' | 'stoppedTemplates' | 'traffic'> = {
  postgresqlMs: 2,
  redisMs: 1,
  connections: { used: 40, most: 97 },
  queues: [queue()],
  waiting: {
    due: { count: 5, oldestSeconds: 1.2 },
    forSender: { count: 2, oldestSeconds: 0.8 },
    held: none,
  },
  attempts: [],
  provider: { calls: 900, accepted: 880, failing: 20, config: 0, secondsP95: 1.1 },
  receipts: { oldestDueSeconds: 0.4 },
  loops: sweptSecondsAgo(1, 2),
  senders: [sender(), sender()],
};

const waiting = (change: Partial<Read['waiting']>): Partial<HealthStatistics> => ({
  waiting: { ...HEALTHY.waiting, ...change },
});
const provider = (change: Partial<Read['provider']>): Partial<HealthStatistics> => ({
  provider: { ...HEALTHY.provider, ...change },
});
const receipts = (change: Partial<Read['receipts']>): Partial<HealthStatistics> => ({
  receipts: { ...HEALTHY.receipts, ...change },
});
const count = (event: TrafficEvent, times: number, more: Partial<TrafficKey> = {}): TrafficCount => ({
  event,
  country: 'BR',
  senderId: 'sender-1',
  reason: '',
  count: times,
  ...more,
});
const twoMinutes = (counts: Partial<Record<TrafficEvent, number>>): Partial<HealthStatistics> => ({
  traffic: {
    fiveMinutes: [],
    twoMinutes: Object.entries(counts).map(([event, times]) => count(event as TrafficEvent, times)),
  },
});
const fiveMinutes = (...counts: TrafficCount[]): Partial<HealthStatistics> => ({
  traffic: { fiveMinutes: counts, twoMinutes: [] },
});
const webhook = (reason: WebhookResult, times: number): TrafficCount =>
  count('webhook', times, { country: '', senderId: '', reason });
const failed = (times: number, more: Partial<TrafficKey> = {}): TrafficCount =>
  count('failed', times, { reason: 'rejected_by_provider', ...more });
const late = (seconds: number): Partial<HealthStatistics> =>
  waiting({ due: { count: 9, oldestSeconds: seconds } });

const CASES: [
  when: string,
  change: Partial<HealthStatistics>,
  verdict: `${Verdict['whose']} ${Verdict['severity']} ${Verdict['what']}`,
][] = [
  ['nothing is wrong', {}, 'nobody ok all_clear'],
  [
    'nothing was ever sent',
    {
      ...provider({ calls: 0, accepted: 0, failing: 0, secondsP95: null }),
      senders: [],
      ...waiting({ forSender: none }),
    },
    'nobody ok all_clear',
  ],
  [
    'PostgreSQL does not answer',
    {
      postgresqlMs: null,
      connections: null,
      waiting: null,
      attempts: null,
      provider: null,
      receipts: null,
      loops: null,
      senders: null,
    },
    'postgresql failing postgresql_away',
  ],
  [
    'neither answers: PostgreSQL, on which everything depends, comes first',
    { postgresqlMs: null, redisMs: null, queues: null },
    'postgresql failing postgresql_away',
  ],
  ['PostgreSQL is rather slow', { postgresqlMs: 200 }, 'postgresql degraded postgresql_slow'],
  ['PostgreSQL is slow', { postgresqlMs: 1_000 }, 'postgresql failing postgresql_slow'],
  [
    'PostgreSQL answers, but a count takes too long',
    { waiting: null },
    'postgresql degraded postgresql_slow',
  ],
  [
    'a lock holds up counts and sweeps',
    { waiting: null, loops: sweptSecondsAgo(25) },
    'postgresql failing postgresql_slow',
  ],
  [
    'PostgreSQL runs out of connections',
    { connections: { used: 80, most: 97 } },
    'postgresql degraded postgresql_full',
  ],
  [
    'PostgreSQL has no connection left',
    { connections: { used: 97, most: 97 } },
    'postgresql failing postgresql_full',
  ],
  ['Redis does not answer', { redisMs: null, queues: null }, 'redis failing redis_away'],
  [
    'Redis is away and sends are late: the cause comes first',
    { redisMs: null, queues: null, ...late(60) },
    'redis failing redis_away',
  ],
  ['Redis is slow', { redisMs: 1_000 }, 'redis failing redis_slow'],
  ['no worker sent a heartbeat', { loops: [] }, 'us failing no_worker'],
  ['only other loops run', { loops: [{ loop: 'wake', secondsAgo: 1 }] }, 'us failing no_worker'],
  ['all sweepers have stopped', { loops: sweptSecondsAgo(25, 40) }, 'us failing sweeper_stopped'],
  ['all sweepers are slow', { loops: sweptSecondsAgo(12) }, 'us degraded sweeper_stopped'],
  ['one of two workers is gone', { loops: sweptSecondsAgo(1, 900) }, 'nobody ok all_clear'],
  [
    'the worker is gone and sends are late: the cause comes first',
    { loops: sweptSecondsAgo(60), ...late(60) },
    'us failing sweeper_stopped',
  ],
  ['a queue is paused', { queues: [queue(), queue(true)] }, 'us failing queue_paused'],
  ['Meta refuses our token', provider({ config: 1 }), 'us failing configuration_fault'],
  ['Meta fails some calls', provider({ failing: 90 }), 'meta degraded provider_failing'],
  ['Meta fails half of the calls', provider({ failing: 450 }), 'meta failing provider_failing'],
  ['a call fails on a quiet night', provider({ calls: 2, accepted: 0, failing: 2 }), 'nobody ok all_clear'],
  ['Meta is rather slow', provider({ secondsP95: 4 }), 'meta degraded provider_slow'],
  ['Meta is slow', provider({ secondsP95: 9 }), 'meta failing provider_slow'],
  ['an operator paused a sender', { senders: [sender(), sender('paused')] }, 'held degraded senders_paused'],
  [
    'Meta stopped a sender by its own word',
    { senders: [sender(), { state: 'paused', isStoppedByProvider: true }] },
    'meta degraded senders_stopped',
  ],
  [
    'Meta paused a template that others serve',
    { stoppedTemplates: [stopped(2)] },
    'meta degraded template_stopped',
  ],
  [
    'Meta paused the only template of a language',
    {
      stoppedTemplates: [stopped(1), stopped(0)],
      ...waiting({ forSender: { count: 9, oldestSeconds: 70 } }),
    },
    'meta failing template_stopped_everywhere',
  ],
  [
    'Meta stopped all senders, and a template too',
    { senders: [{ state: 'paused', isStoppedByProvider: true }], stoppedTemplates: [stopped(0)] },
    'meta failing senders_stopped',
  ],
  ['an operator paused all senders', { senders: [sender('paused')] }, 'held failing senders_paused'],
  [
    'a sender cools down after a failure',
    { senders: [sender(), sender('cooling_down')] },
    'meta degraded senders_cooling_down',
  ],
  [
    'all senders are stopped, one of them to cool down',
    { senders: [sender('cooling_down'), sender('paused')] },
    'meta failing senders_cooling_down',
  ],
  [
    'sends wait and there is no sender',
    { senders: [], ...waiting({ forSender: { count: 4, oldestSeconds: 3 } }) },
    'us failing no_senders',
  ],
  [
    'senders are too few',
    waiting({ forSender: { count: 900, oldestSeconds: 20 } }),
    'us degraded senders_busy',
  ],
  [
    'senders are far too few',
    waiting({ forSender: { count: 9_000, oldestSeconds: 70 } }),
    'us failing senders_busy',
  ],
  [
    'sends wait for the only sender to be resumed',
    { senders: [sender('paused')], ...waiting({ forSender: { count: 9, oldestSeconds: 300 } }) },
    'held failing senders_paused',
  ],
  ['no receipt comes', twoMinutes({ accepted: 20 }), 'meta failing receipts_missing'],
  [
    'half of the receipts come',
    twoMinutes({ accepted: 20, receipt_sent: 10 }),
    'meta degraded receipts_missing',
  ],
  ['receipts come', twoMinutes({ accepted: 20, receipt_sent: 11 }), 'nobody ok all_clear'],
  [
    'receipts come in other states only',
    twoMinutes({ accepted: 20, receipt_delivered: 10, receipt_failed: 9 }),
    'nobody ok all_clear',
  ],
  ['no receipt comes on a quiet night', twoMinutes({ accepted: 19 }), 'nobody ok all_clear'],
  ['receipts are not applied', receipts({ oldestDueSeconds: 90 }), 'us failing receipts_late'],
  ['all webhooks are rejected', fiveMinutes(webhook('invalid_signature', 5)), 'us failing webhooks_rejected'],
  [
    'webhooks of somebody else are rejected',
    fiveMinutes(webhook('invalid_signature', 500), webhook('accepted', 1)),
    'us degraded webhooks_rejected',
  ],
  [
    'webhooks are rejected, and receipts are missing since',
    {
      traffic: {
        fiveMinutes: [webhook('invalid_signature', 5), webhook('accepted', 500)],
        twoMinutes: [count('accepted', 20), count('receipt_sent', 10)],
      },
    },
    'us failing webhooks_rejected',
  ],
  ['a few webhooks are rejected', fiveMinutes(webhook('invalid_signature', 4)), 'nobody ok all_clear'],
  [
    'a third of the sends fails',
    fiveMinutes(count('delivered', 7), failed(3)),
    'meta degraded sends_failing',
  ],
  ['half of the sends fail', fiveMinutes(count('delivered', 5), failed(5)), 'meta failing sends_failing'],
  ['few sends fail', fiveMinutes(count('delivered', 8), failed(2)), 'nobody ok all_clear'],
  ['all of too few sends fail', fiveMinutes(failed(9)), 'nobody ok all_clear'],
  [
    'all sends to one country of many fail',
    fiveMinutes(count('delivered', 500), failed(20, { country: 'MX' })),
    'meta failing country_failing',
  ],
  [
    'all sends of one sender of many fail',
    fiveMinutes(count('delivered', 500), failed(20, { senderId: 'sender-2' })),
    'meta failing sender_failing',
  ],
  [
    'codes expire before workers come to them',
    fiveMinutes(count('delivered', 80), failed(20, { reason: 'expired_before_delivery', senderId: '' })),
    'us failing reason_failing',
  ],
  [
    'codes expire under a hold',
    {
      ...fiveMinutes(count('delivered', 80), failed(80, { reason: 'expired_before_delivery' })),
      ...waiting({ held: { count: 1, oldestSeconds: 3 } }),
    },
    'held degraded sends_held',
  ],
  [
    'attempts are used up now and then',
    fiveMinutes(count('delivered', 95), failed(5, { reason: 'attempts_exhausted' })),
    'meta degraded reason_failing',
  ],
  [
    'Redis has no memory left',
    { redisMs: null, redisRefusal: 'out_of_memory', queues: null },
    'redis failing redis_refuses_writes',
  ],
  [
    'Redis is a replica',
    { redisMs: null, redisRefusal: 'read_only', queues: null },
    'redis failing redis_refuses_writes',
  ],
  ['Redis evicts keys', { redisMs: null, redisRefusal: 'unfit', queues: null }, 'redis failing redis_unfit'],
  ['sends are rather late', late(6), 'us degraded sends_late'],
  ['sends are late', late(16), 'us failing sends_late'],
  ['a hold stops sends', waiting({ held: { count: 1, oldestSeconds: 3 } }), 'held degraded sends_held'],
  [
    'a hold stops sends, and something worse is wrong',
    { ...waiting({ held: { count: 1, oldestSeconds: 3 } }), redisMs: 1_200 },
    'redis failing redis_slow',
  ],
];

describe('the verdict', () => {
  it.each(CASES)('when %s', (_, change, expected) => {
    const { whose, severity, what } = healthVerdict(healthFindings({ ...HEALTHY, ...change }));
    expect(`${whose} ${severity} ${what}`).toBe(expected);
  });

  it('is made of findings that are known', () => {
    const known = new Set(KNOWN_FINDINGS.map((one) => JSON.stringify([one.what, one.whose, one.severity])));
    for (const [, change] of CASES)
      for (const { what, whose, severity } of healthFindings({ ...HEALTHY, ...change }))
        expect(known).toContain(JSON.stringify([what, whose, severity]));
    const found = new Set(
      CASES.flatMap(([, change]) => healthFindings({ ...HEALTHY, ...change }).map(({ what }) => what)),
    );
    expect([...new Set(KNOWN_FINDINGS.map(({ what }) => what))].filter((what) => !found.has(what))).toEqual(
      [],
    );
  });

  it('names the countries and senders of which most fail, three at the most', () => {
    const countries = ['AR', 'BR', 'CL', 'MX', 'PE'].map((country, nth) => failed(10 + nth, { country }));
    const found = healthFindings({
      ...HEALTHY,
      ...fiveMinutes(count('delivered', 900, { country: 'US' }), ...countries),
    });
    expect(found.filter(({ what }) => what === 'country_failing').map(({ failures }) => failures)).toEqual(
      [
        ['PE', 14],
        ['MX', 13],
        ['CL', 12],
      ].map(([country, times]) => ({ country, reason: 'rejected_by_provider', failed: times, ended: times })),
    );
  });

  it('is the first of all findings: failing ones first, and none named twice', () => {
    const statistics: HealthStatistics = {
      ...HEALTHY,
      postgresqlMs: 220,
      waiting: null,
      redisMs: 1_200,
      loops: [],
    };
    expect(healthFindings(statistics).map(({ what }) => what)).toEqual([
      'redis_slow',
      'no_worker',
      'postgresql_slow',
    ]);
  });
});

describe('a threshold', () => {
  const swept = (seconds: number) => ({ loops: sweptSecondsAgo(seconds, seconds + 5) });
  const refused = (failing: number) => provider({ calls: 1_000, failing });
  const answered = (secondsP95: number) => provider({ secondsP95 });
  const unapplied = (oldestDueSeconds: number) => receipts({ oldestDueSeconds });
  const waited = (oldestSeconds: number) => waiting({ forSender: { count: 9, oldestSeconds } });

  const THRESHOLDS: [
    finding: `${Finding['whose']} ${Finding['what']} ${Finding['check']}`,
    change: (value: number) => Partial<HealthStatistics>,
    degraded: number,
    failing: number,
  ][] = [
    ['postgresql postgresql_slow postgresql', (postgresqlMs) => ({ postgresqlMs }), 200, 1_000],
    ['postgresql postgresql_full postgresql', (used) => ({ connections: { used, most: 100 } }), 80, 95],
    ['redis redis_slow redis', (redisMs) => ({ redisMs }), 200, 1_000],
    ['us sweeper_stopped loops', swept, 10, 20],
    ['meta provider_failing attempts', refused, 100, 500],
    ['meta provider_slow latency', answered, 3, 8],
    ['us receipts_late receiptsDue', unapplied, 15, 60],
    ['us sends_late due', late, 5, 15],
    ['us senders_busy forSender', waited, 10, 60],
  ];

  it.each(THRESHOLDS)('of %s counts from its very value', (expected, change, degraded, failing) => {
    const found = (value: number): string[] =>
      healthFindings({ ...HEALTHY, ...change(value) }).map(
        ({ whose, severity, what, check }) => `${severity}: ${whose} ${what} ${check}`,
      );
    expect(found(degraded - 0.001)).toEqual([]);
    expect(found(degraded)).toEqual([`degraded: ${expected}`]);
    expect(found(failing - 0.001)).toEqual([`degraded: ${expected}`]);
    expect(found(failing)).toEqual([`failing: ${expected}`]);
  });
});

describe('the findings', () => {
  const found = (change: Partial<HealthStatistics>): string[] =>
    healthFindings({ ...HEALTHY, ...change }).map(({ what, check }) => `${what} ${check}`);

  it.each<[string, Partial<HealthStatistics>, string[]]>([
    ['no PostgreSQL', { postgresqlMs: null, connections: null }, ['postgresql_away postgresql']],
    [
      'a slow PostgreSQL, named once',
      { postgresqlMs: 200, connections: null },
      ['postgresql_slow postgresql'],
    ],
    ['no Redis', { redisMs: null }, ['redis_away redis']],
    ['no answer about the queues', { queues: null }, ['redis_away redis']],
    ['no worker', { loops: [] }, ['no_worker loops']],
    ['a paused queue', { queues: [queue(true), queue()] }, ['queue_paused queues']],
    ['a refused configuration', provider({ config: 1 }), ['configuration_fault attempts']],
    [
      'no sender for waiting sends',
      { senders: [], ...waiting({ forSender: { count: 1, oldestSeconds: 300 } }) },
      ['no_senders senders'],
    ],
    ['a paused sender', { senders: [sender('paused'), sender()] }, ['senders_paused senders']],
    [
      'a sender that cools down',
      { senders: [sender('cooling_down'), sender()] },
      ['senders_cooling_down senders'],
    ],
    [
      'sends that wait although one of two senders is active',
      { senders: [sender('paused'), sender()], ...waiting({ forSender: { count: 1, oldestSeconds: 60 } }) },
      ['senders_busy forSender', 'senders_paused senders'],
    ],
    [
      'sends that wait while no sender is active',
      { senders: [sender('paused')], ...waiting({ forSender: { count: 1, oldestSeconds: 60 } }) },
      ['senders_paused senders'],
    ],
    [
      'sends that wait while nobody knows of the senders',
      { senders: null, ...waiting({ forSender: { count: 1, oldestSeconds: 60 } }) },
      [],
    ],
    ['no receipt for 20 accepted messages', twoMinutes({ accepted: 20 }), ['receipts_missing receipts']],
    ['a hold', waiting({ held: { count: 1, oldestSeconds: 1 } }), ['sends_held held']],
  ])('of %s name their check', (_, change, expected) => {
    expect(found(change)).toEqual(expected);
  });

  it.each(['connections', 'waiting', 'attempts', 'provider', 'receipts', 'traffic'] as const)(
    'without an answer about %s say that PostgreSQL is slow',
    (source) => {
      expect(found({ [source]: null })).toEqual(['postgresql_slow postgresql']);
    },
  );

  it.each(['loops', 'senders'] as const)('say nothing without an answer about %s alone', (source) => {
    expect(found({ [source]: null })).toEqual([]);
  });

  it('judge the provider from five calls on', () => {
    expect(found(provider({ calls: 4, failing: 4 }))).toEqual([]);
    expect(found(provider({ calls: 5, failing: 5 }))).toEqual(['provider_failing attempts']);
  });

  it('expect no sender as long as no send waits for one', () => {
    expect(found({ senders: [], ...waiting({ forSender: none }) })).toEqual([]);
    expect(found({ senders: [], waiting: null })).toEqual(['postgresql_slow postgresql']);
  });
});
