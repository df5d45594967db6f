import type { Heartbeat, ProviderAnswers, ReceiptStatistics, WaitingSends } from '@onecode/store';
import { diagnose, findingsOf, type Verdict } from '../../src/features/health/diagnose.js';
import type { HealthFigures, QueueFigures, SenderFigures } from '../../src/features/health/statistics.js';

const sender = (state: SenderFigures['state'] = 'active'): SenderFigures => ({
  id: 'sender',
  number: '+1•••3881',
  state,
  pausedUntil: null,
  pauseReason: null,
  faults: 0,
});
const queue = (isPaused = false): QueueFigures => ({
  name: 'deliver',
  isPaused,
  waiting: 3,
  active: 2,
  delayed: 1,
  failed: 4_000,
});
const none = { count: 0, oldestSeconds: null };
const sweptSecondsAgo = (...ages: number[]): Heartbeat[] =>
  ages.map((secondsAgo, n) => ({ loop: 'sweep', workerId: `worker ${n}`, secondsAgo }));

type Read = { [Name in keyof HealthFigures]: NonNullable<HealthFigures[Name]> };

const WELL: Read = {
  postgresqlMs: 2,
  redisMs: 1,
  connections: { used: 40, most: 97 },
  queues: [queue()],
  waiting: {
    due: { count: 5, oldestSeconds: 1.2 },
    forSender: { count: 2, oldestSeconds: 0.8 },
    held: none,
    underWay: 30,
  },
  attempts: [],
  provider: {
    calls: 900,
    accepted: 880,
    failing: 20,
    config: 0,
    sender: 0,
    secondsMedian: 0.4,
    secondsP95: 1.1,
  },
  receipts: { lastMinute: 400, lastTenMinutes: 3_000, due: 3, oldestDueSeconds: 0.4 },
  loops: sweptSecondsAgo(1, 2),
  senders: [sender(), sender()],
};

const waiting = (change: Partial<WaitingSends>): Partial<HealthFigures> => ({
  waiting: { ...WELL.waiting, ...change },
});
const provider = (change: Partial<ProviderAnswers>): Partial<HealthFigures> => ({
  provider: { ...WELL.provider, ...change },
});
const receipts = (change: Partial<ReceiptStatistics>): Partial<HealthFigures> => ({
  receipts: { ...WELL.receipts, ...change },
});
const late = (seconds: number): Partial<HealthFigures> =>
  waiting({ due: { count: 9, oldestSeconds: seconds } });

