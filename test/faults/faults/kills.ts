import { startLoop } from '@onecode/runtime';
import { buildSend, until } from '@onecode/testing';
import { crashPoints } from '../cluster/crashPoints.mjs';
import { BUSINESS_ACCOUNTS, type FaultCluster, type FaultSettings } from '../cluster/faultCluster.js';
import type { Random } from '../load/plan.js';
import type { Fault } from './fault.js';

/** Every crash point of the built files. */
const CRASH_POINTS: readonly string[] = crashPoints().map(({ name }) => name);

/** About a minute on a machine with no other work. */
const CRASHES_MS_MAX = 400_000;
const TRIGGER_WORK_MS = 1_000;

/** Every run of one API and of some workers ends at one of these crash points, until a process was killed at each of them. */
export const crashPointKills = (points: readonly string[] = CRASH_POINTS, workersMax = 2): Fault => ({
  name: 'kill -9 at each crash point in turn',
  family: 'kills',
  holdMs: 0,
  async inject(cluster, random) {
    // The other API keeps running, so that there is work to interrupt.
    const victims = [random.of(cluster.apis), ...cluster.workers.slice(0, workersMax)];
    const since = cluster.exits.length;
    const missing = (): string[] => {
      const visited = new Set(cluster.exits.slice(since).map(({ crashPoint }) => crashPoint));
      return points.filter((point) => !visited.has(point));
    };
    const names = new Set(victims.map(({ name }) => name));
    /** The processes that can still reach a crash point. */
    const armed = new Set<string>();
    cluster.faultSettings = (name) => {
      const settings = names.has(name) ? settingsFor(name, missing(), random) : {};
      if (settings.crashPoints === undefined) armed.delete(name);
      else armed.add(name);
      return settings;
    };
    let triggering = '';
    const loop = points.some(isRare)
      ? startLoop(
          () => triggerRareWork(cluster),
          TRIGGER_WORK_MS,
          (error) => (triggering = `: ${String(error)}`),
        )
      : null;
    for (const victim of victims) victim.kill();
    await until('a kill at each crash point', () => missing().length === 0, CRASHES_MS_MAX).catch(() => {});
    return async () => {
      await loop?.stop();
      cluster.faultSettings = () => ({});
      for (const victim of victims) if (armed.has(victim.name)) victim.kill();
      await cluster.simulator.clearRules();
      await cluster.resumeSenders();
      await cluster.untilReady();
      return missing().map((point) => `no process reached the crash point “${point}”${triggering}`);
    };
  },
});

/** The load alone rarely reaches these: the sweeper once a second, the others almost never. */
const isRare = (point: string): boolean => /sweep|expire|pause|giving up|provider change|reading/.test(point);

/** The missing crash points of a process, each with the visit at which it kills. The workers divide theirs. */
function settingsFor(process: string, missing: readonly string[], random: Random): FaultSettings {
  const [kind = '', n = '0'] = process.split(' ');
  const left = missing.filter((point) => point.startsWith(kind));
  const own = left.filter((_, index) => kind !== 'worker' || index % 2 === Number(n));
  const triggers = (own.length === 0 ? left : own).map((point) => {
    const visit = isRare(point) ? 1 : random.between(1, 3);
    return `${point}=#${visit}${point === 'worker during call' ? `:kill:${random.between(1, 40)}` : ''}`;
  });
  return triggers.length === 0 ? {} : { crashPoints: triggers.join(',') };
}

/**
 * Creates what the load alone does not: a fault of a sender, a message that fails late, a send past its deadline, one that waits for a
 * sender, a change that the provider reports, and a read of a sender. The updates increase the version, so that no concurrent claim
 * overwrites them.
 */
async function triggerRareWork(cluster: FaultCluster): Promise<void> {
  await cluster.simulator.clearRules();
  await cluster.resumeSenders();
  await cluster.simulator.addRule({ fault: { error: 133010 }, times: 1 });
  await cluster.simulator.addRule({ fault: { lateFailure: 131026 }, times: 1 });
  await cluster.simulator.addRule({ fault: { latencyMs: 30 } });
  for (const quality of ['YELLOW', 'GREEN'] as const)
    await cluster.simulator.changeTemplate(
      { wabaId: BUSINESS_ACCOUNTS[0], name: 'verification_code', language: 'en' },
      { quality },
    );
  // Workers lock senders in the order of their ids.
  await cluster.db.sql(
    `with locked as materialized (select id from senders order by id for no key update)
    update senders set read_due_at = clock_timestamp() where id = any(array(select id from locked))`,
  );
  for (const change of [
    `created_at = clock_timestamp() - interval '2 seconds', expires_at = clock_timestamp() - interval '1 second'`,
    "phase = 'waiting', due_at = expires_at",
  ])
    await cluster.db.sql(
      `update sends set ${change}, version = version + 1 where id = $1 and status = 'queued'`,
      [await buildSend(cluster.db.database, cluster.probeCaller)],
    );
}

const FREEZE_MS_MAX = 30_000;

const randomKills: Fault = {
  name: 'kill -9 at random',
  family: 'kills',
  holdMs: 12_000,
  async inject(cluster, random) {
    const timer = setInterval(() => {
      const running = cluster.processes.filter((one) => one.isReady);
      if (running.length > 0) random.of(running).kill();
    }, 700);
    return async () => {
      clearInterval(timer);
      await cluster.untilReady();
    };
  },
};

/** A worker that is frozen until its leases have ended and other workers have taken over. */
const frozenWorker: Fault = {
  name: 'worker frozen beyond its lease',
  family: 'kills',
  holdMs: 0,
  async inject(cluster, random) {
    const points = ['worker after claim', 'worker during call', 'worker after call', 'worker before receipt'];
    const worker = random.of(cluster.workers);
    cluster.faultSettings = (name) =>
      name === worker.name ? { crashPoints: `${random.of(points)}=#${random.between(2, 8)}:freeze` } : {};
    const before = worker.freezes;
    worker.kill();
    await until('a frozen worker', () => worker.freezes > before, FREEZE_MS_MAX).catch(() => {});
    return async () => {
      cluster.faultSettings = () => ({});
      await worker.untilResumed();
      return worker.freezes > before ? [] : [`${worker.name} was never frozen`];
    };
  },
};

const gracefulStops: Fault = {
  name: 'SIGTERM, one process after another',
  family: 'kills',
  holdMs: 1_000,
  async inject(cluster) {
    for (const process of cluster.processes) {
      await process.terminate();
      await process.untilReady();
    }
    return async () => {};
  },
};

export const KILL_FAULTS: readonly Fault[] = [crashPointKills(), randomKills, frozenWorker, gracefulStops];
