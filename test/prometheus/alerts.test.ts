import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { KNOWN_FINDINGS } from '@onecode/domain';
import { describeIf } from '@onecode/testing';
import { parse, stringify } from 'yaml';
import { findPrometheus } from '../../scripts/services/prometheus.mjs';

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  for?: string;
  labels?: { severity?: string; owner?: string };
  annotations?: { summary?: string; description?: string; runbook_url?: string };
}

const FILE = 'deploy/prometheus/alerts.yml';
const { groups } = parse(readFileSync(FILE, 'utf8')) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);

const DOCS = 'https://git.example.com/onecode/docs';
const findingOf = ({ expr }: Rule): string | undefined => /finding="(\w+)"/.exec(expr)?.[1];
const alertOf = (finding: string): string =>
  finding.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

describe('deploy/prometheus/alerts.yml', () => {
  it('has one alert for each finding that can be failing and that nobody caused on purpose', () => {
    const wakes = KNOWN_FINDINGS.filter(({ whose, severity }) => severity === 'failing' && whose !== 'held');
    const expected = [...new Set(wakes.map(({ what }) => what))].toSorted();
    const named = alerts.filter((rule) => findingOf(rule) !== undefined);
    expect(named.map((rule) => findingOf(rule)!).toSorted()).toEqual(expected);
    for (const rule of named) expect(rule.alert).toBe(alertOf(findingOf(rule)!));
  });

  it('names for each alert a severity, a sentence and its runbook, and no runbook is left over', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(labels?.severity).toMatch(/^(?:page|ticket)$/);
      expect(annotations?.summary).toMatch(/^[A-Z].*\.$/);
      expect(annotations?.runbook_url).toBe(`{{ $externalLabels.onecode_docs }}/runbooks/${alert}.md`);
    }
    const pages = alerts.map(({ alert }) => `${alert}.md`);
    expect(readdirSync('docs/runbooks').toSorted()).toEqual(pages.toSorted());
  });

  it('leads to runbooks below an address that the example of Prometheus sets', () => {
    const example = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')) as {
      global: { external_labels: Record<string, string> };
    };
    expect(example.global.external_labels['onecode_docs']).toMatch(/^https:\/\/.*\/docs$/);
  });

  it('asks only for metrics that the operations page lists', () => {
    const listed = readFileSync('docs/operations.md', 'utf8');
    const own = new Set(rules.map(({ record }) => record));
    for (const { expr } of rules)
      for (const [name] of expr.matchAll(/onecode[_:][a-z_0-9:]+/g)) {
        if (own.has(name)) continue;
        expect(listed).toContain(`| \`${name.replace(/_(?:bucket|count|sum)$/, '')}\``);
      }
  });
});

