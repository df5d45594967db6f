import { ProcessStack, until } from '@onecode/testing';
import { check } from '../check/check.js';
import { readEvidence } from '../check/readEvidence.js';
import type { ClientEvent, Evidence } from '../evidence.js';
import { buildCallers, startLoad } from './load.js';

const SENDS = 200;
const SENDS_PER_SECOND = 25;
const ACCOUNTS = 40;
const SEED = 20_261_120;
/** For starting all processes and creating rows by the command line on a busy machine. */
const START_MS_MAX = 90_000;

describe('a live load without faults', () => {
  let stack: ProcessStack;
  let evidence: Evidence;
  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: 2, workers: 2 });
    for (const digit of [1, 2]) await stack.addSender(digit);
    const now = (): number => performance.now();
    const load = startLoad({
      apiUrls: () => stack.apis,
      callers: await buildCallers(stack.db, ACCOUNTS),
      seed: SEED,
      sendsPerSecond: SENDS_PER_SECOND,
      now,
      codeOf: async (recipient) => (await stack.simulator.messages(recipient))[0]?.code ?? null,
    });
    await until('enough clients', () => load.sends >= SENDS, 60_000);
    await load.stop();
    await until('the end of every delivery', isIdle, 60_000);
    const { simulator, db } = stack;
    evidence = await readEvidence({
      database: db,
      simulator,
      history: load.history,
      now,
      attemptsMax: 5,
      settled: true,
    });
  }, START_MS_MAX + 120_000);
  afterAll(() => stack.stop());

  async function isIdle(): Promise<boolean> {
    const [left] = await stack.db.sql<{ count: number }>(
      `select (select count(*) from sends where due_at is not null)::integer
         + (select count(*) from receipts where due_at is not null)::integer as count`,
    );
    return left!.count === 0 && (await stack.simulator.webhooksUnanswered()) === 0;
  }

  it('keeps every promise', () => {
    expect(check(evidence)).toEqual([]);
  });

  it('has clients that repeat, run out of units, guess wrong, guess concurrently and are verified', () => {
    const { history } = evidence;
    const creations = history.filter((event) => event.kind === 'create');
    const guesses = history.filter((event) => event.kind === 'verify');
    const keys = creations.flatMap(({ applicationId, idempotencyKey }) =>
      idempotencyKey === null ? [] : [`${applicationId} ${idempotencyKey}`],
    );
    expect(new Set(keys).size).toBeLessThan(keys.length - 20);
    expect(keys.length).toBeLessThan(creations.length);
    expect(answers(creations)).toMatchObject({
      202: expect.any(Number) as number,
      402: expect.any(Number) as number,
      409: expect.any(Number) as number,
    });
    expect(judgements(guesses)).toMatchObject({
      'true verified 0': expect.any(Number) as number,
      'false verified 0': expect.any(Number) as number,
      'false pending 4': expect.any(Number) as number,
      'false pending 1': expect.any(Number) as number,
      'false locked 0': expect.any(Number) as number,
    });
    const isConcurrent = guesses.some((one) =>
      guesses.some((other) => one.sendId === other.sendId && one !== other && one.startedAt < other.endedAt),
    );
    expect(isConcurrent).toBe(true);
  });

  it('delivers every live send whose code was not verified or locked before', () => {
    const { rows, provider } = evidence;
    const live = rows.sends.filter(({ mode }) => mode === 'live');
    expect(live.length).toBeGreaterThan(SENDS / 2);
    const [unsent, sent] = [true, false].map((isUnsent) =>
      live.filter(({ status }) => (status === 'failed') === isUnsent),
    ) as [typeof live, typeof live];
    // A client that chose the code can use it before the message has been sent.
    for (const { failureReason, verification } of unsent) {
      expect(failureReason).toBe('expired_before_delivery');
      expect(['verified', 'locked']).toContain(verification);
    }
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set(['delivered']));
    expect(sent.length).toBeGreaterThan(unsent.length);
    expect(provider.messages).toHaveLength(sent.length);
    expect(rows.sends.length).toBeGreaterThan(live.length);
    expect(new Set(rows.sends.map(({ accountId }) => accountId)).size).toBeGreaterThan(ACCOUNTS / 2);
  });
});

function answers(events: readonly ClientEvent[]): Record<string, number> {
  return counts(events.map(({ reply }) => (reply.kind === 'lost' ? 'lost' : String(reply.status))));
}

function judgements(events: readonly ClientEvent[]): Record<string, number> {
  return counts(
    events.map(({ reply }) =>
      reply.kind === 'answer' && 'valid' in reply.body
        ? `${reply.body.valid} ${reply.body.verification} ${reply.body.attempts_left}`
        : 'none',
    ),
  );
}

function counts(names: readonly string[]): Record<string, number> {
  const result: Record<string, number> = {};
  for (const name of names) result[name] = (result[name] ?? 0) + 1;
  return result;
}
