import type { Fault } from '@onecode/simulator';
import { buildSender, type TestCaller } from '@onecode/store/testing';
import { House } from './house.js';
import { startWorker, type TestWorker } from './worker.js';

const BACKOFF_MS = 20;
/** One more step of the back-off after five attempts. */
const SETTLE_MS = BACKOFF_MS * 2 ** 5;
const LATER_MS = 3_600_000;

const FAULTS: [string, Fault][] = [
  ['silence', { hang: true }],
  ['a reset without a message', { reset: 'before' }],
  ['a reset after the message had gone', { reset: 'after' }],
  ['a 200 without a message id', { wrongBody: 'no_id' }],
  ['a 200 with a page of HTML', { wrongBody: 'html' }],
  ['a 200 with nothing', { wrongBody: 'empty' }],
  ['a 500 with a page of HTML', { wrongBody: 'html', http: 500 }],
];

describe('an outcome that nobody knows, no receipt coming', () => {
  let house: House;
  let worker: TestWorker;
  const sends = new Map<string, { caller: TestCaller; id: string; code: string }>();
  beforeAll(async () => {
    house = await House.open();
    worker = await startWorker(house, {
      env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS), PROVIDER_TIMEOUT_MS: '300' },
    });
    await buildSender(house.db.database);
    house.simulator.changeSettings({ sentMs: LATER_MS, deliveredMs: LATER_MS });
    for (const [index, [name, fault]] of FAULTS.entries()) {
      const recipient = `+551198765010${index}`;
      house.simulator.rules.add({ recipient, fault });
      const caller = await house.caller();
      const code = `90210${index}`;
      sends.set(name, { caller, code, id: await house.send(caller, { recipient, code }) });
    }
  });
  afterAll(async () => {
    await worker.stop();
    await house.close();
  });

  it.each(FAULTS.map(([name]) => name))(
    '%s: the same code again, five calls, and the unit goes back only after the wait for a receipt',
    async (name) => {
      const { caller, id, code } = sends.get(name)!;
      const row = await house.until(id, 'failed');
      expect(row).toMatchObject({
        failure_reason: 'attempts_exhausted',
        attempts: 5,
        receipt_until: expect.any(Date),
        sealed_code: null,
      });
      const attempts = await house.attempts(id);
      expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(5).fill('unknown'));
      const calls = await house.calls(id);
      expect(calls).toHaveLength(5);
      for (const { body } of calls) expect(body.split(`"text":"${code}"`)).toHaveLength(3);
      const lastEnd = Math.max(...attempts.map(({ finished_at }) => finished_at!.getTime()));
      expect(row.failed_at!.getTime() - lastEnd).toBeGreaterThanOrEqual(SETTLE_MS - 1);
      expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: ['free_quota'] });
    },
  );
});

describe('a receipt with our opaque data', () => {
  let house: House;
  let worker: TestWorker;
  beforeAll(async () => {
    house = await House.open();
  });
  beforeEach(async () => {
    await house.clear();
    await buildSender(house.db.database);
  });
  afterEach(() => worker.stop());
  afterAll(() => house.close());

  it.each<[string, Fault]>([
    ['a reset', { reset: 'after' }],
    ['an answer without a message id', { wrongBody: 'no_id' }],
    ['a page of HTML', { wrongBody: 'html' }],
  ])('settles %s: the message has arrived, and no second one goes out', async (_, fault) => {
    // The next attempt is a minute away, so only the receipt can settle it.
    worker = await startWorker(house, { env: { DELIVERY_BACKOFF_MS: '60000' } });
    house.simulator.rules.add({ fault });
    const caller = await house.caller();
    const id = await house.send(caller);
    // The two receipts may be applied in either order; the later one still fills its time.
    const row = await house.until(
      id,
      ({ status, attempt_id, sent_at }) => status === 'delivered' && !attempt_id && sent_at !== null,
    );
    expect(row).toMatchObject({ sealed_code: null, due_at: null, failed_at: null });
    const [message] = house.simulator.messages();
    expect(await house.attempts(id)).toMatchObject([{ outcome: 'accepted', message_id: message!.id }]);
    expect(await house.calls(id)).toHaveLength(1);
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it.each([
    ['delivered', { status: 'delivered', failure_reason: null }, []],
    ['failed', { status: 'failed', failure_reason: 'rejected_by_provider' }, ['free_quota']],
  ] as const)(
    'that says %s still counts while the last attempt waits for one',
    async (status, ended, returned) => {
      worker = await startWorker(house, { env: { DELIVERY_ATTEMPTS: '1', DELIVERY_BACKOFF_MS: '60000' } });
      house.simulator.changeSettings({ sentMs: LATER_MS, deliveredMs: LATER_MS });
      house.simulator.rules.add({ fault: { wrongBody: 'no_id' } });
      const caller = await house.caller();
      const id = await house.send(caller);
      const waiting = await house.until(
        id,
        ({ receipt_until, attempt_id }) => receipt_until !== null && attempt_id === null,
      );
      expect(waiting).toMatchObject({ status: 'sending', failed_at: null });
      expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });

      const [message] = house.simulator.messages();
      expect(await house.simulator.postReceipt({ messageId: message!.id, status })).toBe(200);
      expect(await house.until(id, ended.status)).toMatchObject({
        ...ended,
        sealed_code: null,
        due_at: null,
      });
      expect((await house.units(caller.accountId)).returned).toEqual(returned);
    },
  );
});
