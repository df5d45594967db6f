import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { KNOWN_FINDINGS } from '@onecode/domain';
import { describeIf } from '@onecode/testing';
import { stringify } from 'yaml';
import { findPrometheus } from '../../scripts/services/prometheus.mjs';
import { alerts, EXAMPLE, FILE } from './alertRules.js';

const DOCS = 'https://git.example.com/onecode/docs';

const programs = findPrometheus();
describeIf(programs !== null)('the alerts, evaluated by promtool', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const promtool = (...args: string[]): { status: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync(programs!.promtool, args, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  /** Runs one unit test of the rules per case: series, and the expected state of each alert at given times. */
  function testRules(
    interval: string,
    ...cases: { input_series: object[]; alert_rule_test: object[] }[]
  ): void {
    const file = join(folder, 'test.yml');
    const tests = cases.map((one) => ({ interval, external_labels: { onecode_docs: DOCS }, ...one }));
    writeFileSync(file, stringify({ rule_files: [resolve(FILE)], evaluation_interval: interval, tests }));
    expect(promtool('test', 'rules', file)).toEqual({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  }
  const at = (eval_time: string, alertname: string, ...exp_alerts: object[]) => ({
    eval_time,
    alertname,
    exp_alerts,
  });
  /** Returns a firing alert. @param texts of its annotations that hold values */
  function ringing(name: string, labels: Record<string, string> = {}, texts: object = {}) {
    const rule = alerts.find(({ alert }) => alert === name)!;
    const fill = (text: string): string => text.replace('{{ $labels.finding }}', labels['finding'] ?? '');
    return {
      exp_labels: { ...rule.labels, ...labels },
      exp_annotations: {
        ...rule.annotations,
        summary: fill(rule.annotations!.summary),
        runbook_url: `${DOCS}/runbooks.md#${labels['finding'] ?? name.toLowerCase()}`,
        ...texts,
      },
    };
  }
  type Known = Pick<(typeof KNOWN_FINDINGS)[number], 'name' | 'owner' | 'severity'>;
  const series = ({ name, owner, severity }: Known, values: string, api = '1') => ({
    series: `onecode_health_finding{process="api", instance="${api}", finding="${name}", owner="${owner}", severity="${severity}"}`,
    values,
  });
  const rung = (alert: string, { name, owner }: Known) => ringing(alert, { finding: name, owner });

  it('are valid rules, with a valid example of the configuration', () => {
    expect(promtool('check', 'rules', FILE)).toMatchObject({ status: 0 });
    expect(promtool('check', 'config', EXAMPLE)).toMatchObject({ status: 0 });
  });

  const CONSEQUENCES = ['workers_behind', 'insufficient_senders'];

  it('page once for each failing finding after half a minute, except for consequences and intended states', () => {
    const failing = KNOWN_FINDINGS.filter(({ severity }) => severity === 'failing');
    const page = failing
      .filter(({ owner, name }) => owner !== 'held' && !CONSEQUENCES.includes(name))
      .map((one) => rung('HealthFailing', one));
    expect(page.length).toBeGreaterThan(8);
    testRules('15s', {
      input_series: failing.flatMap((one) => ['1', '2'].map((api) => series(one, '0x3 1x8 0x8', api))),
      alert_rule_test: [
        at('60s', 'HealthFailing'),
        at('2m', 'HealthFailing', ...page),
        at('4m', 'HealthFailing'),
      ],
    });
  });

  it.each(
    ['no_workers', 'postgresql_unavailable'].flatMap((name) => CONSEQUENCES.map((other) => [name, other])),
  )('page for %s while it lasts, and for %s only a minute after its end', (name, consequence) => {
    const cause = KNOWN_FINDINGS.find((one) => one.name === name)!;
    const late = KNOWN_FINDINGS.find((one) => one.name === consequence && one.severity === 'failing')!;
    const quiet = ['2m30s', '3m', '3m30s'].map((time) => at(time, 'HealthFailing'));
    testRules('15s', {
      // The cause ends after two minutes, its consequence does not.
      input_series: [series(cause, '1x8 0x20'), series(late, '0 1x27')],
      alert_rule_test: [
        ...['1m', '2m'].map((time) => at(time, 'HealthFailing', rung('HealthFailing', cause))),
        ...quiet,
        at('3m45s', 'HealthFailing', rung('HealthFailing', late)),
      ],
    });
  });

  it('open a ticket for each finding that is degraded for 15 minutes, except for intended states', () => {
    const degraded = KNOWN_FINDINGS.filter(({ severity }) => severity === 'degraded');
    const tickets = degraded
      .filter(({ owner }) => owner !== 'held')
      .map((one) => rung('HealthDegraded', one));
    testRules('15s', {
      input_series: degraded.map((one) => series(one, '1x80')),
      alert_rule_test: [at('14m', 'HealthDegraded'), at('16m', 'HealthDegraded', ...tickets)],
    });
  });

  it('count late codes and failures of the service, but not failures of recipients', () => {
    const sent = (late: number, expired: number, rejected: number) => [
      { series: 'onecode_delivery_seconds_bucket{le="30"}', values: `0+${100 - late}x100` },
      { series: 'onecode_delivery_seconds_count', values: '0+100x100' },
      // The same sum in each API process.
      ...['1', '2'].flatMap((api) =>
        Object.entries({ expired_before_delivery: expired, rejected_by_provider: rejected }).map(
          ([reason, count]) => ({
            series: `onecode_failures_total{instance="${api}", reason="${reason}", country="BR"}`,
            values: `0+${count}x100`,
          }),
        ),
      ),
    ];
    const rings = (share: string) =>
      ringing(
        'DeliveryTooSlow',
        {},
        { description: `${share} of the codes were late or could not be delivered` },
      );
    const after = (input_series: object[], ...expected: object[]) => ({
      input_series,
      alert_rule_test: [at('90m', 'DeliveryTooSlow', ...expected)],
    });
    testRules(
      '1m',
      after(sent(40, 0, 0), rings('40%')),
      after(sent(0, 100, 0), rings('50%')),
      after([
        ...sent(40, 0, 0),
        { series: 'onecode_late_for_one_account{instance="1"}', values: '0x80 1x30' },
      ]),
      after(
        [...sent(40, 0, 0), { series: 'onecode_late_for_one_account{instance="1"}', values: '1x50 0x60' }],
        rings('40%'),
      ),
      after(sent(4, 0, 300)),
      after(sent(10, 0, 0)),
    );
  });

  it('count failing and slow requests to send, and stay silent without requests', () => {
    const requests = (good: number, failed: number, slow: number) => {
      const of = (status: string) => `route="/v1/send", method="POST", status="${status}"`;
      return [
        { series: `onecode_http_request_seconds_bucket{${of('202')}, le="1"}`, values: `0+${good}x100` },
        { series: `onecode_http_request_seconds_count{${of('202')}}`, values: `0+${good + slow}x100` },
        { series: `onecode_http_request_seconds_bucket{${of('500')}, le="1"}`, values: `0+${failed}x100` },
        { series: `onecode_http_request_seconds_count{${of('500')}}`, values: `0+${failed}x100` },
      ];
    };
    const unavailable = KNOWN_FINDINGS.find(({ name }) => name === 'postgresql_unavailable')!;
    const rings = (share: string) =>
      ringing(
        'CreationFailing',
        {},
        { description: `${share} of the requests failed or took longer than a second` },
      );
    const after = (input_series: object[], ...expected: object[]) => ({
      input_series,
      alert_rule_test: [at('90m', 'CreationFailing', ...expected)],
    });
    testRules(
      '1m',
      after(requests(95, 5, 0), rings('5%')),
      after(requests(95, 0, 5), rings('5%')),
      after(requests(999, 1, 0)),
      after(requests(0, 0, 0)),
      // Since the start, no request had another status, so that such a series does not exist.
      after(requests(0, 5, 0).slice(2), rings('100%')),
      // An unavailable PostgreSQL has its own alert, until its errors have left the short window.
      after([...requests(0, 5, 0), series(unavailable, '0x60 1x40')]),
      after([...requests(0, 5, 0), series(unavailable, '0x85 1x2 0x40')]),
      after([...requests(0, 5, 0), series(unavailable, '1x40 0x60')], rings('100%')),
    );
  });

  it.each([
    ['2', '30', '1'],
    ['3', '30.0', '1.0'],
  ])(
    'page for eight late codes or slow requests at low traffic, but not for one, in Prometheus %s',
    (_version, late, slow) => {
      /** One good value, then the bad ones at the end. */
      const counted = (name: string, labels: string, bad: number) => ({
        series: `${name}{${labels}}`,
        values: `0x300 1x52 ${1 + bad}x50`,
      });
      const requests = 'route="/v1/send", method="POST", status="202"';
      const events = (bad: number) => [
        counted('onecode_delivery_seconds_bucket', `le="${late}"`, 0),
        counted('onecode_delivery_seconds_count', '', bad),
        counted('onecode_http_request_seconds_bucket', `${requests}, le="${slow}"`, 0),
        counted('onecode_http_request_seconds_count', requests, bad),
      ];
      const share = (words: string) => ({ description: `88.89% of the ${words}` });
      const codes = ringing('DeliveryTooSlow', {}, share('codes were late or could not be delivered'));
      const creations = ringing('CreationFailing', {}, share('requests failed or took longer than a second'));
      testRules(
        '15s',
        {
          input_series: events(1),
          alert_rule_test: [at('90m', 'DeliveryTooSlow'), at('90m', 'CreationFailing')],
        },
        {
          input_series: events(8),
          alert_rule_test: [at('90m', 'DeliveryTooSlow', codes), at('90m', 'CreationFailing', creations)],
        },
      );
    },
  );

  it('page for a missing API, and for a process that cannot be scraped', () => {
    const worker = { job: 'onecode-worker', instance: 'worker:9090' };
    // As the usual configuration for Pods names it.
    const pod = { job: 'kubernetes-pods', instance: '10.0.0.7:9090', app_kubernetes_io_part_of: 'onecode' };
    const up = (labels: Record<string, string>) => ({
      series: `up{${Object.entries(labels)
        .map(([name, value]) => `${name}="${value}"`)
        .join(', ')}}`,
      values: '1x4 0x40',
    });
    const down = (labels: Record<string, string>) =>
      ringing('TargetDown', labels, { description: labels['instance'] });
    testRules('15s', {
      input_series: [
        { series: 'onecode_build_info{process="api", version="0.9.0"}', values: '1x4 stale' },
        up(worker),
        up(pod),
      ],
      alert_rule_test: [
        at('60s', 'ApiAbsent'),
        at('3m', 'ApiAbsent', ringing('ApiAbsent', { process: 'api' })),
        at('5m', 'TargetDown', down(worker), down(pod)),
      ],
    });
  });
});
