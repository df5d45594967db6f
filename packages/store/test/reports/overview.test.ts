import { DELIVERY_STATES } from '@onecode/domain';
import { newId, overview, type SendStatistics, type OverviewQuestion } from '@onecode/store';
import { buildCaller, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';
import { insertSends, type PastSend } from './pastSends.js';

const ZONE = 'America/Sao_Paulo';
const FROM = new Date('2026-03-01T00:00:00-03:00');
const HOUR_MS = 3_600_000;
const COUNT = 300;

const store = useTestDatabase();
let live: TestCaller;
let other: TestCaller;
let test: TestCaller;
let stranger: TestCaller;
let sends: PastSend[];
beforeAll(async () => {
  await buildSender(store.database);
  live = await buildCaller(store.database, 'live');
  other = await buildCaller(store.database, 'live', { id: live.accountId });
  test = await buildCaller(store.database, 'test', { id: live.accountId });
  stranger = await buildCaller(store.database, 'live');
  sends = Array.from({ length: COUNT }, (_, n) => {
    const caller = pick([live, other, live, test, stranger], n);
    return {
      caller,
      // Twelve and a half days, with nothing on the fourth.
      at: new Date(FROM.getTime() + HOUR_MS * (n < 72 ? n : n + 24)),
      recipient: '+5511987654321',
      locale: pick(['pt-BR', 'en', 'en'] as const, Math.floor(n / 5)),
      status: caller.mode === 'test' ? 'read' : pick(DELIVERY_STATES.slice(2), Math.floor(n / 3)),
      verification: pick(['verified', 'pending', 'verified', 'locked'] as const, Math.floor(n / 2)),
      deliveryMs: 1000 + 10 * ((n * 37) % COUNT),
    };
  });
  await insertSends(store, sends);
});

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
const to = new Date(FROM.getTime() + 40 * 24 * HOUR_MS);
const ask = (question: Partial<OverviewQuestion> = {}, accountId = live.accountId) =>
  overview(store.database, accountId, { from: FROM, to, bucket: 'day', timeZone: ZONE, ...question });
const ours = (is: (send: PastSend) => boolean = () => true): PastSend[] =>
  sends.filter((send) => send.caller.accountId === live.accountId && is(send));

/** The statistics of these sends, by counting them. */
function statisticsOf(some: readonly PastSend[]): SendStatistics {
  const count = (is: (send: PastSend) => boolean): number => some.filter(is).length;
  const delivered = some.filter(({ status }) => status === 'delivered' || status === 'read');
  const seconds = delivered.map(({ deliveryMs }) => deliveryMs / 1000).toSorted((a, b) => a - b);
  /** Between the two values beside the place, as `percentile_cont` says. */
  const percentile = (share: number): unknown => {
    if (seconds.length === 0) return null;
    const place = share * (seconds.length - 1);
    const [low, high] = [seconds[Math.floor(place)], seconds[Math.ceil(place)]] as [number, number];
    return expect.closeTo(low + (high - low) * (place - Math.floor(place)), 6);
  };
  const shareOf = (part: number) => (some.length === 0 ? null : part / some.length);
  const [verified, failed] = [
    count(({ verification }) => verification === 'verified'),
    count(({ status }) => status === 'failed'),
  ];
  return {
    sends: some.length,
    delivered: delivered.length,
    verified,
    failed,
    deliveredShare: shareOf(delivered.length),
    verifiedShare: shareOf(verified),
    failedShare: shareOf(failed),
    deliverySecondsMedian: percentile(0.5) as number,
    deliverySecondsP95: percentile(0.95) as number,
  };
}

describe('an overview', () => {
  it('counts what became of the sends, and how long deliveries took', async () => {
    const { sampled, totals } = await ask();
    expect(sampled).toBeNull();
    expect(totals).toEqual(statisticsOf(ours()));
    expect(totals.failed * totals.verified * totals.delivered).toBeGreaterThan(0);
  });

  it('counts each application and each language for itself', async () => {
    const { applications, locales } = await ask();
    const expected = [live, other, test].map((caller) => ({
      applicationId: caller.applicationId,
      name: `Test ${caller.mode}`,
      mode: caller.mode,
      ...statisticsOf(ours((send) => send.caller === caller)),
    }));
    expect(applications).toHaveLength(3);
    expect(applications).toEqual(expect.arrayContaining(expected));
    expect(applications[0]!.applicationId).toBe(live.applicationId);
    expect(locales).toEqual(
      (['en', 'pt-BR'] as const).map((locale) => ({
        locale,
        ...statisticsOf(ours((send) => send.locale === locale)),
      })),
    );
  });

  it.each<[string, () => Partial<OverviewQuestion>, (send: PastSend) => boolean]>([
    ['an application', () => ({ applicationId: other.applicationId }), (send) => send.caller === other],
    ['live sends', () => ({ mode: 'live' }), (send) => send.caller.mode === 'live'],
    ['test sends', () => ({ mode: 'test' }), (send) => send.caller.mode === 'test'],
    ['a language', () => ({ locale: 'pt-BR' }), (send) => send.locale === 'pt-BR'],
    [
      'all of these',
      () => ({ applicationId: live.applicationId, mode: 'live', locale: 'en' }),
      (send) => send.caller === live && send.locale === 'en',
    ],
    [
      'an application in the other mode',
      () => ({ applicationId: live.applicationId, mode: 'test' }),
      () => false,
    ],
    [
      'a time, its first moment included and its last one not',
      () => ({ from: new Date(FROM.getTime() + 10 * HOUR_MS), to: new Date(FROM.getTime() + 20 * HOUR_MS) }),
      ({ at }) =>
        at.getTime() >= FROM.getTime() + 10 * HOUR_MS && at.getTime() < FROM.getTime() + 20 * HOUR_MS,
    ],
  ])('is of %s where that is asked for', async (_, question, is) => {
    const { totals, series } = await ask(question());
    expect(totals).toEqual(statisticsOf(ours(is)));
    expect(series.reduce((sum, { sends: count }) => sum + count, 0)).toBe(totals.sends);
  });

  it('has each day of the time zone, empty ones too', async () => {
    const { series } = await ask();
    expect(series).toEqual(
      Array.from({ length: 40 }, (_, day) => {
        const [start, end] = [day, day + 1].map((d) => new Date(FROM.getTime() + d * 24 * HOUR_MS)) as [
          Date,
          Date,
        ];
        return { start, ...statisticsOf(ours(({ at }) => at >= start && at < end)) };
      }),
    );
    expect(series.findIndex(({ sends: count }) => count === 0)).toBe(3);
  });

  it('has each hour, and parts of hours at both ends', async () => {
    const from = new Date('2026-03-02T10:40:00-03:00');
    const { series } = await ask({ from, to: new Date('2026-03-02T13:00:01-03:00'), bucket: 'hour' });
    expect(series.map(({ start, sends: count }) => [start.toISOString(), count])).toEqual([
      ['2026-03-02T13:00:00.000Z', 0],
      ['2026-03-02T14:00:00.000Z', expect.any(Number)],
      ['2026-03-02T15:00:00.000Z', expect.any(Number)],
      ['2026-03-02T16:00:00.000Z', expect.any(Number)],
    ]);
  });

  it.each([
    ['2026-03-28', '2026-03-30', ['2026-03-27T23:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z']],
    ['2026-10-24', '2026-10-26', ['2026-10-23T22:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z']],
  ])(
    'knows the days on which clocks change, such as those from %s to %s in Berlin',
    async (first, last, starts) => {
      const [from, end] = [new Date(`${first}T10:00:00Z`), new Date(`${last}T10:00:00Z`)];
      const { series } = await ask({ from, to: end, timeZone: 'Europe/Berlin' });
      expect(series.map(({ start }) => start)).toEqual(starts.map((start) => new Date(start)));
    },
  );

  it('is empty where there is nothing, and has nothing of another account', async () => {
    const nothing = { sampled: null, totals: statisticsOf([]), applications: [], locales: [] };
    expect(await ask({ from: to, to: new Date(to.getTime() + 1) })).toMatchObject(nothing);
    expect(await ask({}, newId())).toMatchObject(nothing);
    expect(await ask({ applicationId: stranger.applicationId })).toMatchObject(nothing);
  });

  it('refuses to draw thousands of buckets', async () => {
    await expect(ask({ bucket: 'hour', to: new Date(FROM.getTime() + 1001 * HOUR_MS) })).rejects.toThrow(
      RangeError,
    );
    expect(
      (await ask({ bucket: 'hour', to: new Date(FROM.getTime() + 1000 * HOUR_MS) })).series,
    ).toHaveLength(1000);
  });
});
