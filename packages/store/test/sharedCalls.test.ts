import { until } from '../../../test/harness/until.js';
import { shareCalls } from '../src/sharedCalls.js';

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
  return { calls, call };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('wants that share calls', () => {
  it('wait for nothing when no call is under way, and share the next one when one is', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 100 });
    const answers = [1, 2, 3].map(ask);
    expect(calls.map(({ wants }) => wants)).toEqual([[1]]);
    calls[0]!.answer();
    await turn();
    expect(calls.map(({ wants }) => wants)).toEqual([[1], [2, 3]]);
    calls[1]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30]);
    void ask(4);
    expect(calls[2]!.wants).toEqual([4]);
  });

  it('are so many in one call at the most', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 2 });
    const answers = [1, 2, 3, 4].map(ask);
    for (let nth = 0; nth < 3; nth++) {
      calls[nth]!.answer();
      await turn();
    }
    expect(calls.map(({ wants }) => wants)).toEqual([[1], [2, 3], [4]]);
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40]);
  });

  it('fail with their own call and with no other', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 100 });
    const answers = [1, 2, 3].map((want) => ask(want).catch((error: unknown) => (error as Error).message));
    calls[0]!.answer();
    await turn();
    const last = ask(4);
    calls[1]!.fail();
    await turn();
    calls[2]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 'the call failed', 'the call failed']);
    expect(await last).toBe(40);
  });

  it('are called for one by one where the database refuses their call, so that one of them fails alone', async () => {
    const refusal = { meta: { driverAdapterError: { cause: { originalCode: '23514' } } } };
    const calls: number[][] = [];
    const ask = shareCalls(
      async (wants: number[]) => {
        calls.push(wants);
        await turn();
        if (wants.includes(3)) throw refusal;
        return wants.map((want) => want * 10);
      },
      { wantsMax: 100 },
    );
    const answers = [1, 2, 3, 4].map((want) => ask(want).catch((error: unknown) => error));
    expect(await Promise.all(answers)).toEqual([10, 20, refusal, 40]);
    expect(calls).toEqual([[1], [2, 3, 4], [2], [3], [4]]);
  });

  it('wait no longer for a call that takes too long, until as many are under way as may be', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 100, patienceMs: 5, callsMax: 2 });
    const answers = [1, 2, 3].map(ask);
    await until('a second call', () => calls.length === 2);
    answers.push(ask(4));
    calls[1]!.answer();
    await turn();
    expect(calls.map(({ wants }) => wants)).toEqual([[1], [2, 3], [4]]);
    answers.push(ask(5));
    calls[2]!.answer();
    await until('a call for the last', () => calls.length === 4);
    calls[0]!.answer();
    calls[3]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
  });
});
