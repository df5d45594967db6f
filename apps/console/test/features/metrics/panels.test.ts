import { until } from '@onecode/testing';
import { readDashboard } from '../../../src/features/metrics/dashboard.js';
import {
  fillVariables,
  pointsIn,
  RANGES,
  timeRange,
  type RangeName,
} from '../../../src/features/metrics/timeRange.js';
import type { DashboardView, PanelView } from '../../../src/features/metrics/view.js';
import { startConsole, type StartedConsole } from '../../console.js';
import { person, type Answer, type TestPerson } from '../../people.js';
import {
  answerJson,
  answerWithData,
  startPrometheusStandIn,
  type PrometheusStandIn,
} from '../../prometheusStandIn.js';

/** Longer than a panel may take. */
const SLOW_MS_MAX = 30_000;
const FUNNEL = 7;
const FINDINGS = 2;
const DELIVERY_ERRORS = 3;

const rows = readDashboard();
const ids = rows.flatMap(({ panels }) => panels.map(({ id }) => id));
const ranges = Object.keys(RANGES) as RangeName[];

let prometheus: PrometheusStandIn;
/** Each test has a console of its own, since a console remembers what it read. */
let server: StartedConsole;
let onCall: TestPerson;
async function start(address = prometheus.url): Promise<void> {
  server = await startConsole({ PROMETHEUS_URL: address });
  onCall = await person(server, { staff: 'on_call' });
}
beforeEach(async () => {
  prometheus = await startPrometheusStandIn();
});
afterEach(async () => {
  await server.close();
  await prometheus.close();
});

const ask = (id: number | string, range = '1h', more = ''): Promise<Answer<PanelView>> =>
  onCall.get<PanelView>(`/staff/metrics/panel?id=${id}&range=${range}${more}`);
const emptyAnswer: PrometheusStandIn['answer'] = (_query, response) =>
  answerJson(response, { status: 'success', data: { resultType: 'matrix', result: [] } });

