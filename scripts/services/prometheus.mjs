import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { waitForAnswer } from './answer.mjs';
import { fetchPackages } from './packages.mjs';
import { freePort } from './ports.mjs';

/**
 * Returns the programs `prometheus` and `promtool`: from the path, or from this system's package, unpacked into .cache.
 * @returns {{ prometheus: string, promtool: string } | null} null where this machine cannot have them
 */
export function findPrometheus() {
  const folder = join(root, '.cache', `prometheus-${process.arch}`);
  const unpacked = {
    prometheus: join(folder, 'usr/bin/prometheus'),
    promtool: join(folder, 'usr/bin/promtool'),
  };
  for (const one of [{ prometheus: 'prometheus', promtool: 'promtool' }, unpacked]) if (runs(one)) return one;
  return fetchPackages(folder, 'prometheus') && runs(unpacked) ? unpacked : null;
}

/** @param {{ prometheus: string, promtool: string }} programs */
function runs({ prometheus, promtool }) {
  return [prometheus, promtool].every((program) => spawnSync(program, ['--version']).status === 0);
}

/**
 * Starts a Prometheus that scrapes and evaluates every second.
 * @param {string} program
 * @param {object} options
 * @param {import('../processes/processes.mjs').Processes} options.processes
 * @param {string} options.rules file of its rules
 * @param {Record<string, string[]>} options.jobs host and port of each target, by job
 * @returns {Promise<import('../processes/processes.mjs').Started & { url: string }>}
 */
export async function startPrometheus(program, { processes, rules, jobs }) {
  const folder = mkdtempSync(join(processes.folder, 'prometheus-'));
  const port = await freePort();
  const file = join(folder, 'prometheus.yml');
  // JSON is YAML.
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: Object.entries(jobs).map(([job, targets]) => ({
      job_name: job,
      static_configs: [{ targets }],
    })),
  };
  writeFileSync(file, JSON.stringify(config));
  const started = await processes.start({
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    output: processes.logs.open('prometheus'),
    stage: 1,
    stop: [
      ['SIGTERM', 5_000],
      ['SIGKILL', 1_000],
    ],
  });
  const url = `http://127.0.0.1:${port}`;
  await waitForAnswer('Prometheus', started, processes.logs, async () => {
    const answer = await fetch(`${url}/-/ready`).catch((/** @type {unknown} */ error) => String(error));
    return typeof answer !== 'string' && answer.ok ? null : 'is not ready';
  });
  return { ...started, url };
}
