import type { House } from './house/house.js';
import type { Supervised } from './house/supervised.js';

const ASKED_MS_MAX = 5_000;

/** Asks every process whether it is ready, past all proxies, and says which ones told something else than the truth. */
export async function untruths(
  house: House,
  truth: { apis?: boolean; workers?: boolean },
): Promise<string[]> {
  const wrong = await Promise.all([
    ...house.apis.map((api) => untruth(api, truth.apis)),
    ...house.workers.map((worker) => untruth(worker, truth.workers)),
  ]);
  return wrong.flat();
}

async function untruth(one: Supervised, expected: boolean | undefined): Promise<string[]> {
  if (expected === undefined || !one.isUp) return [];
  const said = await fetch(`http://127.0.0.1:${one.metricsPort}/readyz`, {
    signal: AbortSignal.timeout(ASKED_MS_MAX),
  }).then(
    ({ status }) => (status === 200 ? 'that it is ready' : 'that it is not ready'),
    () => 'nothing',
  );
  const wanted = expected ? 'that it is ready' : 'that it is not ready';
  return said === wanted ? [] : [`/readyz of ${one.name} said ${said}, and should have said ${wanted}`];
}
