import type { Simulator } from '../src/index.js';
import { Throttles } from '../src/throttles.js';
import { bodyOf, closeAll, control, OTHER, RECIPIENT, send, SENDER, start } from './sending.js';

const ACCOUNT = '102290129340398';
const MINUTE = 60_000;

afterEach(closeAll);

const codeOf = async (simulator: Simulator, to = RECIPIENT, sender = SENDER) => {
  const { status, json } = await send(simulator, bodyOf({ to }), { sender });
  return status === 200 ? null : (json?.error.code ?? status);
};

describe('a throttle', () => {
  it('of a pair refuses one recipient of one sender', async () => {
    const simulator = await start();
    simulator.throttles.add({ scope: 'pair', sender: SENDER, recipient: RECIPIENT, forMs: MINUTE });
    expect(await codeOf(simulator)).toBe(131056);
    expect(await codeOf(simulator, OTHER)).toBe(null);
    expect(await codeOf(simulator, RECIPIENT, '2')).toBe(null);
  });

  it('of a sender refuses everything of one sender', async () => {
    const simulator = await start();
    simulator.throttles.add({ scope: 'sender', sender: SENDER, forMs: MINUTE });
    expect(await codeOf(simulator)).toBe(130429);
    expect(await codeOf(simulator, OTHER)).toBe(130429);
    expect(await codeOf(simulator, RECIPIENT, '2')).toBe(null);
  });

  it('of a business account refuses all its senders and its reads', async () => {
    const simulator = await start({
      senders: [{ phoneNumberId: SENDER }, { phoneNumberId: '2' }, { phoneNumberId: '3', wabaId: '77' }],
    });
    simulator.throttles.add({ scope: 'business_account', wabaId: ACCOUNT, forMs: MINUTE });
    expect(await codeOf(simulator)).toBe(80007);
    expect(await codeOf(simulator, RECIPIENT, '2')).toBe(80007);
    expect(await codeOf(simulator, RECIPIENT, '3')).toBe(null);
    const read = (id: string) =>
      fetch(`${simulator.apiUrl}/${id}`, { headers: { Authorization: 'Bearer token' } });
    expect((await read(SENDER)).status).toBe(400);
    expect((await read(ACCOUNT)).status).toBe(400);
    expect((await read('3')).status).toBe(200);
  });

  it('of the app refuses every call', async () => {
    const simulator = await start({
      senders: [{ phoneNumberId: SENDER }, { phoneNumberId: '3', wabaId: '77' }],
    });
    simulator.throttles.add({ scope: 'app', forMs: MINUTE });
    expect(await codeOf(simulator)).toBe(4);
    expect(await codeOf(simulator, RECIPIENT, '3')).toBe(4);
    const read = await fetch(`${simulator.apiUrl}/3`, { headers: { Authorization: 'Bearer token' } });
    expect((await read.json()) as object).toMatchObject({ error: { code: 4 } });
  });

  it.each([429, 503] as const)('can be a %i without a code', async (http) => {
    const simulator = await start();
    simulator.throttles.add({ scope: 'sender', forMs: MINUTE, http });
    const { status, text, headers } = await send(simulator);
    expect([status, headers.get('retry-after')]).toEqual([http, null]);
    expect(text).toMatch(/^<!DOCTYPE html>/);
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'refused', http, code: null, to: RECIPIENT });
  });

  it.each([
    [7, '7'],
    [true, '60'],
  ] as const)('tells how long to wait (%s)', async (retryAfter, told) => {
    const simulator = await start();
    simulator.throttles.add({ scope: 'app', forMs: MINUTE, retryAfter });
    expect((await send(simulator)).headers.get('retry-after')).toBe(told);
  });

  it('counts every call that came while it lasted, and ends', async () => {
    const simulator = await start();
    const added = await control(simulator, 'POST', 'throttles', { scope: 'app', forMs: MINUTE });
    expect(added).toMatchObject({ status: 201, json: { calls: 0, refused: 0, lastCallAt: null } });
    for (let n = 0; n < 3; n += 1) await send(simulator);
    expect((await control(simulator, 'DELETE', `throttles/${added.json.id}`)).status).toBe(204);
    expect((await control(simulator, 'DELETE', `throttles/${added.json.id}`)).status).toBe(404);
    expect(await codeOf(simulator)).toBe(null);
    expect((await control(simulator, 'GET', 'throttles')).json).toMatchObject([
      { scope: 'app', calls: 3, refused: 3, lastCallAt: expect.stringMatching(/Z$/) },
    ]);
    simulator.reset();
    expect(simulator.throttles.list()).toEqual([]);
  });

  it('ends by itself', () => {
    const throttles = new Throttles(() => undefined);
    throttles.add({ scope: 'app', forMs: 100 }, 0);
    const call = { sender: SENDER, recipient: RECIPIENT, wabaId: ACCOUNT };
    expect(throttles.take(call, 99)).toMatchObject({ http: 400, body: { error: { code: 4 } } });
    expect(throttles.take(call, 100)).toBe(null);
  });

  it.each([
    [{ forMs: 1 }, 'scope is missing'],
    [{ scope: 'app' }, 'forMs is missing'],
    [{ scope: 'app', forMs: 1, sender: '1' }, 'sender goes with the scopes pair and sender'],
    [{ scope: 'sender', forMs: 1, recipient: RECIPIENT }, 'recipient goes with the scope pair'],
    [{ scope: 'sender', forMs: 1, wabaId: '1' }, 'wabaId goes with the scope business_account'],
    [{ scope: 'app', forMs: 1, ratePerSecond: 0 }, 'ratePerSecond must be a number above 0, at most 1000'],
    [{ scope: 'app', forMs: 1, retryAfter: 'soon' }, 'retryAfter must be true or an integer from 0 to 86400'],
  ])('is refused when it makes no sense: %j', async (throttle, fault) => {
    const simulator = await start();
    expect(await control(simulator, 'POST', 'throttles', throttle)).toEqual({
      status: 422,
      json: { errors: [fault] },
    });
  });
});

describe('a throttle with a permitted rate', () => {
  it('lets calls pass one by one, however many come', () => {
    const throttles = new Throttles(() => undefined);
    throttles.add({ scope: 'app', forMs: 10_000, ratePerSecond: 2 }, 0);
    const call = { sender: SENDER, recipient: RECIPIENT, wabaId: ACCOUNT };
    const passed: number[] = [];
    for (let now = 0; now < 3000; now += 50) if (throttles.take(call, now) === null) passed.push(now);
    expect(passed).toEqual([500, 1000, 1500, 2000, 2500]);
    expect(throttles.list()).toMatchObject([{ calls: 60, refused: 55 }]);
    expect(throttles.take(call, 10_000)).toBe(null);
    expect(throttles.list()[0]!.calls).toBe(60);
  });
});
