import { Settings } from '../src/settings.js';
import { Throughput } from '../src/throughput.js';
import { bodyOf, closeAll, RECIPIENT, send, SENDER, start } from './sending.js';

afterAll(closeAll);

describe('the limits on sending', () => {
  it('are off until they are switched on', async () => {
    const own = await start();
    const answers = await Promise.all(Array.from({ length: 120 }, () => send(own)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  it('let 45 messages through to one recipient at once, and others at the same time', async () => {
    const own = await start();
    own.changeSettings({ pairLimit: true });
    const codes: unknown[] = [];
    for (let sent = 0; sent < 47; sent += 1) codes.push((await send(own)).json.error?.code);
    expect(codes).toEqual([...Array<undefined>(45).fill(undefined), 131056, 131056]);
    expect((await send(own, bodyOf({ to: '+12015553931' }))).status).toBe(200);
  });

  it('let 80 messages a second through for one sender', () => {
    const throughput = new Throughput(new Settings({ senderLimit: true }));
    /** How many of 200 messages get through at this moment. */
    const passed = (at: number, sender = SENDER) =>
      Array.from({ length: 200 }, () => throughput.take(sender, RECIPIENT, at)).filter((refusal) => !refusal)
        .length;
    expect(passed(0)).toBe(80);
    expect(throughput.take(SENDER, RECIPIENT, 0)).toMatchObject({
      http: 400,
      body: { error: { code: 130429, error_subcode: 2494055 } },
    });
    expect(passed(0, 'another')).toBe(80);
    expect(passed(500)).toBe(40);
    expect(passed(60_000)).toBe(80);
  });

  it('let a message through to one recipient every 6 seconds after the burst', () => {
    const throughput = new Throughput(new Settings({ pairLimit: true }));
    const passed = (at: number) =>
      Array.from({ length: 60 }, () => throughput.take(SENDER, RECIPIENT, at)).filter((refusal) => !refusal)
        .length;
    expect([passed(0), passed(5999), passed(6001), passed(18_002)]).toEqual([45, 0, 1, 2]);
  });
});
