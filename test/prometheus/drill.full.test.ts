import { readFileSync } from 'node:fs';
import { describeIf, STACK_START_MS_MAX, until } from '@onecode/testing';
import { Processes } from '../../scripts/processes/processes.mjs';
import { findPrometheus, startPrometheus } from '../../scripts/services/prometheus.mjs';
import { FaultyService } from '../faultyService.js';
import { panelsOf, type DashboardJson } from './dashboard.js';

/** The alert's half a minute, plus the delays of a busy machine. */
const FIRING_MS_MAX = 240_000;
const DRILL_MS_MAX = 900_000;
/** Panels that are only filled by faults that this drill does not inject. */
const EMPTY_PANELS = [
  'Senders that cannot send',
  'Failures of senders, per minute',
  'Sent, never delivered, by country',
  'Sent, never delivered, by sender',
];

const dashboard = JSON.parse(readFileSync('deploy/grafana/onecode.json', 'utf8')) as DashboardJson;

interface Alert {
  labels: { alertname: string; severity: string; finding?: string };
  state: 'pending' | 'firing';
}

const programs = findPrometheus();
describeIf(programs !== null)('a Prometheus over the processes', () => {
  const processes = Processes.throwaway();
  let service: FaultyService;
  let url: string;
  beforeAll(async () => {
    service = await FaultyService.start('drill');
    const hosts = service.stack.metrics.map((address) => new URL(address).host);
    const jobs = { 'onecode-api': hosts.slice(0, 2), 'onecode-worker': hosts.slice(2) };
    ({ url } = await startPrometheus(programs!.prometheus, {
      processes,
      rules: `${process.cwd()}/deploy/prometheus/alerts.yml`,
      jobs,
    }));
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await processes.stop();
    await service.close();
  }, STACK_START_MS_MAX);

  /** The answer to a query. @throws when Prometheus refuses it */
  async function ask(query: string): Promise<{ value: [number, string] }[]> {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    if (!answer.ok) throw new Error(`${query}: ${await answer.text()}`);
    return ((await answer.json()) as { data: { result: { value: [number, string] }[] } }).data.result;
  }
  /** The alerts that page, by finding if they have one. */
  const alerts = async (state: Alert['state']): Promise<string[]> => {
    const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { data: { alerts: Alert[] } };
    return data.alerts
      .filter((one) => one.state === state && one.labels.severity === 'page')
      .map(({ labels }) => labels.finding ?? labels.alertname);
  };
  /** Waits until each has been seen firing, not necessarily all at one time. */
  async function untilFiring(...names: string[]): Promise<void> {
    const missing = new Set(names);
    await until(
      `firing: ${names.join(', ')}`,
      async () => {
        for (const name of await alerts('firing')) missing.delete(name);
        return missing.size === 0;
      },
      FIRING_MS_MAX,
    );
  }
  const untilQuiet = (): Promise<true> =>
    until(
      'no alert that pages',
      async () => (await alerts('firing')).length === 0 && (true as const),
      FIRING_MS_MAX,
    );
  /** Moves all counts five minutes into the past, so that their spans leave the windows of the findings. */
  const letTimePass = (): Promise<unknown> =>
    service.stack.db.sql(
      `update traffic_counts set began_at = began_at - interval '6 minutes' where began_at > '-infinity'`,
    );

  it(
    'fires for five silent faults, and stops when they end',
    async () => {
      const { stack, redis, caller } = service;
      await service.send(20);
      const to = '+5511999990001';
      const { id } = await stack.create(caller.key, { to });
      const { code } = await stack.simulator.message(to);
      expect(await stack.verify(caller.key, id, code)).toMatchObject({ valid: true });
      await until('metrics of all processes', async () => {
        const [count] = await ask('count(onecode_build_info)');
        return count?.value[1] === '3';
      });
      await untilQuiet();

      // Every message fails in its receipt, webhooks with another secret arrive, and Redis is out of memory, which is only a ticket.
      await stack.simulator.addRule({ fault: { lateFailure: 131026 } });
      await service.untilFinished(await service.send(40));
      await redis.call('config', 'set', 'maxmemory', 1);
      await service.rejectWebhooks(async () => (await alerts('pending')).includes('webhooks_rejected'));
      await untilFiring('sends_failing', 'webhooks_rejected');
      expect(await alerts('firing')).not.toContain('redis_unhealthy');

      await stack.simulator.clearRules();
      await redis.call('config', 'set', 'maxmemory', 0);
      await letTimePass();
      await untilQuiet();

      // By now, each panel of the dashboard has data, except for faults that did not happen.
      const empty = new Set<string>();
      for (const { title, targets = [] } of panelsOf(dashboard))
        for (const { expr } of targets)
          if ((await ask(expr.replaceAll('$__rate_interval', '1m'))).length === 0) empty.add(title);
      // Where the machine is busy, the panel of findings may show a slow PostgreSQL.
      empty.delete('Findings');
      expect([...empty]).toEqual(EMPTY_PANELS);

      // One country fails, receipts of the others are missing, and then the only worker ends.
      await service.untilFinished(await service.sendAndFailInMexico(15));
      await stack.simulator.clearRules();
      await stack.simulator.addRule({ fault: { acceptThenDrop: true } });
      await service.send(200);
      await until('accepted sends', async () => {
        const rows = await stack.db.sql(`select from sends where status = 'sent'`);
        return rows.length >= 200;
      });
      await until('what was counted', async () => {
        const rows = await stack.db.sql<{ count: number }>(
          `select sum(count)::integer as count from traffic_counts where event = 'accepted' and began_at > now() - interval '2 minutes'`,
        );
        return (rows[0]?.count ?? 0) >= 200;
      });
      await stack.stopWorker(0);
      await untilFiring('sends_failing', 'receipts_missing', 'no_workers');
      expect(await alerts('firing')).not.toContain('workers_behind');

      await stack.restartWorker(0);
      await letTimePass();
      await until(
        'the end of these alerts',
        async () => {
          const firing = await alerts('firing');
          return !['sends_failing', 'receipts_missing', 'no_workers'].some((name) => firing.includes(name));
        },
        FIRING_MS_MAX,
      );
    },
    DRILL_MS_MAX,
  );
});
