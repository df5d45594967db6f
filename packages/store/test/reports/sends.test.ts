import { DELIVERY_STATES, DONE, type Verification } from '@onecode/domain';
import { changeSettings } from '@onecode/store/accounts';
import { newId, type Database } from '@onecode/store/client';
import {
  findSendDetails,
  listSends,
  overview,
  type OverviewQuestion,
  type SendFilter,
  type SendStatistics,
  type SendSummary,
} from '@onecode/store/reports';
import type { Sender } from '@onecode/store/senders';
import { changeSend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  recipientKeysOf,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { accepted, workerActions } from '../sends/sendActions.js';
import { hasExpired, insertSends, type PastSend } from './pastSends.js';
import { bucketStarts } from '../../src/reports/timeZones.js';

const store = useTestDatabase();

describe('an overview', () => {
  const ZONE = 'America/Sao_Paulo';
  const FROM = new Date('2026-03-01T00:00:00-03:00');
  const HOUR_MS = 3_600_000;
  const COUNT = 300;
  /** In these zones, clocks are set back from one o'clock to midnight. PostgreSQL starts that day at the second midnight. */
  const TWO_MIDNIGHTS = new Set(['America/Havana', 'Atlantic/Azores']);

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
        // Twelve and a half days, with no sends on the fourth.
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

  /** Computes the statistics of these sends directly. */
  function statisticsOf(some: readonly PastSend[]): SendStatistics {
    const count = (is: (send: PastSend) => boolean): number => some.filter(is).length;
    const delivered = some.filter(({ status }) => status === 'delivered' || status === 'read');
    const seconds = delivered.map(({ deliveryMs }) => deliveryMs / 1000).toSorted((a, b) => a - b);
    /** Interpolates between the two values around the position. The expected accuracy is 9% of 4 seconds. */
    const percentile = (share: number): unknown => {
      if (seconds.length === 0) return null;
      const place = share * (seconds.length - 1);
      const [low, high] = [seconds[Math.floor(place)], seconds[Math.ceil(place)]] as [number, number];
      return expect.closeTo(low + (high - low) * (place - Math.floor(place)), 0);
    };
    const shareOf = (part: number) => (some.length === 0 ? null : part / some.length);
    const [verified, failed, undelivered] = [
      count(({ verification }) => verification === 'verified'),
      count(({ status }) => status === 'failed'),
      count((send) => send.status === 'sent' && send.verification !== 'verified' && hasExpired(send)),
    ];
    const known = delivered.length + undelivered;
    return {
      sends: some.length,
      delivered: delivered.length,
      verified,
      failed,
      undelivered,
      deliveredShare: shareOf(delivered.length),
      verifiedShare: shareOf(verified),
      failedShare: shareOf(failed),
      undeliveredShare: known === 0 ? null : undelivered / known,
      deliverySecondsMedian: percentile(0.5) as number,
      deliverySecondsP95: percentile(0.95) as number,
    };
  }

  it('counts each application and each language separately', async () => {
    const { sampled, totals, applications, locales, countries, failures } = await ask();
    expect(sampled).toBeNull();
    expect(totals.failed * totals.verified * totals.delivered).toBeGreaterThan(0);
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
    expect(countries).toEqual([{ country: 'BR', ...statisticsOf(ours()) }]);
    expect(failures).toEqual([{ reason: 'rejected_by_provider', sends: statisticsOf(ours()).failed }]);
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
      'a period that includes its start and excludes its end',
      () => ({ from: new Date(FROM.getTime() + 10 * HOUR_MS), to: new Date(FROM.getTime() + 20 * HOUR_MS) }),
      ({ at }) =>
        at.getTime() >= FROM.getTime() + 10 * HOUR_MS && at.getTime() < FROM.getTime() + 20 * HOUR_MS,
    ],
  ])('can be limited to %s', async (_, question, is) => {
    const { totals, series } = await ask(question());
    expect(totals).toEqual(statisticsOf(ours(is)));
    expect(series.reduce((sum, { sends: count }) => sum + count, 0)).toBe(totals.sends);
  });

  it('has each day of the time zone, including days without sends', async () => {
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

  it('has each hour, including partial hours at both ends', async () => {
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
  ])('has the days around a change of clocks, from %s to %s in Berlin', async (first, last, starts) => {
    const [from, end] = [new Date(`${first}T10:00:00Z`), new Date(`${last}T10:00:00Z`)];
    const { series } = await ask({ from, to: end, timeZone: 'Europe/Berlin' });
    expect(series.map(({ start }) => start)).toEqual(starts.map((start) => new Date(start)));
  });

  it('starts days like PostgreSQL, in every time zone that JavaScript also knows', async () => {
    // The zones of America include changes of clocks at midnight.
    const [names, zonesMin] = process.env['ALL_TESTS'] === '1' ? ['%', 300] : ['America/%', 100];
    const known = new Set(Intl.supportedValuesOf('timeZone'));
    const [from, end] = [new Date('2023-12-31T12:00:00Z'), new Date('2024-12-31T12:00:00Z')];
    const zones = await store.sql<{ name: string; starts: Date[] }>(
      `select name, array(
         select t at time zone name from generate_series(date_trunc('day', $1::timestamptz at time zone name),
           $2::timestamptz at time zone name, interval '1 day') t where t at time zone name < $2::timestamptz order by t
       ) as starts from pg_timezone_names where name like $3 order by name`,
      [from, end, names],
    );
    const both = zones.filter(({ name }) => known.has(name) && !TWO_MIDNIGHTS.has(name));
    expect(both.length).toBeGreaterThan(zonesMin);
    const differing = both.filter(
      ({ name, starts }) =>
        bucketStarts('day', { from, to: end }, name).map(Number).join() !== starts.map(Number).join(),
    );
    expect(differing.map(({ name }) => name)).toEqual([]);
  });

  it.each(['Asia/Calcutta', 'America/Buenos_Aires', 'Europe/Kiev', 'Asia/Saigon', 'Europe/Kyiv'])(
    'never sends the time zone %s to PostgreSQL, which may not know it',
    async (timeZone) => {
      const asked: unknown[] = [];
      const query: Database['sql']['query'] = (...statement) => {
        asked.push(statement);
        return store.database.sql.query(...statement);
      };
      const database = { ...store.database, sql: { ...store.database.sql, query } };
      for (const bucket of ['hour', 'day'] as const) {
        const question = { from: FROM, to: new Date(FROM.getTime() + 72 * HOUR_MS), bucket, timeZone };
        const { totals } = await overview(database, live.accountId, question);
        expect(totals.sends).toBeGreaterThan(0);
      }
      expect(asked.length).toBeGreaterThan(0);
      expect(JSON.stringify(asked)).not.toContain(timeZone);
    },
  );

  it('is empty without sends, and excludes other accounts', async () => {
    const nothing = { sampled: null, totals: statisticsOf([]), applications: [], locales: [] };
    expect(await ask({ from: to, to: new Date(to.getTime() + 1) })).toMatchObject(nothing);
    expect(await ask({}, newId())).toMatchObject(nothing);
    expect(await ask({ applicationId: stranger.applicationId })).toMatchObject(nothing);
  });

  it('throws for more than a thousand buckets', async () => {
    await expect(ask({ bucket: 'hour', to: new Date(FROM.getTime() + 1001 * HOUR_MS) })).rejects.toThrow(
      RangeError,
    );
    expect(
      (await ask({ bucket: 'hour', to: new Date(FROM.getTime() + 1000 * HOUR_MS) })).series,
    ).toHaveLength(1000);
  });
});

describe('the list of sends', () => {
  let live: TestCaller;
  let other: TestCaller;
  let test: TestCaller;
  let stranger: TestCaller;
  beforeAll(async () => {
    // A guess budget would refuse the many sends to one recipient below.
    await changeSettings(store.database, TEST_ACTOR, { guessBudget: null });
    await buildSender(store.database);
    live = await buildCaller(store.database, 'live', { credits: 1000, ratePerMinute: 10_000 });
    other = await buildCaller(store.database, 'live', { id: live.accountId });
    test = await buildCaller(store.database, 'test', { id: live.accountId });
    stranger = await buildCaller(store.database, 'live', { credits: 1000 });
  });

  /** Returns the pages of a list with this page size. */
  async function pagesOf(
    filter: SendFilter,
    limit: number,
    between: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<SendSummary[][]> {
    const pages: SendSummary[][] = [];
    for (let before: string | null | undefined; before !== null;) {
      const page = await listSends(store.database, live.accountId, filter, {
        limit,
        ...(before !== undefined && { before }),
      });
      pages.push(page.sends);
      before = page.next;
      if (before !== null) await between();
    }
    return pages;
  }
  const idsOf = (pages: readonly SendSummary[][]): string[] => pages.flat().map(({ id }) => id);

  const VERIFICATIONS: readonly Verification[] = ['pending', 'verified', 'locked', 'expired'];
  const PHONES = ['+5511900000001', '+5511900000002', '+5511900000003'];
  const start = Date.now() - 40 * 60_000;
  const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

  /**
   * Forty minutes with every possible state, with sends of each application of two accounts at the same times. No code expires during the
   * tests.
   */
  const past = (): PastSend[] =>
    Array.from({ length: 400 }, (_, n) => {
      const caller = pick([live, other, test, stranger], n);
      return {
        caller,
        at: new Date(start + 5_000 * (n - (n % 4)) + (n < 300 ? 0 : 400_000)),
        recipient: pick(PHONES, Math.floor(n / 7)),
        locale: 'en',
        status:
          caller.mode === 'test'
            ? pick(['queued', 'read'] as const, n)
            : pick(DELIVERY_STATES, Math.floor(n / 5)),
        verification: pick(
          ['pending', 'verified', 'pending', 'locked', 'pending'] as const,
          Math.floor(n / 3),
        ),
        deliveryMs: 2_000,
      };
    });

  let sends: (PastSend & { id: string })[];
  beforeAll(async () => {
    const given = past();
    const ids = await insertSends(store, given);
    sends = given.map((send, n) => ({ ...send, id: ids[n] as string }));
  });

  /** Returns the sends that match a filter, by checking every send. */
  const meant = (filter: SendFilter, of = live): string[] =>
    sends
      .filter(
        (send) =>
          send.caller.accountId === of.accountId &&
          (filter.applicationId ?? send.caller.applicationId) === send.caller.applicationId &&
          (filter.mode ?? send.caller.mode) === send.caller.mode &&
          (filter.status ?? send.status) === send.status &&
          (filter.recipientKeys ?? recipientKeysOf(send.recipient)).includes(
            recipientKeysOf(send.recipient)[0]!,
          ) &&
          (filter.createdFrom ?? send.at) <= send.at &&
          (filter.createdTo === undefined || send.at < filter.createdTo) &&
          (filter.verification === undefined ||
            filter.verification ===
              (send.verification === 'pending' && hasExpired(send) ? 'expired' : send.verification)),
      )
      .map(({ id }) => id)
      .toReversed();

  const scopes = (): SendFilter[] => [
    {},
    { applicationId: other.applicationId },
    { mode: 'live' },
    { mode: 'test' },
  ];
  const times: SendFilter[] = [
    {},
    { createdFrom: new Date(start + 240_000), createdTo: new Date(start + 1_480_000) },
  ];

  it.each([undefined, ...DELIVERY_STATES])(
    'contains exactly the sends that match every filter, with the status %s',
    async (status) => {
      let found = 0;
      for (const scope of scopes())
        for (const verification of [undefined, ...VERIFICATIONS])
          for (const recipient of [undefined, PHONES[1]])
            for (const time of times) {
              const filter: SendFilter = {
                ...scope,
                ...time,
                ...(status !== undefined && { status }),
                ...(verification !== undefined && { verification }),
                ...(recipient !== undefined && { recipientKeys: recipientKeysOf(recipient) }),
              };
              const ids = idsOf(await pagesOf(filter, 150));
              expect({ filter, ids }).toEqual({ filter, ids: meant(filter) });
              found += ids.length;
            }
      expect(found).toBeGreaterThan(50);
    },
  );

  it.each([
    ['all', {}],
    ['of one mode', { mode: 'live' }],
    ['that failed', { status: 'failed' }],
    ['to one recipient', { recipientKeys: recipientKeysOf(PHONES[0] as string) }],
  ] as const)('is paged without gaps or repeats while new sends are created: %s', async (_, filter) => {
    const before = idsOf(await pagesOf(filter, 1000));
    const pages = await pagesOf(filter, 7, async () => {
      for (const caller of [live, test])
        await buildSend(store.database, caller, { recipient: PHONES[0] as string });
    });
    expect(pages.length).toBeGreaterThan(2);
    expect(idsOf(pages)).toEqual(before);
    expect(pages.slice(0, -1).filter((page) => page.length !== 7)).toEqual([]);
  });
});

describe('the details of a send', () => {
  let caller: TestCaller;
  let sender: Sender;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 100 });
    sender = await buildSender(store.database);
  });

  const { claimSend, settleSend } = workerActions(store, () => sender);

  it('contain the attempts, and the provider’s reports with their codes', async () => {
    const id = await buildSend(store.database, caller);
    const details = async () => (await findSendDetails(store.database, caller.accountId, id))!;
    await claimSend(id);
    const startedAt = expect.any(Date);
    expect((await details()).attempts).toEqual([
      {
        number: 1,
        startedAt,
        finishedAt: null,
        outcome: null,
        errorCode: null,
        messageStatus: null,
        senderNumber: sender.number,
        isOwnSender: false,
      },
    ]);
    await settleSend(id, 1, accepted('wamid.details.own'));
    const report = { at: new Date(Date.now() + 1_000), errorCode: 131026 };
    const deliveredAt = new Date(Date.now() + 2_000);
    await changeSend(store.database, { id }, (send) => ({
      result: null,
      change: { ...DONE, status: 'delivered', deliveredAt },
      attempts: [
        {
          number: 1,
          senderId: sender.id,
          startedAt: send.createdAt,
          outcome: 'accepted',
          errorCode: null,
          messageId: null,
          report,
        },
      ],
    }));
    const { attempts, receipts } = await details();
    expect(attempts).toMatchObject([{ number: 1, finishedAt: expect.any(Date), outcome: 'accepted' }]);
    expect(receipts).toEqual([
      { attempt: 1, status: 'failed', occurredAt: report.at, errorCode: 131026 },
      { attempt: 1, status: 'delivered', occurredAt: deliveredAt, errorCode: null },
    ]);
  });
});
