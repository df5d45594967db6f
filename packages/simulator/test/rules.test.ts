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

  it('can be one for the senders of a business account', async () => {
    const simulator = await start({
      senders: [
        { phoneNumberId: SENDER, wabaId: '77' },
        { phoneNumberId: '2', wabaId: '77' },
        { phoneNumberId: '3' },
      ],
    });
    simulator.rules.add({ wabaId: '77', fault: { error: 131042 } });
    simulator.rules.add({ sender: '2', fault: { error: 131000 } });
    const codeOf = async (sender: string) =>
      (await send(simulator, bodyOf(), { sender })).json.error?.code ?? null;
    expect(await codeOf(SENDER)).toBe(131042);
    expect(await codeOf('2')).toBe(131000);
    expect(await codeOf('3')).toBe(null);
  });

  it('can meet a share of the requests, evenly spread, and leaves the others to the next', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { error: 131000 }, share: 0.4 });
    simulator.rules.add({ sender: SENDER, fault: { error: 131016 }, share: 0.25 });
    const codes: unknown[] = [];
    for (let sent = 0; sent < 8; sent += 1) codes.push((await send(simulator)).json.error?.code ?? null);
    expect(codes.filter((code) => code === 131016)).toHaveLength(2);
    expect(codes.filter((code) => code === 131000)).toHaveLength(2);
    expect(codes.indexOf(131016)).toBe(3);
  });

  it('meets reads when it is made for them, and no send', async () => {
    const simulator = await start();
    const read = async (id: string) => {
      const response = await fetch(`${simulator.apiUrl}/${id}`, {
        headers: { Authorization: 'Bearer token' },
      });
      return [response.status, await response.text()] as const;
    };
    simulator.rules.add({ reads: true, sender: SENDER, fault: { error: 190 }, times: 1 });
    simulator.rules.add({ reads: true, wabaId: '102290129340398', fault: { wrongBody: 'empty' }, times: 2 });
    simulator.rules.add({ reads: true, fault: { wrongBody: 'html', http: 503 } });
    expect((await send(simulator)).status).toBe(200);
    expect((await read(SENDER))[0]).toBe(401);
    expect(await read(SENDER)).toEqual([200, '']);
    expect(await read('102290129340398')).toEqual([200, '']);
    expect((await read(SENDER))[0]).toBe(503);
    expect((await read('debug_token?input_token=token'))[0]).toBe(503);
    simulator.rules.clear();
    simulator.rules.add({ reads: true, fault: { reset: 'before' } });
    await expect(read(SENDER)).rejects.toThrow();
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
    ['a share of nothing', { fault: { hang: true }, share: 0 }, /share must be a number above 0/],
    ['a sender and an account', { sender: '1', wabaId: '2', fault: { hang: true } }, /without sender/],
    ['a delay of nothing', { fault: { hang: true, lateFailureMs: 1 } }, /goes with lateFailure/],
    ['a read with a recipient', { reads: true, recipient: RECIPIENT, fault: { hang: true } }, /no recipient/],
    ['a read with receipts', { reads: true, fault: { duplicates: 1 } }, /duplicates goes with sends/],
    ['a read that makes a message', { reads: true, fault: { reset: 'after' } }, /makes no message/],
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
