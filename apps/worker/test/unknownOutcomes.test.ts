import type { Fault } from '@onecode/simulator';
import { buildSender, type TestCaller } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { startWorker, type TestWorker } from './testWorker.js';

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

describe('an unknown outcome without a receipt', () => {
  let environment: WorkerEnvironment;
  let worker: TestWorker;
  const sends = new Map<string, { caller: TestCaller; id: string; code: string }>();
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    worker = await startWorker(environment, {
      env: { DELIVERY_BACKOFF_MS: String(BACKOFF_MS), PROVIDER_TIMEOUT_MS: '300' },
    });
    await buildSender(environment.db.database);
    environment.simulator.changeSettings({ sentMs: LATER_MS, deliveredMs: LATER_MS });
    for (const [index, [name, fault]] of FAULTS.entries()) {
      const recipient = `+551198765010${index}`;
      environment.simulator.rules.add({ recipient, fault });
      const caller = await environment.caller();
      const code = `90210${index}`;
      sends.set(name, { caller, code, id: await environment.send(caller, { recipient, code }) });
    }
  });
  afterAll(async () => {
    await worker.stop();
    await environment.close();
  });

  it.each(FAULTS.map(([name]) => name))(
    '%s: the same code in five calls, and the refund only after the wait for a receipt',
    async (name) => {
      const { caller, id, code } = sends.get(name)!;
      const row = await environment.until(id, 'failed');
      expect(row).toMatchObject({
        failure_reason: 'attempts_exhausted',
        attempts: 5,
        receipt_until: expect.any(Date),
        sealed_code: null,
      });
      const attempts = await environment.attempts(id);
      expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(5).fill('unknown'));
      const calls = await environment.calls(id);
      expect(calls).toHaveLength(5);
      for (const { body } of calls) expect(body.split(`"text":"${code}"`)).toHaveLength(3);
      const lastEnd = Math.max(...attempts.map(({ finished_at }) => finished_at!.getTime()));
      expect(row.failed_at!.getTime() - lastEnd).toBeGreaterThanOrEqual(SETTLE_MS - 1);
      expect(await environment.units(caller.accountId)).toMatchObject({
        free_quota: 1,
        returned: ['free_quota'],
      });
    },
  );
});

describe('a receipt with our opaque data', () => {
  let environment: WorkerEnvironment;
  let worker: TestWorker;
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
  });
  beforeEach(async () => {
    await environment.reset();
    await buildSender(environment.db.database);
  });
  afterEach(() => worker.stop());
  afterAll(() => environment.close());

  it.each<[string, Fault]>([
    ['a reset', { reset: 'after' }],
    ['an answer without a message id', { wrongBody: 'no_id' }],
    ['a page of HTML', { wrongBody: 'html' }],
  ])('settles %s: the message has arrived, and no second one goes out', async (_, fault) => {
    // The next attempt is a minute away, so only the receipt can settle this one.
    worker = await startWorker(environment, { env: { DELIVERY_BACKOFF_MS: '60000' } });
    environment.simulator.rules.add({ fault });
    const caller = await environment.caller();
    const id = await environment.send(caller);
    // The two receipts may be applied in either order; the later one still fills its time.
    const row = await environment.until(
      id,
      ({ status, attempt_id, sent_at }) => status === 'delivered' && !attempt_id && sent_at !== null,
    );
    expect(row).toMatchObject({ sealed_code: null, due_at: null, failed_at: null });
    const [message] = environment.simulator.messages();
    expect(await environment.attempts(id)).toMatchObject([{ outcome: 'accepted', message_id: message!.id }]);
    expect(await environment.calls(id)).toHaveLength(1);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it.each([
    ['delivered', { status: 'delivered', failure_reason: null }, []],
    ['failed', { status: 'failed', failure_reason: 'rejected_by_provider' }, ['free_quota']],
  ] as const)(
    'with the status %s still counts while the last attempt waits for one',
    async (status, ended, returned) => {
      worker = await startWorker(environment, {
        env: { DELIVERY_ATTEMPTS: '1', DELIVERY_BACKOFF_MS: '60000' },
      });
      environment.simulator.changeSettings({ sentMs: LATER_MS, deliveredMs: LATER_MS });
      environment.simulator.rules.add({ fault: { wrongBody: 'no_id' } });
      const caller = await environment.caller();
      const id = await environment.send(caller);
      const waiting = await environment.until(
        id,
        ({ receipt_until, attempt_id }) => receipt_until !== null && attempt_id === null,
      );
      expect(waiting).toMatchObject({ status: 'sending', failed_at: null });
      expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });

      const [message] = environment.simulator.messages();
      expect(await environment.simulator.postReceipt({ messageId: message!.id, status })).toBe(200);
      expect(await environment.until(id, ended.status)).toMatchObject({
        ...ended,
        sealed_code: null,
        due_at: null,
      });
      expect((await environment.units(caller.accountId)).returned).toEqual(returned);
    },
  );
});
