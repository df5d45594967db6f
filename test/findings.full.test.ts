import { STACK_START_MS_MAX, until } from '@onecode/testing';
import { FaultyService, FOUND_MS_MAX } from './faultyService.js';

let service: FaultyService;

/** Returns the metrics of an API as lines, without the process's name. */
async function metricsOf(api: number): Promise<string[]> {
  const text = await (await fetch(`${service.stack.metrics[api]}/metrics`)).text();
  return text.split('\n').map((line) => line.replaceAll(/process="api",?/g, '').replaceAll(',}', '}'));
}

/** Returns the findings of the service from an API's metrics, as `owner finding severity`. */
async function findingsOf(api = 0): Promise<string[]> {
  return (await metricsOf(api)).flatMap((line) => {
    const [, finding, owner, severity] =
      /^onecode_health_finding\{finding="(\w+)",owner="(\w+)",severity="(\w+)"\} 1$/.exec(line) ?? [];
    return finding === undefined ? [] : [`${owner} ${finding} ${severity}`];
  });
}

const untilFound = (finding: string, process?: number): Promise<true> =>
  until(finding, async () => (await findingsOf(process)).includes(finding) && (true as const), FOUND_MS_MAX);
const untilGone = (finding: string): Promise<true> =>
  until(
    `the end of ${finding}`,
    async () => !(await findingsOf()).includes(finding) && (true as const),
    FOUND_MS_MAX,
  );

describe('health findings', () => {
  beforeAll(async () => {
    service = await FaultyService.start('findings', { PROVIDER_TIMEOUT_MS: '1000' });
  }, STACK_START_MS_MAX);
  afterAll(() => service.close());

  it('are empty while traffic is healthy, and all API processes serve the same metrics without phone numbers', async () => {
    await service.untilFinished(await service.send(12));
    for (const api of [0, 1])
      await until('no finding', async () => (await findingsOf(api)).length === 0, FOUND_MS_MAX);
    const of = async (api: number): Promise<string[]> =>
      (await metricsOf(api)).filter((line) =>
        /^onecode_(?:queue_jobs|receipts_total|failures_total|sender_state|health_finding)[ {]/.test(line),
      );
    const names = [
      'onecode_oldest_due_send_seconds',
      'onecode_oldest_waiting_send_seconds{reason="sender"}',
      'onecode_oldest_waiting_send_seconds{reason="hold"}',
      'onecode_oldest_unapplied_receipt_seconds',
      'onecode_sweeper_last_run_seconds',
      'onecode_database_pool{state="used"}',
      'onecode_build_info{version=',
      'onecode_queue_jobs{queue="deliver",state="waiting"}',
      'onecode_receipts_total{status="delivered",country="BR",reason=""}',
      'onecode_sender_state{sender=',
    ];
    await until(
      'all metrics',
      async () => {
        const lines = await metricsOf(0);
        return names.every((name) => lines.some((line) => line.startsWith(name)));
      },
      FOUND_MS_MAX,
    );
    await until(
      'equal metrics',
      async () => {
        const [first, second] = await Promise.all([of(0), of(1)]);
        return first.length > 30 && JSON.stringify(first) === JSON.stringify(second);
      },
      FOUND_MS_MAX,
    );
    expect((await metricsOf(0)).join('\n')).not.toMatch(/5511987\d|525512/);
  });

  it('report messages that never arrive, with their shares by country and by sender', async () => {
    const { db } = service.stack;
    await db.sql(
      `insert into delivery_hours (hour, country, sender_id, accepted, undelivered)
       select date_bin('1 hour', now(), 'epoch') - make_interval(hours => hours), country, s.id, accepted, undelivered
       from (select id from senders order by id limit 1) s,
         (values (2, 'BR', 200, 80), (50, 'BR', 200, 10), (2, 'CL', 99, 99)) v (hours, country, accepted, undelivered)`,
    );
    await untilFound('meta deliveries_missing degraded');
    const shares = (await metricsOf(0)).filter((line) => line.startsWith('onecode_undelivered_share{'));
    expect(shares).toEqual([
      'onecode_undelivered_share{country="BR",sender=""} 0.4',
      expect.stringMatching(/^onecode_undelivered_share\{country="",sender="[-0-9a-f]{36}"\} 0\.5\d+$/),
    ]);
    await db.sql('truncate delivery_hours');
    await untilGone('meta deliveries_missing degraded');
  });

  it('report messages that fail with receipts, and rejected webhooks while receipts are missing', async () => {
    const { simulator } = service.stack;
    await simulator.addRule({ fault: { lateFailure: 131026 } });
    await service.untilFinished(await service.send(20));
    await simulator.clearRules();
    await simulator.addRule({ fault: { acceptThenDrop: true } });
    await service.send(60);
    await untilFound('meta receipts_missing degraded');
    await service.rejectWebhooks(async () => (await findingsOf()).includes('us webhooks_rejected failing'));
    for (const api of [0, 1]) await untilFound('meta sends_failing failing', api);
    expect((await findingsOf()).join()).not.toContain('receipts_missing');
    const count = 'onecode_failures_total{reason="rejected_by_provider",country="BR"} 20';
    for (const api of [0, 1])
      await until(count, async () => (await metricsOf(api)).includes(count), FOUND_MS_MAX);
    await simulator.clearRules();
  });

  it('report a Redis without memory, with one log line per process for the failure and one for the recovery', async () => {
    const { stack, redis } = service;
    const lines = (text: string): number => stack.output().split(text).length - 1;
    await redis.call('config', 'set', 'maxmemory', 1);
    await untilFound('redis redis_unhealthy degraded');
    const [, , worker] = stack.metrics;
    await until('a worker that is not ready', async () => {
      const answer = await fetch(`${worker}/readyz`);
      return answer.status === 503 && (await answer.text()).includes('OOM');
    });
    expect((await stack.request('GET', '/readyz')).status).toBe(200);
    const ids = await service.send(1);
    await until('a line of each process', () => lines('"service unavailable"') >= 3);
    await redis.call('config', 'set', 'maxmemory', 0);
    await untilGone('redis redis_unhealthy degraded');
    await service.untilFinished(ids);
    await until('another line of each process', () => lines('"service available"') >= 3);
    expect(stack.output()).toContain('OOM');
  });
});