describe('a panel of the Metrics page', () => {
  it('has the series of the file’s queries, with few points in every range, and no query leaves the server', async () => {
    await start();
    const { body: dashboard } = await onCall.get<DashboardView>('/staff/metrics');
    expect(dashboard.rows.flatMap(({ panels }) => panels.map(({ id }) => id))).toEqual(ids);
    expect(JSON.stringify(dashboard)).not.toMatch(/rate\(|onecode_|expr/);
    for (const range of dashboard.ranges) {
      const { body } = await ask(FUNNEL, range);
      expect(body.state).toBe('ok');
      expect(body.data!.series.map(({ refId }) => refId)).toEqual(['A', 'B', 'C', 'D']);
      const counts = body.data!.series.map(({ values }) => values.filter((value) => value !== null).length);
      expect(counts).toEqual(Array(4).fill(pointsIn(body.data!.range)));
      expect(counts[0]).toBeLessThanOrEqual(241);
      expect(JSON.stringify(body)).not.toContain('rate(');
    }
    expect(
      prometheus.queries.map(({ parameters }) => parameters['query']!).filter((query) => query.includes('$')),
    ).toEqual([]);
    const ofFile = rows.flatMap(({ panels }) =>
      panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    );
    const windows = new Set(
      ranges.flatMap((range) => ofFile.map((expr) => fillVariables(expr, timeRange(range, new Date())))),
    );
    expect(prometheus.queries.every(({ parameters }) => windows.has(parameters['query']!))).toBe(true);
  });

  it('is named by its id and a range alone: no query is accepted, and none of another panel', async () => {
    await start();
    for (const id of [0, -1, 1, 99, 99_999, 'up', '7;up', ''])
      expect([id, (await ask(id)).status]).toEqual([id, typeof id === 'number' && id > 0 ? 404 : 422]);
    for (const more of ['query=up', 'expr=up', 'step=1', 'from=0', 'targets=up'])
      expect(await ask(FUNNEL, '1h', `&${more}`)).toMatchObject({ status: 422 });
    for (const range of ['2h', '1h]) or (up', '999d', ''])
      expect((await ask(FUNNEL, range)).status).toBe(422);
    expect((await onCall.post('/staff/metrics/panel', { query: 'up' })).status).toBe(404);
    expect(prometheus.queries).toEqual([]);
  });

  it('costs Prometheus one round of queries, however many look', async () => {
    await start();
    const others = await Promise.all([
      person(server, { staff: 'operator' }),
      person(server, { staff: 'on_call' }),
    ]);
    const path = `/staff/metrics/panel?id=${FUNNEL}&range=1h`;
    const looks = [onCall, ...others].flatMap((who) =>
      Array.from({ length: 10 }, () => who.get<PanelView>(path)),
    );
    for (const { body } of await Promise.all(looks)) expect(body.state).toBe('ok');
    await ask(FUNNEL);
    expect(prometheus.queries).toHaveLength(4);
  });

  it('says which series Prometheus does not have, and keeps that apart from nothing that matches', async () => {
    prometheus.answer = emptyAnswer;
    await start();
    expect((await ask(DELIVERY_ERRORS)).body.data).toMatchObject({
      series: [],
      absent: ['onecode:delivery_errors:ratio_rate1h'],
    });
    expect((await ask(FINDINGS)).body.data!.absent).toEqual(['onecode_health_finding']);

    prometheus.answer = ({ parameters }, response) =>
      answerJson(response, {
        status: 'success',
        data: {
          result: parameters['query']!.includes('__name__')
            ? [{ metric: { __name__: 'onecode_health_finding' }, value: [1, '9'] }]
            : [],
        },
      });
    expect((await ask(FINDINGS, '6h')).body.data).toMatchObject({ series: [], absent: [] });
  });

  it('has no value where Prometheus has none that is a number', async () => {
    prometheus.answer = ({ parameters: { start: from } }, response) =>
      answerJson(response, {
        status: 'success',
        data: {
          result: [
            {
              metric: {},
              values: [
                [Number(from), 'NaN'],
                [Number(from) + 15, '+Inf'],
                [Number(from) + 30, '0.5'],
              ],
            },
          ],
        },
      });
    await start();
    const { data } = (await ask(DELIVERY_ERRORS)).body;
    expect(data!.series[0]!.values.slice(0, 4)).toEqual([null, null, 0.5, null]);
  });
});

describe('a Prometheus that does not answer as it should', () => {
  const state = async (): Promise<PanelView> => {
    const { status, body } = await ask(FUNNEL);
    expect(status).toBe(200);
    return body;
  };

  it('is told as away when nothing listens, while other pages answer', async () => {
    await start();
    await prometheus.close();
    expect(await state()).toEqual({ state: 'away', data: null });
    expect((await onCall.get('/staff/health')).status).toBe(200);
  });

  it('is told as slow in time, delays nothing else, and is left alone after it was silent', async () => {
    prometheus.answer = () => {};
    await start();
    const panels = Promise.all(ids.map((id) => ask(id)));
    await until('queries under way', () => prometheus.queries.length > 0);
    const health = await Promise.race([onCall.get('/staff/health'), panels]);
    expect(health).toMatchObject({ status: 200 });
    expect((await panels).map(({ body }) => body.state)).toEqual(ids.map(() => 'slow'));
    // No more than may be under way at a time were asked.
    expect(prometheus.queries.length).toBeLessThanOrEqual(6);
    prometheus.answer = answerWithData;
    await until('data again', async () => (await state()).state === 'ok', SLOW_MS_MAX);
  }, 60_000);

  it('is told as refusing, failing or saying too much', async () => {
    await start();
    const answers: [PrometheusStandIn['answer'], string][] = [
      [(_query, response) => response.writeHead(401).end('no'), 'refused'],
      [
        (_query, response) => answerJson(response, { status: 'error', errorType: 'execution' }, 422),
        'failed',
      ],
      [(_query, response) => answerJson(response, { status: 'error', errorType: 'timeout' }, 503), 'slow'],
      [(_query, response) => response.end('<html>Sign in</html>'), 'failed'],
      [(_query, response) => response.end('null'), 'failed'],
      [(_query, response) => response.writeHead(302, { location: '/login' }).end(), 'failed'],
      [(_query, response) => response.end(`"${'x'.repeat(3 * 1024 * 1024)}"`), 'too_large'],
    ];
    for (const [at, [answer, expected]] of answers.entries()) {
      prometheus.answer = answer;
      // Each is another panel or range: the answer before is still shared.
      const id = at < ranges.length ? FUNNEL : FINDINGS;
      const { body } = await ask(id, ranges[at % ranges.length]);
      expect([at, body]).toEqual([at, { state: expected, data: null }]);
    }
  });

  it('gets user and password as basic authentication, below the path of its address', async () => {
    await start(prometheus.url.replace('://', '://ana:p%40ss%3A@').concat('/prefix/'));
    expect((await state()).state).toBe('ok');
    const [{ path, authorization }] = prometheus.queries as [PrometheusStandIn['queries'][number]];
    expect(path).toBe('/prefix/api/v1/query_range');
    expect(authorization).toBe(`Basic ${Buffer.from('ana:p@ss:').toString('base64')}`);
  });
});

it('without a Prometheus, the page says so and panels have no data', async () => {
  await start('');
  expect((await onCall.get<DashboardView>('/staff/metrics')).body.isConfigured).toBe(false);
  expect((await ask(FUNNEL)).body).toEqual({ state: 'not_configured', data: null });
});
