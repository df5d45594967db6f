import { createSend, findAccount, limitApplication } from '@onecode/store';
import {
  buildCaller,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();

const create = (caller: TestCaller, wishes?: SendOptions) =>
  createSend(store.database, newSend(caller, wishes));
const count = (rows: readonly { outcome: string }[], outcome: string): number =>
  rows.filter((row) => row.outcome === outcome).length;

describe('creating a send', () => {
  it('answers a queued, pending send whose deadline is the validity after its creation', async () => {
    const caller = await buildCaller(store.database, 'live');
    const created = await create(caller);
    expect(created).toMatchObject({
      outcome: 'created',
      send: {
        status: 'queued',
        verification: 'pending',
        mode: 'live',
        channel: null,
        from: null,
        chargedFrom: 'free_quota',
        locale: 'pt-BR',
        sentAt: null,
        failureReason: null,
      },
    });
    if (created.outcome !== 'created') return;
    expect(created.send.expiresAt.getTime() - created.send.createdAt.getTime()).toBe(600_000);
    expect(created.send.dueAt).toEqual(created.send.createdAt);
  });

  it('takes free quota first, then credits, and then refuses without writing anything', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 1 });
    const outcomes = [await create(caller), await create(caller), await create(caller)];
    expect(outcomes.map((o) => ('send' in o ? o.send.chargedFrom : o.outcome))).toEqual([
      'free_quota',
      'credit',
      'insufficient_credits',
    ]);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 0 });
    const rows = await store.sql(
      'select kind, bucket, units from ledger_entries where account_id = $1 order by id',
      [caller.accountId],
    );
    expect(rows).toEqual([
      { kind: 'granted', bucket: 'free_quota', units: 1 },
      { kind: 'granted', bucket: 'credit', units: 1 },
      { kind: 'reserved', bucket: 'free_quota', units: 1 },
      { kind: 'reserved', bucket: 'credit', units: 1 },
    ]);
  });

  it('takes no unit in test mode and never refuses it for lack of units', async () => {
    const caller = await buildCaller(store.database, 'test', { freeQuota: 0 });
    expect(await create(caller)).toMatchObject({
      outcome: 'created',
      send: { chargedFrom: null, mode: 'test' },
    });
  });

  it('accepts exactly as many of 60 live sends at once as there are units', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 10, credits: 5 });
    const outcomes = await Promise.all(Array.from({ length: 60 }, () => create(caller)));
    expect(count(outcomes, 'created')).toBe(15);
    expect(count(outcomes, 'insufficient_credits')).toBe(45);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 0 });
  });
});

describe('idempotency', () => {
  it('gives one send and one charge to 80 repeats at once', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 10 });
    const outcomes = await Promise.all(
      Array.from({ length: 80 }, () => create(caller, { idempotencyKey: 'key', body: 'same' })),
    );
    expect(count(outcomes, 'created')).toBe(1);
    expect(count(outcomes, 'existing')).toBe(79);
    expect(new Set(outcomes.map((o) => ('send' in o ? o.send.id : null))).size).toBe(1);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 9 });
  });

  it('refuses the same key with another body, even when nothing else would be possible', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, ratePerMinute: 1 });
    await create(caller, { idempotencyKey: 'key', body: 'one' });
    expect(await create(caller, { idempotencyKey: 'key', body: 'two' })).toEqual({ outcome: 'reused' });
    expect(await create(caller, { idempotencyKey: 'key', body: 'one' })).toMatchObject({
      outcome: 'existing',
    });
  });

  it('belongs to the application', async () => {
    const one = await buildCaller(store.database, 'test');
    const two = await buildCaller(store.database, 'test', { id: one.accountId });
    const first = await create(one, { idempotencyKey: 'key' });
    const second = await create(two, { idempotencyKey: 'key' });
    expect([first.outcome, second.outcome]).toEqual(['created', 'created']);
  });

  it('is not bound by a refusal', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0 });
    expect(await create(caller, { idempotencyKey: 'key' })).toMatchObject({
      outcome: 'insufficient_credits',
    });
    await store.sql('update accounts set credits = 1 where id = $1', [caller.accountId]);
    expect(await create(caller, { idempotencyKey: 'key', body: 'another' })).toMatchObject({
      outcome: 'created',
    });
  });
});

describe('creation limits', () => {
  it('lets exactly the account’s rate through at once, and says when the window opens', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 7 });
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => create(caller)));
    expect(count(outcomes, 'created')).toBe(7);
    for (const outcome of outcomes)
      if (outcome.outcome === 'rate_limited') {
        expect(outcome.retryAfterSeconds).toBeGreaterThanOrEqual(58);
        expect(outcome.retryAfterSeconds).toBeLessThanOrEqual(60);
      }
  });

  it('opens the window again as its oldest sends leave it, one by one', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 2 });
    await create(caller);
    await create(caller);
    await store.sql(
      `update sends set created_at = created_at - interval '61 seconds' where account_id = $1 and account_number = 1`,
      [caller.accountId],
    );
    expect(await create(caller)).toMatchObject({ outcome: 'created' });
    expect(await create(caller)).toMatchObject({ outcome: 'rate_limited' });
  });

  it('counts per application and per recipient only when they are set', async () => {
    const caller = await buildCaller(store.database, 'test');
    await limitApplication(store.database, TEST_ACTOR, caller.applicationId, {
      perMinute: 3,
      perRecipientHour: 2,
    });
    const to = (recipient: string) => create(caller, { recipient });
    expect((await to('+5511900000001')).outcome).toBe('created');
    expect((await to('+5511900000001')).outcome).toBe('created');
    const perRecipient = await to('+5511900000001');
    expect(perRecipient).toMatchObject({ outcome: 'rate_limited' });
    if (perRecipient.outcome === 'rate_limited') expect(perRecipient.retryAfterSeconds).toBeGreaterThan(3500);
    expect((await to('+5511900000002')).outcome).toBe('created');
    const perMinute = await to('+5511900000003');
    expect(perMinute).toMatchObject({ outcome: 'rate_limited' });
    if (perMinute.outcome === 'rate_limited') expect(perMinute.retryAfterSeconds).toBeLessThanOrEqual(60);
    await limitApplication(store.database, TEST_ACTOR, caller.applicationId, {
      perMinute: null,
      perRecipientHour: null,
    });
    expect((await to('+5511900000001')).outcome).toBe('created');
  });

  it('is not spent by an idempotent repeat', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 2 });
    await create(caller, { idempotencyKey: 'key' });
    await create(caller, { idempotencyKey: 'key' });
    await create(caller, { idempotencyKey: 'key' });
    expect(await create(caller)).toMatchObject({ outcome: 'created' });
  });
});