describe.each(alerts.map(({ alert, annotations }) => [alert!, annotations!] as const))(
  'the runbook of %s',
  (alert, { summary }) => {
    it('says what it means, what to look at, what to do, and how to know that it worked', () => {
      const text = readFileSync(`docs/runbooks/${alert}.md`, 'utf8');
      expect(text.match(/^#+ .*$/gm)).toEqual([
        `# ${alert}`,
        '## What it means for customers',
        '## What to look at',
        '## What to do',
        '## How to know that it worked',
      ]);
      expect(text).toContain(`\n${summary}\n`);
      for (const section of text.split(/^## .*$/m).slice(1))
        expect(section.trim().length).toBeGreaterThan(10);
    });
  },
);

const programs = findPrometheus();
describeIf(programs !== null)('promtool', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const promtool = (...args: string[]): { status: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync(programs!.promtool, args, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  /** Runs a unit test of the rules. */
  function testRules(cases: object[]): void {
    const file = join(folder, 'test.yml');
    const tests = cases.map((one) => ({ external_labels: { onecode_docs: DOCS }, ...one }));
    writeFileSync(file, stringify({ rule_files: [resolve(FILE)], evaluation_interval: '15s', tests }));
    expect(promtool('test', 'rules', file)).toEqual({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  }
  const firing = ({ alert, annotations }: Rule, labels: object, values: object = {}) => ({
    exp_labels: { severity: alerts.find((one) => one.alert === alert)!.labels!.severity, ...labels },
    exp_annotations: { ...annotations, runbook_url: `${DOCS}/runbooks/${alert}.md`, ...values },
  });
  const rule = (name: string): Rule => alerts.find(({ alert }) => alert === name)!;

  it('finds no fault in rules and example', () => {
    expect(promtool('check', 'rules', FILE)).toMatchObject({ status: 0 });
    expect(promtool('check', 'config', 'deploy/prometheus/prometheus.yml')).toMatchObject({ status: 0 });
  });

  it('sees each finding ring once for all API processes after half a minute, and end with it', () => {
    const ringing = alerts.filter((one) => findingOf(one) !== undefined);
    testRules(
      ringing.map((one) => {
        const failing = KNOWN_FINDINGS.filter(
          ({ what, severity }) => what === findingOf(one) && severity === 'failing',
        );
        const expected = failing.map(({ what: finding, whose: owner }) => firing(one, { finding, owner }));
        return {
          interval: '15s',
          input_series: failing.flatMap(({ what, whose }) =>
            ['1', '2'].map((api) => ({
              series: `onecode_health_finding{process="api", instance="${api}", finding="${what}", owner="${whose}", severity="failing"}`,
              values: '0x3 1x8 0x8',
            })),
          ),
          alert_rule_test: [
            { eval_time: '60s', alertname: one.alert, exp_alerts: [] },
            { eval_time: '2m', alertname: one.alert, exp_alerts: expected },
            { eval_time: '4m', alertname: one.alert, exp_alerts: [] },
          ],
        };
      }),
    );
  });

  it.each(['redis_away', 'redis_refuses_writes', 'redis_unfit', 'postgresql_away'])(
    'sees %s ring alone, and sends that are late by themselves a minute after it',
    (cause) => {
      const { whose } = KNOWN_FINDINGS.find(({ what }) => what === cause)!;
      const series = (finding: string, owner: string, values: string) => ({
        series: `onecode_health_finding{process="api", finding="${finding}", owner="${owner}", severity="failing"}`,
        values,
      });
      const late = (eval_time: string, exp_alerts: object[]) => ({
        eval_time,
        alertname: 'SendsLate',
        exp_alerts,
      });
      testRules([
        {
          interval: '5s',
          // The cause ends after two minutes, its consequence does not.
          input_series: [series(cause, whose, '1x24 0x60'), series('sends_late', 'us', '0x3 1x80')],
          alert_rule_test: [
            {
              eval_time: '1m',
              alertname: alertOf(cause),
              exp_alerts: [firing(rule(alertOf(cause)), { finding: cause, owner: whose })],
            },
            ...['1m', '2m', '2m5s', '2m30s', '3m', '3m30s'].map((time) => late(time, [])),
            late('3m50s', [firing(rule('SendsLate'), { finding: 'sends_late', owner: 'us' })]),
          ],
        },
      ]);
    },
  );

  it('sees a degraded finding as a ticket after a quarter of an hour, unless operators wanted it', () => {
    const degraded = (finding: string, owner: string) => ({
      series: `onecode_health_finding{process="api", finding="${finding}", owner="${owner}", severity="degraded"}`,
      values: '1x200',
    });
    const one = rule('HealthDegraded');
    testRules([
      {
        interval: '15s',
        input_series: [degraded('provider_slow', 'meta'), degraded('sends_held', 'held')],
        alert_rule_test: [
          { eval_time: '14m', alertname: one.alert, exp_alerts: [] },
          {
            eval_time: '16m',
            alertname: one.alert,
            exp_alerts: [
              firing(one, { finding: 'provider_slow', owner: 'meta' }, { description: 'provider_slow' }),
            ],
          },
        ],
      },
    ]);
  });

  it('sees codes that come late, or not at all by our fault, and not those that recipients never get', () => {
    const one = rule('DeliveryTooSlow');
    const sent = (late: number, expired: number, rejected: number) => [
      { series: 'onecode_delivery_seconds_bucket{le="30"}', values: `0+${100 - late}x400` },
      { series: 'onecode_delivery_seconds_count', values: '0+100x400' },
      // The same sum in each API process.
      ...['1', '2'].flatMap((api) => [
        {
          series: `onecode_failures_total{instance="${api}", reason="expired_before_delivery", country="BR"}`,
          values: `0+${expired}x400`,
        },
        {
          series: `onecode_failures_total{instance="${api}", reason="rejected_by_provider", country="BR"}`,
          values: `0+${rejected}x400`,
        },
      ]),
    ];
    const quiet = { eval_time: '90m', alertname: one.alert, exp_alerts: [] };
    const rings = (share: string) => ({
      ...quiet,
      exp_alerts: [firing(one, {}, { description: `${share} of the codes were late or failed by us` })],
    });
    testRules([
      { interval: '15s', input_series: sent(40, 0, 0), alert_rule_test: [rings('40%')] },
      { interval: '15s', input_series: sent(0, 100, 0), alert_rule_test: [rings('50%')] },
      { interval: '15s', input_series: sent(4, 0, 300), alert_rule_test: [quiet] },
      { interval: '15s', input_series: sent(10, 0, 0), alert_rule_test: [quiet] },
    ]);
  });

  it('does not wake anybody for one code of few that is late or one request of few that is slow, but for eight', () => {
    /** One that is good, and at last those that are not. */
    const series = (name: string, labels: string, bad: number) => ({
      series: `${name}{${labels}}`,
      values: `0x300 1x52 ${1 + bad}x50`,
    });
    const requests = 'route="/v1/send", method="POST", status="202"';
    const events = (bad: number) => [
      series('onecode_delivery_seconds_bucket', 'le="30"', 0),
      series('onecode_delivery_seconds_count', '', bad),
      series('onecode_http_request_seconds_bucket', `${requests}, le="1"`, 0),
      series('onecode_http_request_seconds_count', requests, bad),
    ];
    const codes = rule('DeliveryTooSlow');
    const creations = rule('CreationFailing');
    const at = ({ alert: alertname }: Rule, exp_alerts: object[]) => ({
      eval_time: '90m',
      alertname,
      exp_alerts,
    });
    const share = (words: string) => ({ description: `88.89% of the ${words}` });
    testRules([
      { interval: '15s', input_series: events(1), alert_rule_test: [at(codes, []), at(creations, [])] },
      {
        interval: '15s',
        input_series: events(8),
        alert_rule_test: [
          at(codes, [firing(codes, {}, share('codes were late or failed by us'))]),
          at(creations, [
            firing(creations, { owner: 'us' }, share('requests failed or took longer than a second')),
          ]),
        ],
      },
    ]);
  });

  it('sees requests to send that fail or are slow, and none where nobody asks', () => {
    const one = rule('CreationFailing');
    const requests = (good: number, failed: number, slow: number) => {
      const of = (status: string) => `route="/v1/send", method="POST", status="${status}"`;
      return [
        { series: `onecode_http_request_seconds_bucket{${of('202')}, le="1"}`, values: `0+${good}x400` },
        { series: `onecode_http_request_seconds_count{${of('202')}}`, values: `0+${good + slow}x400` },
        { series: `onecode_http_request_seconds_bucket{${of('500')}, le="1"}`, values: `0+${failed}x400` },
        { series: `onecode_http_request_seconds_count{${of('500')}}`, values: `0+${failed}x400` },
      ];
    };
    const quiet = { eval_time: '90m', alertname: one.alert, exp_alerts: [] };
    const rings = (share: string) => ({
      ...quiet,
      exp_alerts: [
        firing(
          one,
          { owner: 'us' },
          { description: `${share} of the requests failed or took longer than a second` },
        ),
      ],
    });
    testRules([
      { interval: '15s', input_series: requests(95, 5, 0), alert_rule_test: [rings('5%')] },
      { interval: '15s', input_series: requests(95, 0, 5), alert_rule_test: [rings('5%')] },
      { interval: '15s', input_series: requests(999, 1, 0), alert_rule_test: [quiet] },
      { interval: '15s', input_series: requests(0, 0, 0), alert_rule_test: [quiet] },
      // None was answered otherwise since the start, so that there is no series of it.
      { interval: '15s', input_series: requests(0, 5, 0).slice(2), alert_rule_test: [rings('100%')] },
    ]);
  });

  it('sees an API that is gone, and a process that cannot be scraped', () => {
    const pod = { job: 'kubernetes-pods', instance: '10.0.0.7:9090', app_kubernetes_io_part_of: 'onecode' };
    const labelsOf = (labels: object): string =>
      Object.entries(labels)
        .map(([name, value]) => `${name}="${String(value)}"`)
        .join(', ');
    testRules([
      {
        interval: '15s',
        input_series: [
          { series: 'onecode_build_info{process="api", version="0.9.0"}', values: '1x4 stale' },
          { series: 'up{job="onecode-worker", instance="worker:9090"}', values: '1x4 0x40' },
          // As the usual configuration for Pods names it.
          { series: `up{${labelsOf(pod)}}`, values: '1x4 0x40' },
        ],
        alert_rule_test: [
          { eval_time: '60s', alertname: 'ApiAbsent', exp_alerts: [] },
          {
            eval_time: '3m',
            alertname: 'ApiAbsent',
            exp_alerts: [firing(rule('ApiAbsent'), { owner: 'us', process: 'api' })],
          },
          {
            eval_time: '5m',
            alertname: 'TargetDown',
            exp_alerts: [
              firing(
                rule('TargetDown'),
                { owner: 'us', job: 'onecode-worker', instance: 'worker:9090' },
                { description: 'worker:9090' },
              ),
              firing(rule('TargetDown'), { owner: 'us', ...pod }, { description: pod.instance }),
            ],
          },
        ],
      },
    ]);
  });
});
