import { RawConnection } from '@onecode/testing';
import fc from 'fast-check';
import { almostValidRequests } from './almostValid.js';
import type { Operation } from './contract.js';
import { hostileRequests } from './hostile.js';
import { requestOf, type Draft, type Kind } from './request.js';
import { slowClients, untilCutOff } from './slowClients.js';
import { socketPlays, type PlayDraft } from './sockets.js';
import type { Figures } from './target.js';
import { Tally } from './tally.js';
import { validRequests } from './valid.js';
import { webhookRequests } from './webhooks.js';
import { bytesOnTheWire, Lane } from './wire.js';
import type { World } from './world.js';

/** One thing to be done: a request on a connection that is kept, or a play with a connection of its own. */
type Step = { request: Draft } | { play: PlayDraft };

/** Everything that is done to these operations and to the webhook, the usual more often than the strange. */
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
    { weight: 3, arbitrary: socketPlays(good).map((play): Step => ({ play })) },
  );
}

export interface CampaignOptions {
  port: number;
  world: World;
  operations: readonly Operation[];
  seed: number;
  requests: number;
  /** Does this one alone, to see it again. */
  only?: number | undefined;
  /** Asked fifty times in the course of the campaign. */
  figures?: () => Promise<Figures>;
}

/** More than work at the same time: most of those with a socket of their own wait for the service to lose patience. */
const LANES = 64;
const FAILURES_MAX = 10;
const SAMPLES = 50;

/** Runs a campaign to its end, or until it has failed too often to go on. */
export async function runCampaign(options: CampaignOptions): Promise<Tally> {
  const { requests, only, port, world, operations } = options;
  const tally = new Tally();
  const steps = stepsFor(operations);
  let next = only ?? 0;
  const end = only === undefined ? requests : only + 1;
  const lane = async (): Promise<void> => {
    const kept = new Lane(port);
    while (next < end && tally.failures.length < FAILURES_MAX) {
      const index = next++;
      const [step] = fc.sample(steps, { seed: seedOf(options.seed, index), numRuns: 1 });
      await (step !== undefined && 'request' in step
        ? sendOne(kept, step.request, index, options, tally)
        : playOne(step as { play: PlayDraft }, index, options, tally));
      if (options.figures !== undefined && index % Math.ceil(requests / SAMPLES) === 0)
        await sample(options.figures, index / requests, tally);
    }
    kept.close();
  };
  const slow = only === undefined ? slowClients(operations, world) : [];
  const start = performance.now();
  const lanes = async (): Promise<void> => {
    await Promise.all(Array.from({ length: LANES }, lane));
    tally.seconds = (performance.now() - start) / 1_000;
  };
  await Promise.all([
    lanes(),
    ...slow.map(async (client) => {
      await watched(`a slow client of ${client.operation}: ${client.rule}`, client.bytes, tally, async () => {
        tally.count({ kind: 'raw', ...client }, [await untilCutOff(port, client)]);
      });
    }),
  ]);
  return tally;
}

/** Notes how the process does; that it says nothing is a failure too, and no reason to stop telling of the others. */
async function sample(figures: () => Promise<Figures>, at: number, tally: Tally): Promise<void> {
  await watched('the figures of the process', '', tally, async () => {
    tally.samples.push({ at, ...(await figures()) });
  });
}

async function sendOne(
  lane: Lane,
  draft: Draft,
  index: number,
  { seed, world }: CampaignOptions,
  tally: Tally,
): Promise<void> {
  const request = requestOf(draft(world));
  const { kind, operation, rule } = request;
  const name = `request ${index} of seed ${seed} (${kind}, ${operation}: ${rule})`;
  await watched(name, bytesOnTheWire(request), tally, async () => {
    const answer = await lane.send(request);
    tally.count({ kind, operation, rule }, [answer.status]);
    if (answer.status < 300) world.learn(request.caller, answer.body);
  });
}

async function playOne(
  { play: draft }: { play: PlayDraft },
  index: number,
  { seed, world, port }: CampaignOptions,
  tally: Tally,
): Promise<void> {
  const kind: Kind = 'raw';
  const play = draft(world);
  const { operation, rule } = play;
  const name = `request ${index} of seed ${seed} (${kind}, ${operation}: ${rule})`;
  await watched(name, play.bytes, tally, async () => {
    const connection = await RawConnection.open(port);
    try {
      // What answers may belong to several operations, or to none.
      tally.count({ kind, operation, rule }, await play.run(connection), 'raw sockets');
    } finally {
      connection.destroy();
    }
  });
}

const SHOWN_MAX = 1_500;

/** Does a thing, and writes down what went wrong, so that it can be seen and done again. */
async function watched(
  name: string,
  bytes: Buffer | string,
  tally: Tally,
  act: () => Promise<void>,
): Promise<void> {
  const start = performance.now();
  try {
    await act();
    tally.worstMs = Math.max(tally.worstMs, name.startsWith('request') ? performance.now() - start : 0);
  } catch (error) {
    const shown = JSON.stringify(bytes.toString('latin1').slice(0, SHOWN_MAX));
    const failure = `${name}: ${String(error).slice(0, SHOWN_MAX)}\n${shown}`;
    tally.failures.push(failure.replaceAll(/ak_(\w{4})_\w+/g, 'ak_$1_…'));
  }
}

/** A seed for each request, so that each can be made again without the others; neighbours have nothing in common. */
function seedOf(seed: number, index: number): number {
  let mixed = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) | 0;
}
