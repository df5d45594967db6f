import { Settings } from '../src/settings.js';
import { Limits, Throttles } from '../src/throttles.js';
import {
  ACCOUNT,
  closeAll,
  codeOf,
  control,
  OTHER,
  read,
  RECIPIENT,
  send,
  SENDER,
  start,
} from './sending.js';

const MINUTE = 60_000;

afterEach(closeAll);

describe('a throttle', () => {
  /** What a throttle of this scope leaves of sends, to another recipient, from another sender, from another account, and of reads. */
  it.each([
    ['pair', { sender: SENDER, recipient: RECIPIENT }, [131056, null, null, null, undefined]],
    ['sender', { sender: SENDER }, [130429, 130429, null, null, undefined]],
    ['business_account', { wabaId: ACCOUNT }, [80007, 80007, 80007, null, 80007]],
    ['app', {}, [4, 4, 4, 4, 4]],
  ])('of scope %s refuses what it covers', async (scope, named, codes) => {
    const simulator = await start();
    await simulator.business.changeSender('3', { wabaId: '77' });
    await control(simulator, 'POST', 'throttles', { scope, ...named, forMs: MINUTE });
    expect([
      await codeOf(simulator),
      await codeOf(simulator, { to: OTHER }),
      await codeOf(simulator, { sender: '2' }),
      await codeOf(simulator, { sender: '3' }),
      (await read(simulator, SENDER)).json.error?.code,
    ]).toEqual(codes);
  });

  it.each([429, 503])('can be a %i without a code, and tell how long to wait', async (http) => {
    const simulator = await start();
    await control(simulator, 'POST', 'throttles', { scope: 'app', forMs: MINUTE, http, retryAfter: true });
    const { status, text, headers } = await send(simulator);
    expect([status, headers.get('retry-after')]).toEqual([http, '60']);
    expect(text).toMatch(/^<!DOCTYPE html>/);
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'refused', http, code: null, to: RECIPIENT });
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
  });

  it('lets calls pass one by one at its rate, however many come, and ends by itself', () => {
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

describe("Meta's limits on sending", () => {
  /** How many of 200 messages get through at each of these moments. */
  const passed = (limit: 'pairLimit' | 'senderLimit', moments: readonly number[]) => {
    const settings = new Settings({});
    settings.change({ [limit]: true });
    const limits = new Limits(settings);
    return moments.map(
      (at) =>
        Array.from({ length: 200 }, () => limits.take(SENDER, RECIPIENT, at)).filter((no) => no === null)
          .length,
    );
  };

  it('let 80 messages a second through for one sender', () => {
    expect(passed('senderLimit', [0, 500, 60_000])).toEqual([80, 40, 80]);
  });

  it('let a message through to one recipient every 6 seconds, after a burst of 45', () => {
    expect(passed('pairLimit', [0, 5999, 6001, 18_002])).toEqual([45, 0, 1, 2]);
  });
});
