import { applyTestReports, buildCaller, buildSend, buildSender, type TestCaller } from '@onecode/testing';
import type { OverviewView } from '../../src/features/overview/view.js';
import { useConsole } from '../console.js';
import { attempt, report } from '../delivery.js';
import { person, type TestPerson } from '../people.js';

const DAY_MS = 86_400_000;
const MESSAGE = 'wamid.overview';

const server = useConsole();
let shop: TestCaller;
let bank: TestCaller;
let trial: TestCaller;
let viewer: TestPerson;
beforeAll(async () => {
  const { database } = server.db;
  shop = await buildCaller(database, 'live', { credits: 100 });
  bank = await buildCaller(database, 'live', { id: shop.accountId });
  trial = await buildCaller(database, 'test', { id: shop.accountId });
  const foreign = await buildCaller(database, 'live', { credits: 100 });
  viewer = await person(server, { accounts: { [shop.accountId]: 'viewer' } });
  for (const caller of [shop, bank, trial, foreign]) await buildSend(database, caller, { locale: 'pt-BR' });
  const accepted = await buildSend(database, shop, { locale: 'en' });
  await attempt(database, accepted, await buildSender(database), { kind: 'accepted', messageId: MESSAGE });
});

function query(more: Record<string, string> = {}): string {
  const now = Date.now();
  return new URLSearchParams({
    from: new Date(now - 2 * DAY_MS).toISOString(),
    to: new Date(now + 60_000).toISOString(),
    bucket: 'day',
    timeZone: 'America/Sao_Paulo',
    ...more,
  }).toString();
}

async function overview(more: Record<string, string> = {}): Promise<OverviewView> {
  const { status, body } = await viewer.get<OverviewView>(
    `/accounts/${shop.accountId}/overview?${query(more)}`,
  );
  expect(status).toBe(200);
  return body;
}

