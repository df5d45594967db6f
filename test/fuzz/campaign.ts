import { RawConnection } from '@onecode/testing';
import fc from 'fast-check';
import { almostValidRequests } from './almostValid.js';
import type { Operation } from './contract.js';
import { hostileRequests } from './hostile.js';
import { requestOf, type RequestDraft, type Kind } from './request.js';
import { slowClients, untilDisconnected } from './sockets.js';
import { socketScenarios, type ScenarioDraft } from './sockets.js';
import type { ProcessMetrics } from './apiProcess.js';
import { CampaignResults } from './results.js';
import { validRequests } from './valid.js';
import { webhookRequests } from './webhooks.js';
import { bytesOnTheWire, KeepAliveConnection } from './connection.js';
import type { FuzzContext } from './context.js';

/** A request on a kept connection, or a scenario with its own connection. */
type Step = { request: RequestDraft } | { scenario: ScenarioDraft };

/** The steps for these operations and the webhook, common ones more often than rare ones. */
function stepsFor(operations: readonly Operation[]): fc.Arbitrary<Step> {
  const requests = operations.map((operation) => {
    const good = validRequests(operation);
    return fc.oneof(
      { weight: 3, arbitrary: good },
      { weight: 4, arbitrary: almostValidRequests(operation, good) },
      { weight: 4, arbitrary: hostileRequests(operation, good) },
    );
  });
  const good = fc.oneof(...operations.map(validRequests), webhookRequests);
  return fc.oneof(
    ...requests.map((arbitrary) => ({
      weight: 5,
      arbitrary: arbitrary.map((request): Step => ({ request })),
    })),
    { weight: 3, arbitrary: webhookRequests.map((request): Step => ({ request })) },
    { weight: 3, arbitrary: socketScenarios(good).map((scenario): Step => ({ scenario })) },
  );
}

export interface CampaignOptions {
  port: number;
  context: FuzzContext;
  operations: readonly Operation[];
  seed: number;
  requests: number;
  /** Sends only this request, to reproduce a failure. */
  only?: number | undefined;
  /** Called fifty times during the campaign. */
  metrics?: () => Promise<ProcessMetrics>;
}

/** Many, because most scenarios wait for a timeout of the service. */
const WORKERS = 64;
const FAILURES_MAX = 10;
const SAMPLES = 50;

/** Runs a campaign to its end or until it has failed too often. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResults> {
  const { requests, only, port, context, operations } = options;
  const results = new CampaignResults();
  const steps = stepsFor(operations);
  let next = only ?? 0;
  const end = only === undefined ? requests : only + 1;
  const work = async (): Promise<void> => {
    const connection = new KeepAliveConnection(port);
    while (next < end && results.failures.length < FAILURES_MAX) {
      const index = next++;
      const [step] = fc.sample(steps, { seed: seedOf(options.seed, index), numRuns: 1 });
      await (step !== undefined && 'request' in step
        ? sendOne(connection, step.request, index, options, results)
        : runScenario(step as { scenario: ScenarioDraft }, index, options, results));
      if (options.metrics !== undefined && index % Math.ceil(requests / SAMPLES) === 0)
        await sample(options.metrics, index / requests, results);
    }
    connection.close();
  };
  const slow = only === undefined ? slowClients(operations, context) : [];
  const start = performance.now();
  const workers = async (): Promise<void> => {
    await Promise.all(Array.from({ length: WORKERS }, work));
    results.seconds = (performance.now() - start) / 1_000;
  };
  await Promise.all([
    workers(),
    ...slow.map(async (client) => {
      await recordingFailure(
        `a slow client of ${client.operation}: ${client.rule}`,
        client.bytes,
        results,
        async () => {
          results.count({ kind: 'raw', ...client }, [await untilDisconnected(port, client)]);
        },
      );
    }),
  ]);
  return results;
}

/** Samples the metrics of the process. A missing answer is a failure, and the campaign continues. */
async function sample(
  metrics: () => Promise<ProcessMetrics>,
  at: number,
  results: CampaignResults,
): Promise<void> {
  await recordingFailure('the metrics of the process', '', results, async () => {
    results.samples.push({ at, ...(await metrics()) });
  });
}

async function sendOne(
  connection: KeepAliveConnection,
  draft: RequestDraft,
  index: number,
  { seed, context }: CampaignOptions,
  results: CampaignResults,
): Promise<void> {
  const request = requestOf(draft(context));
  const { kind, operation, rule } = request;
  const name = `request ${index} of seed ${seed} (${kind}, ${operation}: ${rule})`;
  await recordingFailure(name, bytesOnTheWire(request), results, async () => {
    const answer = await connection.send(request);
    results.count({ kind, operation, rule }, [answer.status]);
    if (answer.status < 300) context.recordId(request.caller, answer.body);
  });
}

async function runScenario(
  { scenario: draft }: { scenario: ScenarioDraft },
  index: number,
  { seed, context, port }: CampaignOptions,
  results: CampaignResults,
): Promise<void> {
  const kind: Kind = 'raw';
  const scenario = draft(context);
  const { operation, rule } = scenario;
  const name = `request ${index} of seed ${seed} (${kind}, ${operation}: ${rule})`;
  await recordingFailure(name, scenario.bytes, results, async () => {
    const connection = await RawConnection.open(port);
    try {
      // The answers may belong to several operations or to none.
      results.count({ kind, operation, rule }, await scenario.run(connection), 'raw sockets');
    } finally {
      connection.destroy();
    }
  });
}

const SHOWN_MAX = 1_500;

/** Runs a function and records its failure with the bytes that reproduce it. */
async function recordingFailure(
  name: string,
  bytes: Buffer | string,
  results: CampaignResults,
  act: () => Promise<void>,
): Promise<void> {
  const start = performance.now();
  try {
    await act();
    results.worstMs = Math.max(results.worstMs, name.startsWith('request') ? performance.now() - start : 0);
  } catch (error) {
    const shown = JSON.stringify(bytes.toString('latin1').slice(0, SHOWN_MAX));
    const failure = `${name}: ${String(error).slice(0, SHOWN_MAX)}\n${shown}`;
    results.failures.push(failure.replaceAll(/ak_(\w{4})_\w+/g, 'ak_$1_…'));
  }
}

/** A seed for each request, so that it can be reproduced without the others. Seeds of successive requests are unrelated. */
function seedOf(seed: number, index: number): number {
  let mixed = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) | 0;
}
