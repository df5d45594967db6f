import { until } from '@onecode/testing';
import { createBatcher } from '../../src/client/batcher.js';

/** Batches that end when the test ends them. */
function heldBatches() {
  const batches: { requests: number[]; answer: () => void; fail: () => void }[] = [];
  const run = (requests: number[]): Promise<number[]> =>
    new Promise((resolve, reject) => {
      batches.push({
        requests,
        answer: () => resolve(requests.map((request) => request * 10)),
        fail: () => reject(new Error('the batch failed')),
      });
    });
  /** The nth batch, once it has started. */
  const nth = (count: number) => until(`batch ${count}`, () => batches[count - 1]);
  return { batches, run, nth };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a batcher', () => {
  it('runs what arrives in one turn together, and what arrives during a batch in the next one', async () => {
    const { batches, run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 100 });
    const answers = [1, 2].map(request);
    expect((await nth(1)).requests).toEqual([1, 2]);
    answers.push(...[3, 4, 5].map(request));
    await turn();
    expect(batches).toHaveLength(1);
    batches[0]!.answer();
    (await nth(2)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.map(({ requests }) => requests)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    void request(6);
    expect((await nth(3)).requests).toEqual([6]);
  });

  it('runs no larger batch than it may', async () => {
    const { batches, run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 2 });
    const answers = [1, 2, 3, 4, 5].map(request);
    for (const one of [1, 2, 3]) (await nth(one)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.map(({ requests }) => requests)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('fails the requests of a failed batch and no others', async () => {
    const { run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 2 });
    const answers = [1, 2, 3, 4].map((number) =>
      request(number).catch((error: unknown) => (error as Error).message),
    );
    (await nth(1)).answer();
    (await nth(2)).fail();
    const last = request(5);
    (await nth(3)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 'the batch failed', 'the batch failed']);
    expect(await last).toBe(50);
  });

  it('waits no longer for a batch that takes too long, as long as fewer are under way than may be', async () => {
    const { batches, run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 100, releaseAfterMs: 5, concurrentBatchesMax: 2 });
    const answers = [request(1)];
    await nth(1);
    answers.push(...[2, 3].map(request));
    await nth(2);
    answers.push(request(4));
    batches[1]!.answer();
    (await nth(3)).answer();
    answers.push(request(5));
    (await nth(4)).answer();
    batches[0]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.map(({ requests }) => requests)).toEqual([[1], [2, 3], [4], [5]]);
  });
});