describe('the overview', () => {
  it('counts the account’s own sends, by application, country, language and day of the reader', async () => {
    const { totals, previous, series, ...parts } = await overview({ mode: 'live' });
    expect([totals.sends, previous.sends]).toEqual([3, 0]);
    expect(series.every(({ start }) => /^\d{4}-.*T03:00:00\.000Z$/.test(start))).toBe(true);
    expect(parts).toMatchObject({
      sampled: null,
      applications: [
        { applicationId: shop.applicationId, sends: 2 },
        { applicationId: bank.applicationId, sends: 1 },
      ],
      countries: [{ country: 'BR', sends: 3 }],
      locales: [
        { locale: 'pt-BR', sends: 2 },
        { locale: 'en', sends: 1 },
      ],
    });
    expect((await overview({ bucket: 'hour', locale: 'pt-BR' })).totals.sends).toBe(2);
  });

  it('counts live sends by default, and test sends if no application is live', async () => {
    const begun = await buildCaller(server.db.database, 'test');
    const newcomer = await person(server, { accounts: { [begun.accountId]: 'viewer' } });
    await buildSend(server.db.database, begun);
    const modeAndSends = ({ mode, totals }: OverviewView) => [mode, totals.sends];
    const path = `/accounts/${begun.accountId}/overview?${query()}`;
    expect(modeAndSends((await newcomer.get<OverviewView>(path)).body)).toEqual(['test', 1]);
    expect(modeAndSends(await overview())).toEqual(['live', 3]);
    expect(modeAndSends(await overview({ application: trial.applicationId }))).toEqual(['test', 1]);
  });

  it('includes the same part of the previous period', async () => {
    const caller = await buildCaller(server.db.database, 'test', { id: shop.accountId });
    const now = Date.now();
    const MINUTE_MS = 60_000;
    const begun = (now - 90 * MINUTE_MS).toString(16).padStart(12, '0');
    await server.db.sql('update sends set id = ($1 || right(id::text, 23))::uuid where id = $2', [
      `${begun.slice(0, 8)}-${begun.slice(8)}`,
      await buildSend(server.db.database, caller),
    ]);
    const of = async (begin: number, minutes: number) => {
      const { totals, previous } = await overview({
        application: caller.applicationId,
        from: new Date(begin).toISOString(),
        to: new Date(begin + minutes * MINUTE_MS).toISOString(),
      });
      return [totals.sends, previous.sends];
    };
    expect(await of(now - 60 * MINUTE_MS, 60)).toEqual([0, 1]);
    expect(await of(now - 120 * MINUTE_MS, 60)).toEqual([1, 0]);
    // In the previous period, the send is later than the same part.
    expect(await of(now - 60 * MINUTE_MS, 120)).toEqual([0, 0]);
  });

  it('has the share of accepted messages that never arrived, by country, after their codes have expired', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { credits: 9 });
    const reader = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const sender = await buildSender(database);
    const send = async (country: string, end: 'expired' | 'active' | 'delivered') => {
      const id = await buildSend(database, caller);
      const messageId = `wamid.${id}`;
      const name = await attempt(database, id, sender, { kind: 'accepted', messageId });
      if (end === 'delivered')
        await report(database, name, { messageId, status: 'delivered', failure: null });
      await server.db.sql('update sends set country = $1 where id = $2', [country, id]);
      if (end === 'expired')
        await server.db.sql(
          `update sends set created_at = created_at - interval '1 minute', expires_at = now() - interval '1 second' where id = $1`,
          [id],
        );
    };
    for (const [country, ends] of [
      ['BR', ['expired', 'delivered', 'delivered', 'delivered', 'active']],
      ['AR', ['delivered']],
      ['CL', ['active']],
    ] as const)
      for (const end of ends) await send(country, end);
    const path = `/accounts/${caller.accountId}/overview`;
    const { totals, countries } = (await reader.get<OverviewView>(`${path}?${query()}`)).body;
    expect(totals).toMatchObject({ undelivered: 1, undeliveredShare: 0.2 });
    expect(countries).toMatchObject([
      { country: 'BR', undelivered: 1, undeliveredShare: 0.25 },
      { country: 'AR', undelivered: 0, undeliveredShare: 0 },
      { country: 'CL', undelivered: 0, undeliveredShare: null },
    ]);
  });

  it('counts denied codes by application and country', async () => {
    await applyTestReports(server.db.database, { denials: [{ messageId: MESSAGE, occurredAt: new Date() }] });
    const denials = [
      { applicationId: shop.applicationId, name: expect.any(String), country: 'BR', denials: 1 },
    ];
    expect(await overview({ mode: 'live' })).toMatchObject({ denials });
    expect(await overview({ mode: 'test' })).toMatchObject({ denials: [] });
    expect(await overview({ application: bank.applicationId })).toMatchObject({ denials: [] });
    expect(await overview({ locale: 'en' })).toMatchObject({ denials });
    expect(await overview({ locale: 'pt-BR' })).toMatchObject({ denials: [] });
  });

  it.each<[Record<string, string>, string]>([
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ timeZone: '' }, 'timeZone'],
    [{ timeZone: 'A'.repeat(61) }, 'timeZone'],
    [{ from: 'then' }, 'from'],
    [{ to: '2020-01-01T00:00:00Z' }, 'to'],
    [{ from: '2020-01-01T00:00:00Z' }, 'to'],
    [{ bucket: 'hour', from: new Date(Date.now() - 20 * DAY_MS).toISOString() }, 'to'],
  ])('refuses %j', async (more, field) => {
    const { status, body } = await viewer.get(`/accounts/${shop.accountId}/overview?${query(more)}`);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });
});

describe('a time zone', () => {
  // PostgreSQL of Debian 13 and Ubuntu 24.04 lacks the first of each pair, and Node 20 uses it as the name of the second.
  const PAIRS = [
    ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
    ['Europe/Kiev', 'Europe/Kyiv'],
  ] as const;
  const answerFor = (timeZone: string) =>
    viewer.get<OverviewView>(`/accounts/${shop.accountId}/overview?${query({ timeZone })}`);

  it.each(PAIRS)('has the same overview with its legacy name %s and with %s', async (legacy, modern) => {
    const [one, other] = [await answerFor(legacy), await answerFor(modern)];
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(one.body.series.map(({ start }) => start)).toEqual(other.body.series.map(({ start }) => start));
  });

  it('has an overview if Node knows it, and is refused with 422 if not', async () => {
    const legacy = ['US/Pacific-New', 'US/Pacific', 'GMT+0', 'PST8PDT', 'Etc/GMT+12', 'zulu'];
    const sample = Intl.supportedValuesOf('timeZone').filter((_, n) => n % 10 === 0);
    for (const timeZone of [...sample, ...legacy]) {
      const { status } = await answerFor(timeZone);
      expect([timeZone, status]).toEqual([timeZone, 200]);
    }
    const unknown = ['Mars/Olympus', 'Pacific-New', 'A+1', 'UTC+3', 'posixrules', "UTC';--"];
    for (const timeZone of [...unknown, `a${'_'.repeat(58)}!`]) {
      const { status, body } = await viewer.get(
        `/accounts/${shop.accountId}/overview?${query({ timeZone })}`,
      );
      expect([timeZone, status, Object.keys(body.errors)]).toEqual([timeZone, 422, ['timeZone']]);
    }
  });
});
