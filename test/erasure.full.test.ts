import { createHash } from 'node:crypto';
import { changeSettings, findAccount, changeApplication } from '@onecode/store/accounts';
import { logTriedSend } from '@onecode/store/users';
import { placeHold } from '@onecode/store/holds';
import {
  buildCaller,
  findSecrets,
  ProcessStack,
  redisContents,
  STACK_START_MS_MAX,
  tableContents,
  TEST_ACTOR,
  until,
  type Secret,
  type TestCaller,
} from '@onecode/testing';

const NUMBER = '+5511987654321';
/** The same person's, as it was written before the ninth digit. */
const OLD_FORM = '+551187654321';
const OTHER = '+5511987650000';
const CODE = '90817263';

/** A number passes through all features, and its owner requests its data and then its erasure. */
describe('a person’s number', () => {
  let stack: ProcessStack;
  let live: TestCaller;
  let test: TestCaller;
  const bodies: string[] = [];
  const sends: Record<'tested' | 'denied' | 'failed' | 'waiting' | 'open', string> = {
    tested: '',
    denied: '',
    failed: '',
    waiting: '',
    open: '',
  };

  const create = async (caller: TestCaller, to: string, idempotencyKey: string): Promise<string> => {
    const body = JSON.stringify({ to, code: CODE });
    bodies.push(body);
    const headers = { 'idempotency-key': idempotencyKey };
    const answer = await stack.request<{ id: string }>('POST', '/v1/send', {
      key: caller.key,
      body,
      headers,
    });
    expect(answer.status).toBe(202);
    return answer.body.id;
  };
  const units = async (): Promise<number> => {
    const { credits, freeQuota } = (await findAccount(stack.db.database, live.accountId))!;
    return credits + freeQuota;
  };
  const verify = (id: string, caller = live) => stack.verify(caller.key, id, CODE);

  beforeAll(async () => {
    stack = await ProcessStack.start({ env: { LOG_LEVEL: 'trace' } });
    const { database } = stack.db;
    live = await buildCaller(database, 'live', { credits: 100 });
    test = await buildCaller(database, 'test', { id: live.accountId });
    await stack.addSender();
    await stack.simulator.changeSender('106540352242921', { identityKeyCheck: true });
    await changeApplication(database, TEST_ACTOR, live.applicationId, { identityCheck: 'observe' });
    await changeSettings(database, TEST_ACTOR, { guessBudget: null });

    sends.tested = await create(test, NUMBER, 'k-tested');
    await stack.untilStatus(test.key, sends.tested, 'read');
    await verify(sends.tested, test);

    sends.denied = await create(live, NUMBER, 'k-denied');
    await stack.untilStatus(live.key, sends.denied, 'delivered');
    await stack.verify(live.key, sends.denied, '11111111');
    await verify(sends.denied);
    await stack.simulator.deny((await stack.simulator.message(NUMBER)).id);

    await stack.simulator.addRule({ recipient: OLD_FORM, fault: { lateFailure: 131026 } });
    sends.failed = await create(live, OLD_FORM, 'k-failed');
    await stack.untilStatus(live.key, sends.failed, 'failed');

    sends.open = await create(live, NUMBER, 'k-open');
    await stack.untilStatus(live.key, sends.open, 'delivered');

    const refused = { key: live.key, body: { to: `tel:${NUMBER}` }, headers: { 'idempotency-key': NUMBER } };
    await stack.request('POST', '/v1/send', refused);
    await logTriedSend(database, TEST_ACTOR, { ...live, id: live.applicationId }, NUMBER);

    const hold = { kind: 'account', target: live.accountId, reason: 'a test' } as const;
    await placeHold(database, TEST_ACTOR, hold);
    sends.waiting = await create(live, NUMBER, 'k-waiting');
    await stack.untilWaiting(sends.waiting);

    await changeApplication(database, TEST_ACTOR, live.applicationId, { perRecipientHour: 4 });
    await until('a denial and its receipts', async () => {
      const [row] = await stack.db.sql<{ done: boolean }>(
        `select exists (select from sends where denied_at is not null) and not exists (select from provider_reports) as done`,
      );
      return row!.done;
    });
    await create(live, OTHER, 'k-other');
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it('is exported in all its forms with all stored data', async () => {
    const kept = await stack.onecode<{ sends: Record<string, unknown>[] }>(
      `recipient export --to ${OLD_FORM} --account ${live.accountId}`,
    );
    expect(new Set(kept.sends.map(({ id }) => id))).toEqual(new Set(Object.values(sends)));
    expect(kept.sends.find(({ id }) => id === sends.denied)).toMatchObject({
      recipient: NUMBER,
      verification: 'verified',
      attempts: [{ number: 1, outcome: 'accepted' }],
      denied_at: expect.any(String),
      identity: { hash: expect.any(String), has_changed: false },
    });
    expect(JSON.stringify(kept)).not.toContain(OTHER.slice(1));
  });

  it('is erased: codes end, units are refunded, and no table contains the number', async () => {
    const before = await units();
    expect(
      await stack.onecode(`recipient erase --to ${OLD_FORM} --account ${live.accountId} --reason Request-17`),
    ).toEqual({ sends_erased: 5, codes_ended: 3 });

    expect(await verify(sends.open)).toMatchObject({ valid: false, verification: 'expired' });
    await stack.untilStatus(live.key, sends.waiting, 'failed');
    expect(await stack.status(live.key, sends.waiting)).toMatchObject({
      failure_reason: 'expired_before_delivery',
    });
    expect(await units()).toBe(before + 1);
    expect(await stack.status(live.key, sends.denied)).toMatchObject({
      id: sends.denied,
      status: 'delivered',
      verification: 'verified',
    });

    const phones: Secret[] = [NUMBER, OLD_FORM].map((e164) => ({ name: e164, value: e164.slice(1) }));
    const hashes: Secret[] = bodies
      .filter((body) => !body.includes(OTHER))
      .map((body) => ({ name: body, value: createHash('sha256').update(body).digest('hex') }));
    const contents = await tableContents(stack.db);
    expect(contents.get('refused_requests.code')).toBe('invalid_recipient');
    const found = [...contents].flatMap(([column, text]) => [
      ...findSecrets(text, phones).map((find) => `${column}: ${find}`),
      ...hashes.filter(({ value }) => text.includes(value)).map(({ name }) => `${column}: ${name}`),
    ]);
    expect(found).toEqual([]);
    // The search finds existing values.
    expect(
      findSecrets(contents.get('sends.recipient')!, [{ name: 'other', value: OTHER.slice(1) }]),
    ).toHaveLength(1);
    expect(findSecrets(await redisContents(stack.redis, stack.prefix), phones)).toEqual([]);
    expect(findSecrets(stack.output(), phones)).toEqual([]);
  });

  it('still counts for limits and idempotent repeats', async () => {
    expect(await create(live, NUMBER, 'k-denied')).toBe(sends.denied);
    const again = { key: live.key, body: { to: NUMBER } };
    expect((await stack.request('POST', '/v1/send', again)).status).toBe(429);
    expect(
      await stack.onecode(`recipient erase --to ${NUMBER} --account ${live.accountId} --reason Request-17`),
    ).toEqual({ sends_erased: 0, codes_ended: 0 });
  });
});
