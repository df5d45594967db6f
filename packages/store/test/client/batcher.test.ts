import { until } from '../../../../test/harness/until.js';
import { createBatcher } from '../../src/client/batcher.js';

/** Calls that answer when the test lets them. */
function heldCalls() {
  const calls: { wants: number[]; answer: () => void; fail: () => void }[] = [];
  const call = (wants: number[]): Promise<number[]> =>
    new Promise((resolve, reject) => {
      calls.push({
        wants,
        answer: () => resolve(wants.map((want) => want * 10)),
        fail: () => reject(new Error('the call failed')),
      });
    });
  /** The nth call, once it is there. */
  const nth = (count: number) => until(`call ${count}`, () => calls[count - 1]);
  return { calls, call, nth };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('wants that share calls', () => {
  it('go together when they come together, and those that come during a call share the next one', async () => {
    const { calls, call, nth } = heldCalls();
    const ask = createBatcher(call, { batchSizeMax: 100 });
    const answers = [1, 2].map(ask);
    expect((await nth(1)).wants).toEqual([1, 2]);
    answers.push(...[3, 4, 5].map(ask));
    await turn();
    expect(calls).toHaveLength(1);
    calls[0]!.answer();
    (await nth(2)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(calls.map(({ wants }) => wants)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    void ask(6);
    expect((await nth(3)).wants).toEqual([6]);
  });

  it('are so many in one call at the most', async () => {
    const { calls, call, nth } = heldCalls();
    const ask = createBatcher(call, { batchSizeMax: 2 });
    const answers = [1, 2, 3, 4, 5].map(ask);
    for (const one of [1, 2, 3]) (await nth(one)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(calls.map(({ wants }) => wants)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('fail with their own call and with no other', async () => {
    const { call, nth } = heldCalls();
    const ask = createBatcher(call, { batchSizeMax: 2 });
    const answers = [1, 2, 3, 4].map((want) => ask(want).catch((error: unknown) => (error as Error).message));
    (await nth(1)).answer();
    (await nth(2)).fail();
    const last = ask(5);
    (await nth(3)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 'the call failed', 'the call failed']);
    expect(await last).toBe(50);
  });

  it('are called for one by one where the database refuses their call, so that one of them fails alone', async () => {
    const refusal = { cause: { kind: 'postgres', originalCode: '23514' } };
    const calls: number[][] = [];
    const ask = createBatcher(
      async (wants: number[]) => {
        calls.push(wants);
        await turn();
        if (wants.includes(3)) throw refusal;
        return wants.map((want) => want * 10);
      },
      { batchSizeMax: 100 },
    );
    const answers = [1, 2, 3, 4].map((want) => ask(want).catch((error: unknown) => error));
    expect(await Promise.all(answers)).toEqual([10, 20, refusal, 40]);
    expect(calls).toEqual([[1, 2, 3, 4], [1], [2], [3], [4]]);
  });

  it('wait no longer for a call that takes too long, until as many are under way as may be', async () => {
    const { calls, call, nth } = heldCalls();
    const ask = createBatcher(call, { batchSizeMax: 100, releaseAfterMs: 5, concurrentBatchesMax: 2 });
    const answers = [ask(1)];
    await nth(1);
    answers.push(...[2, 3].map(ask));
    await nth(2);
    answers.push(ask(4));
    calls[1]!.answer();
    (await nth(3)).answer();
    answers.push(ask(5));
    (await nth(4)).answer();
    calls[0]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(calls.map(({ wants }) => wants)).toEqual([[1], [2, 3], [4], [5]]);
  });
});
