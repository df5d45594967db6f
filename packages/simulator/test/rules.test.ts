import { InvalidInput } from '../src/index.js';
import { bodyOf, closeAll, OTHER, RECIPIENT, send, SENDER, start } from './sending.js';

afterEach(closeAll);

describe('which rule applies', () => {
  it('is the one for the recipient before the one for the sender before the one for all', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { error: 1 } });
    simulator.rules.add({ sender: SENDER, fault: { error: 2 } });
    simulator.rules.add({ recipient: RECIPIENT, fault: { error: 4 } });
    simulator.rules.add({ recipient: RECIPIENT, sender: SENDER, fault: { error: 131000 } });
    const codeOf = async (to: string, sender: string) =>
      (await send(simulator, bodyOf({ to }), { sender })).json.error.code;
    expect(await codeOf(RECIPIENT, SENDER)).toBe(131000);
    expect(await codeOf(RECIPIENT, '1')).toBe(4);
    expect(await codeOf(OTHER, SENDER)).toBe(2);
    expect(await codeOf(OTHER, '1')).toBe(1);
  });

  it('is the oldest of equals, and is gone after as many requests as it was made for', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { error: 131000 }, times: 2 });
    simulator.rules.add({ fault: { error: 131016 }, times: 1 });
    const codes: unknown[] = [];
    for (let sent = 0; sent < 4; sent += 1) codes.push((await send(simulator)).json.error?.code);
    expect(codes).toEqual([131000, 131000, 131016, undefined]);
    expect(simulator.rules.list()).toEqual([]);
  });

  it('is used up by valid requests only', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { error: 131000 }, times: 1 });
    expect((await send(simulator, '{}')).json.error.code).toBe(100);
    expect((await send(simulator)).json.error.code).toBe(131000);
  });

  it('is noted with the request', async () => {
    const simulator = await start();
    const { id } = simulator.rules.add({ recipient: RECIPIENT, fault: { error: 131000 } });
    await send(simulator);
    await send(simulator, bodyOf({ to: OTHER }));
    expect(simulator.requests().map(({ rule }) => rule)).toEqual([id, null]);
    expect(simulator.rules.list()).toMatchObject([{ id, hits: 1 }]);
  });

  it('ends when it is removed', async () => {
    const simulator = await start();
    const { id } = simulator.rules.add({ recipient: RECIPIENT, fault: { error: 131000 } });
    simulator.rules.add({ fault: { error: 1 } });
    expect(simulator.rules.remove(id)).toBe(true);
    expect(simulator.rules.remove(id)).toBe(false);
    expect((await send(simulator)).json.error.code).toBe(1);
    simulator.rules.clear();
    expect((await send(simulator)).status).toBe(200);
  });
});

describe('an invalid rule is refused:', () => {
  const wrong: [string, unknown, RegExp][] = [
    ['no object', 'error', /JSON object/],
    ['no fault', { recipient: RECIPIENT }, /fault is missing/],
    ['an empty fault', { fault: {} }, /nothing that goes wrong/],
    ['an unknown member', { fault: { explode: true } }, /fault.explode is not known/],
    ['an unknown member of the rule', { fault: { hang: true }, duplicates: 2 }, /duplicates is not known/],
    ['a recipient without +', { recipient: '5511987654321', fault: { hang: true } }, /recipient must be/],
    ['two outcomes', { fault: { hang: true, error: 1 } }, /only one of error, hang/],
    ['an http without an answer of its own', { fault: { hang: true, http: 500 } }, /http goes with/],
    ['a latency that is no number', { fault: { latencyMs: 'long' } }, /latencyMs must be an integer/],
    ['an unknown reset', { fault: { reset: 'during' } }, /reset must be one of before, after/],
    ['no times at all', { fault: { hang: true }, times: 0 }, /times must be an integer from 1/],
    ['an inherited name', { fault: { constructor: 1 } }, /constructor is not known/],
  ];
  it.each(wrong)('%s', async (_what, rule, says) => {
    const simulator = await start();
    const adding = () => simulator.rules.add(rule as never);
    expect(adding).toThrow(InvalidInput);
    expect(adding).toThrow(says);
    expect(simulator.rules.list()).toEqual([]);
  });
});
