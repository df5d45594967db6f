import type { Receipt } from '@onecode/domain';
import {
  deleteOldReceipts,
  finishReceipts,
  newId,
  postponeReceipt,
  storeReceipts,
  takeDueReceipts,
  type StoredReceipt,
} from '@onecode/store';
import { useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();
beforeEach(() => store.sql('truncate receipts'));

function receipt(messageId: string, fields: Partial<Receipt> = {}): Receipt {
  return {
    messageId,
    attemptId: null,
    status: 'delivered',
    occurredAt: new Date('2026-03-01T12:00:00.000Z'),
    failure: null,
    ...fields,
  };
}
const many = (count: number, fields: Partial<Receipt> = {}): Receipt[] =>
  Array.from({ length: count }, (_, n) => receipt(`wamid.${n}`, fields));
const ids = (taken: readonly StoredReceipt[]) => taken.map(({ id }) => id);
const take = (limit = 1000) => takeDueReceipts(store.database, limit);
const later = (seconds: number) =>
  store.sql(`update receipts set due_at = due_at - make_interval(secs => $1)`, [seconds]);

describe('storing receipts', () => {
  it('keeps each as it came', async () => {
    const given: Receipt[] = [
      receipt('wamid.a', { status: 'sent', attemptId: newId() }),
      receipt('wamid.a', { status: 'delivered', occurredAt: new Date('2026-03-01T12:00:01.000Z') }),
      receipt('wamid.a', { status: 'read' }),
      receipt('wamid.b', {
        status: 'failed',
        failure: { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' },
      }),
      receipt('wamid.c', {
        status: 'failed',
        failure: {
          kind: 'retry',
          errorCode: null,
          reason: 'busy',
          throttled: 'recipient_window',
          retryAfterSeconds: 5,
        },
      }),
      receipt(`wamid.${'é"\\\n'.repeat(20)}`),
    ];
    const stored = await storeReceipts(store.database, given);
    expect(stored).toHaveLength(given.length);
    const taken = await take();
    const byOrdinal = (some: Receipt[]) =>
      some.toSorted((a, b) => (a.messageId + a.status < b.messageId + b.status ? -1 : 1));
    expect(byOrdinal(taken.map(({ receipt: one }) => one))).toEqual(byOrdinal(given));
    expect(ids(taken)).toEqual(stored);
    expect(taken.every(({ tries }) => tries === 1)).toBe(true);
  });

  it('leaves out what is there already, in the same post, in later ones and in ones at the same time', async () => {
    const attemptId = newId();
    const twice = [
      ...many(2),
      ...many(2),
      receipt('wamid.0', { status: 'read' }),
      receipt('wamid.a', { attemptId }),
      receipt('wamid.a', { attemptId }),
    ];
    expect(await storeReceipts(store.database, twice)).toHaveLength(4);
    expect(await storeReceipts(store.database, twice)).toEqual([]);
    const posts = await Promise.all(
      Array.from({ length: 20 }, () => storeReceipts(store.database, many(50))),
    );
    expect(posts.flat()).toHaveLength(48);
    expect(await take()).toHaveLength(52);
  });

  it('takes reports on several attempts or messages for several', async () => {
    const [one, other] = [newId(), newId()];
    const given = [null, one, other].map((attemptId) => receipt('wamid.a', { attemptId }));
    expect(await storeReceipts(store.database, given)).toHaveLength(3);
    expect(
      await storeReceipts(store.database, [...given, receipt('wamid.b', { attemptId: one })]),
    ).toHaveLength(1);
  });

  it.each([
    ['of many messages', () => many(300)],
    [
      'of one message on several attempts',
      () => Array.from({ length: 300 }, () => receipt('wamid.a', { attemptId: newId() })),
    ],
  ])('does not mind posts at the same time that hold reports %s in another order', async (_, reports) => {
    for (let round = 0; round < 4; round++) {
      await store.sql('truncate receipts');
      const given = reports();
      const posts = await Promise.all(
        Array.from({ length: 20 }, (__, n) =>
          storeReceipts(store.database, n % 2 === 0 ? given : given.toReversed()),
        ),
      );
      expect(posts.flat()).toHaveLength(300);
    }
  });

  it('does not make a finished report due again', async () => {
    await storeReceipts(store.database, [receipt('wamid.a')]);
    await finishReceipts(store.database, ids(await take()), 'applied');
    expect(await storeReceipts(store.database, [receipt('wamid.a')])).toEqual([]);
    expect(await take()).toEqual([]);
  });
});

describe('taking receipts', () => {
  it('gives each to one of several takers at once', async () => {
    await storeReceipts(store.database, many(1000));
    const takers = Array.from({ length: 8 }, async () => {
      const mine: StoredReceipt[] = [];
      for (;;) {
        const batch = await take(30);
        mine.push(...batch);
        if (batch.length === 0) return mine;
      }
    });
    const all = (await Promise.all(takers)).flat();
    expect(all).toHaveLength(1000);
    expect(new Set(ids(all)).size).toBe(1000);
  });

  it('takes the oldest first, up to the limit, in the order in which they were stored', async () => {
    const stored = await storeReceipts(store.database, many(30));
    expect(ids(await take(10))).toEqual(stored.slice(0, 10));
    expect(ids(await take(10))).toEqual(stored.slice(10, 20));
  });

  it('leaves a taken one to its taker for fifteen seconds, and then to the next', async () => {
    await storeReceipts(store.database, [receipt('wamid.a')]);
    const [first] = await take();
    await later(5);
    expect(await take()).toEqual([]);
    await later(10);
    expect(await take()).toEqual([{ ...first, tries: 2 }]);
    expect(await take()).toEqual([]);
  });

  it.each(['applied', 'ignored', 'unmatched'] as const)('never takes one that was %s', async (result) => {
    await storeReceipts(store.database, many(3));
    const [done, ...rest] = ids(await take());
    await finishReceipts(store.database, [done!], result);
    await finishReceipts(store.database, [], result);
    await later(3600);
    expect(ids(await take())).toEqual(rest);
    expect(await store.sql('select result from receipts where id = $1', [done])).toEqual([{ result }]);
  });

  it('takes a postponed one when its time has come', async () => {
    await storeReceipts(store.database, [receipt('wamid.a')]);
    const [taken] = await take();
    await postponeReceipt(store.database, taken!.id, 60);
    await later(45);
    expect(await take()).toEqual([]);
    await later(15);
    expect(ids(await take())).toEqual([taken!.id]);
  });
});

describe('deleting receipts', () => {
  it('deletes only finished ones that are old enough, oldest first, up to the limit', async () => {
    const stored = await storeReceipts(store.database, many(6));
    await take();
    const [oldest, older, old, fresh, undone, recent] = stored as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    await finishReceipts(store.database, [oldest, older, old, fresh, recent], 'applied');
    const aged = (id: bigint, days: number) =>
      store.sql('update receipts set received_at = now() - make_interval(days => $2) where id = $1', [
        id,
        days,
      ]);
    await aged(oldest, 30);
    await aged(older, 20);
    await aged(old, 9);
    await aged(undone, 30);
    await aged(recent, 7);
    const left = async () =>
      (await store.sql<{ id: string }>('select id from receipts order by id')).map(({ id }) => BigInt(id));
    expect(await deleteOldReceipts(store.database, 8, 2)).toBe(2);
    expect(await left()).toEqual([old, fresh, undone, recent]);
    expect(await deleteOldReceipts(store.database, 8, 100)).toBe(1);
    expect(await deleteOldReceipts(store.database, 8, 100)).toBe(0);
    expect(await left()).toEqual([fresh, undone, recent]);
  });
});