const CASES: [
  when: string,
  change: Partial<HealthFigures>,
  verdict: `${Verdict['whose']} ${Verdict['severity']} ${Verdict['what']}`,
][] = [
  ['nothing is wrong', {}, 'nobody good all_well'],
  [
    'nothing was ever sent',
    {
      ...provider({ calls: 0, accepted: 0, failing: 0, secondsMedian: null, secondsP95: null }),
      ...receipts({ lastMinute: 0, lastTenMinutes: 0 }),
      senders: [],
      ...waiting({ forSender: none }),
    },
    'nobody good all_well',
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
    'postgresql bad postgresql_away',
  ],
  [
    'neither answers: the one that all stand on comes first',
    { postgresqlMs: null, redisMs: null, queues: null },
    'postgresql bad postgresql_away',
  ],
  ['PostgreSQL is rather slow', { postgresqlMs: 200 }, 'postgresql odd postgresql_slow'],
  ['PostgreSQL is slow', { postgresqlMs: 1_000 }, 'postgresql bad postgresql_slow'],
  ['PostgreSQL answers, but a count takes too long', { waiting: null }, 'postgresql odd postgresql_slow'],
  [
    'PostgreSQL runs short of connections',
    { connections: { used: 80, most: 97 } },
    'postgresql odd postgresql_full',
  ],
  [
    'PostgreSQL has no connection left',
    { connections: { used: 97, most: 97 } },
    'postgresql bad postgresql_full',
  ],
  ['Redis does not answer', { redisMs: null, queues: null }, 'redis bad redis_away'],
  [
    'Redis is away and sends are late: the cause comes first',
    { redisMs: null, queues: null, ...late(60) },
    'redis bad redis_away',
  ],
  ['Redis is slow', { redisMs: 1_000 }, 'redis bad redis_slow'],
  ['no worker was heard of', { loops: [] }, 'us bad no_worker'],
  [
    'only other loops run',
    { loops: [{ loop: 'wake', workerId: 'worker', secondsAgo: 1 }] },
    'us bad no_worker',
  ],
  ['all sweepers have stopped', { loops: sweptSecondsAgo(25, 40) }, 'us bad sweeper_stopped'],
  ['all sweepers are slow', { loops: sweptSecondsAgo(12) }, 'us odd sweeper_stopped'],
  ['one of two workers is gone', { loops: sweptSecondsAgo(1, 900) }, 'nobody good all_well'],
  [
    'the worker is gone and sends are late: the cause comes first',
    { loops: sweptSecondsAgo(60), ...late(60) },
    'us bad sweeper_stopped',
  ],
  ['somebody paused a queue', { queues: [queue(), queue(true)] }, 'us bad queue_paused'],
  ['Meta refuses our token', provider({ config: 1 }), 'us bad configuration_fault'],
  ['Meta fails some calls', provider({ failing: 90 }), 'meta odd provider_failing'],
  ['Meta fails half of the calls', provider({ failing: 450 }), 'meta bad provider_failing'],
  ['a call fails on a quiet night', provider({ calls: 2, accepted: 0, failing: 2 }), 'nobody good all_well'],
  ['Meta is rather slow', provider({ secondsP95: 4 }), 'meta odd provider_slow'],
  ['Meta is slow', provider({ secondsP95: 9 }), 'meta bad provider_slow'],
  ['an operator paused a sender', { senders: [sender(), sender('paused')] }, 'held odd senders_paused'],
  ['an operator paused all senders', { senders: [sender('paused')] }, 'held bad senders_paused'],
  ['a sender rests after a fault', { senders: [sender(), sender('resting')] }, 'meta odd senders_resting'],
  ['all senders rest', { senders: [sender('resting'), sender('paused')] }, 'meta bad senders_resting'],
  [
    'sends wait and there is no sender',
    { senders: [], ...waiting({ forSender: { count: 4, oldestSeconds: 3 } }) },
    'us bad no_senders',
  ],
  ['senders are too few', waiting({ forSender: { count: 900, oldestSeconds: 20 } }), 'us odd senders_busy'],
  [
    'senders are far too few',
    waiting({ forSender: { count: 9_000, oldestSeconds: 70 } }),
    'us bad senders_busy',
  ],
  [
    'sends wait for the only sender to be resumed',
    { senders: [sender('paused')], ...waiting({ forSender: { count: 9, oldestSeconds: 300 } }) },
    'held bad senders_paused',
  ],
  ['no receipt comes', receipts({ lastTenMinutes: 0 }), 'meta bad receipts_missing'],
  [
    'no receipt comes on a quiet night',
    { ...receipts({ lastTenMinutes: 0 }), ...provider({ calls: 19, accepted: 19, failing: 0 }) },
    'nobody good all_well',
  ],
  ['receipts are not applied', receipts({ due: 50, oldestDueSeconds: 90 }), 'us bad receipts_late'],
  ['sends are rather late', late(6), 'us odd sends_late'],
  ['sends are late', late(16), 'us bad sends_late'],
  ['a switch holds sends', waiting({ held: { count: 1, oldestSeconds: 3 } }), 'held odd sends_held'],
  [
    'a switch holds sends, and something worse is wrong',
    { ...waiting({ held: { count: 1, oldestSeconds: 3 } }), redisMs: 1_200 },
    'redis bad redis_slow',
  ],
];

describe('the verdict', () => {
  it.each(CASES)('when %s', (_, change, expected) => {
    const { whose, severity, what } = diagnose({ ...WELL, ...change });
    expect(`${whose} ${severity} ${what}`).toBe(expected);
  });

  it('is the first of all findings, which name each matter once', () => {
    const figures: HealthFigures = { ...WELL, postgresqlMs: 220, waiting: null, redisMs: 1_200, loops: [] };
    expect(findingsOf(figures).map(({ what }) => what)).toEqual([
      'redis_slow',
      'no_worker',
      'postgresql_slow',
    ]);
  });
});
