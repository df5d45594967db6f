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

/** Long enough for an answer to come through and for the next call to go out. */
async function turns(): Promise<void> {
  for (let nth = 0; nth < 3; nth++) await turn();
}

describe('wants that share calls', () => {
  it('wait for no more than the turn when no call is under way, and share the next one when one is', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 100 });
    const together = [1, 2].map(ask);
    await turns();
    const later = [3, 4, 5].map(ask);
    await turns();
    expect(calls.map(({ wants }) => wants)).toEqual([[1, 2]]);
    calls[0]!.answer();
    await turns();
    expect(calls.map(({ wants }) => wants)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    calls[1]!.answer();
    expect(await Promise.all([...together, ...later])).toEqual([10, 20, 30, 40, 50]);
  });

  it('are so many in one call at the most', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 2 });
    const answers = [1, 2, 3].map(ask);
    await turns();
    for (let nth = 0; nth < 2; nth++) {
      calls[nth]!.answer();
      await turns();
    }
    expect(calls.map(({ wants }) => wants)).toEqual([[1, 2], [3]]);
    expect(await Promise.all(answers)).toEqual([10, 20, 30]);
  });

  it('fail with their own call and with no other', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 2 });
    const answers = [1, 2, 3, 4].map((want) => ask(want).catch((error: unknown) => (error as Error).message));
    await turns();
    calls[0]!.fail();
    await turns();
    calls[1]!.answer();
    expect(await Promise.all(answers)).toEqual(['the call failed', 'the call failed', 30, 40]);
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
    expect(calls).toEqual([[1, 2, 3, 4], [1], [2], [3], [4]]);
  });

  it('go out in several calls at a time where they may', async () => {
    const { calls, call } = heldCalls();
    const ask = shareCalls(call, { wantsMax: 100, callsMax: 2 });
    const answers: Promise<number>[] = [];
    for (const want of [1, 2, 3]) {
      answers.push(ask(want));
      await turns();
    }
    answers.push(ask(4));
    expect(calls.map(({ wants }) => wants)).toEqual([[1], [2]]);
    calls[1]!.answer();
    await turns();
    expect(calls[2]!.wants).toEqual([3, 4]);
    calls[0]!.answer();
    calls[2]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40]);
  });
});
