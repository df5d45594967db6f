import type { Decision, Denial, Pricing, Receipt, ReportedAttempt, Send } from '@onecode/domain';
import {
  changeReportedSend,
  countMessageCosts,
  deleteOldCountedMessages,
  deleteOldReports,
  finishReceipts,
  listMessageCosts,
  matchDueDenials,
  newId,
  postponeReceipt,
  storeDenials,
  storeReceipts,
  takeDueReceipts,
  type StoredReceipt,
  type WhichReport,
} from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();

describe('receipts', () => {
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
      expect(await deleteOldReports(store.database, 'receipts', 8, 2)).toBe(2);
      expect(await left()).toEqual([old, fresh, undone, recent]);
      expect(await deleteOldReports(store.database, 'receipts', 8, 100)).toBe(1);
      expect(await deleteOldReports(store.database, 'receipts', 8, 100)).toBe(0);
      expect(await left()).toEqual([fresh, undone, recent]);
    });
  });
});

describe('reports', () => {
  let caller: TestCaller;
  let senderId: string;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 1000 });
    senderId = (await buildSender(store.database)).id;
  });

  interface Row {
    outcome?: string | null;
    messageId?: string | null;
    startedAt?: string;
  }

  /** Puts an attempt of a send into the table. @returns its id */
  async function attempt(sendId: string, { outcome = 'accepted', messageId, startedAt }: Row = {}) {
    const id = newId();
    await store.sql(
      `insert into attempts (id, send_id, sender_id, outcome, message_id, started_at, finished_at)
       values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()), case when $4::text is not null then now() end)`,
      [id, sendId, senderId, outcome, messageId ?? null, startedAt ?? null],
    );
    return id;
  }

  const isUnderWay = (sendId: string, attemptId: string) =>
    store.sql('update sends set attempt_id = $2 where id = $1', [sendId, attemptId]);

  /** What a receipt would be decided on, or null. */
  async function reported(which: Partial<WhichReport>) {
    let seen: { sendId: string; attempt: ReportedAttempt } | null = null;
    const result = await changeReportedSend(
      store.database,
      { attemptId: null, messageId: `wamid.unknown.${newId()}`, ...which },
      (send: Send, _now: Date, about): Decision<'decided'> => {
        seen = { sendId: send.id, attempt: about };
        return { result: 'decided' };
      },
    );
    expect(result?.result).toBe(seen === null ? undefined : 'decided');
    return seen as { sendId: string; attempt: ReportedAttempt } | null;
  }

  describe('the send that a receipt reports on', () => {
    it('is found by our attempt’s id, before the message id is known', async () => {
      const sendId = await buildSend(store.database, caller);
      const id = await attempt(sendId, { outcome: null });
      expect(await reported({ attemptId: id })).toEqual({
        sendId,
        attempt: {
          id,
          senderId,
          startedAt: expect.any(Date),
          outcome: null,
          otherIsAccepted: false,
          otherClaimedAt: null,
        },
      });
    });

    it('is found by the message id when the attempt’s id did not come back', async () => {
      const sendId = await buildSend(store.database, caller);
      const id = await attempt(sendId, { messageId: `wamid.${sendId}` });
      expect(await reported({ messageId: `wamid.${sendId}` })).toMatchObject({ sendId, attempt: { id } });
    });

    it('is found by the message id when the attempt’s id is not one of ours', async () => {
      const sendId = await buildSend(store.database, caller);
      await attempt(sendId, { messageId: `wamid.${sendId}` });
      expect(await reported({ attemptId: newId(), messageId: `wamid.${sendId}` })).toMatchObject({ sendId });
    });

    it('is the attempt’s when attempt and message speak of different sends', async () => {
      const [one, two] = [await buildSend(store.database, caller), await buildSend(store.database, caller)];
      const id = await attempt(one);
      await attempt(two, { messageId: `wamid.${two}` });
      expect(await reported({ attemptId: id, messageId: `wamid.${two}` })).toMatchObject({ sendId: one });
    });

    it('is that of the earliest attempt when a message id stands twice', async () => {
      const sendId = await buildSend(store.database, caller);
      const messageId = `wamid.${sendId}`;
      await attempt(sendId, { messageId, startedAt: '2026-01-02T00:00:00Z' });
      const first = await attempt(sendId, { messageId, startedAt: '2026-01-01T00:00:00Z' });
      expect(await reported({ messageId })).toMatchObject({ attempt: { id: first } });
    });

    it('is nobody’s when neither is known', async () => {
      expect(await reported({})).toBeNull();
      expect(await reported({ attemptId: newId() })).toBeNull();
    });
  });

  describe('whether another message of the send may still arrive', () => {
    it.each([
      ['accepted', true],
      ['retry', false],
      ['unknown', false],
      ['sender', false],
      ['recipient', false],
      ['config', false],
      [null, false],
    ])('is told by another attempt: %s → %s', async (outcome, otherIsAccepted) => {
      const sendId = await buildSend(store.database, caller);
      await attempt(sendId, { outcome });
      const id = await attempt(sendId);
      expect(await reported({ attemptId: id })).toMatchObject({
        attempt: { id, otherIsAccepted, otherClaimedAt: null },
      });
    });

    it('is open while another attempt is under way', async () => {
      const sendId = await buildSend(store.database, caller);
      const id = await attempt(sendId, { outcome: 'unknown' });
      await isUnderWay(sendId, await attempt(sendId, { outcome: null }));
      expect(await reported({ attemptId: id })).toMatchObject({
        attempt: { otherIsAccepted: false, otherClaimedAt: expect.any(Date) },
      });
    });

    it('is not told by the attempt itself, nor by another send’s', async () => {
      const sendId = await buildSend(store.database, caller);
      const id = await attempt(sendId);
      await isUnderWay(sendId, id);
      await attempt(await buildSend(store.database, caller));
      expect(await reported({ attemptId: id })).toMatchObject({
        attempt: { otherIsAccepted: false, otherClaimedAt: null },
      });
    });
  });
});

describe('a denial', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    await store.sql('truncate denials');
    caller = await buildCaller(store.database, 'live', { credits: 10 });
  });

  const denial = (messageId: string): Denial => ({
    messageId,
    occurredAt: new Date('2026-03-01T12:00:00.000Z'),
  });
  const keep = (...messageIds: string[]) => storeDenials(store.database, messageIds.map(denial));
  const match = () => matchDueDenials(store.database, 100);
  const rows = () =>
    store.sql<{ message_id: string; send_id: string | null; tries: number; waits: boolean }>(
      'select message_id, send_id, tries, due_at is not null as waits from denials order by message_id',
    );
  const makeDue = () =>
    store.sql("update denials set due_at = now() - interval '1 second' where due_at is not null");

  /** A send whose message has this id. @returns the send's id */
  async function sentMessage(messageId: string): Promise<string> {
    const sendId = await buildSend(store.database, caller);
    await store.sql(
      `insert into attempts (id, send_id, outcome, message_id, finished_at) values ($1, $2, 'accepted', $3, now())`,
      [newId(), sendId, messageId],
    );
    return sendId;
  }

  it('waits for a message that is not known yet', async () => {
    await keep('wamid.early');
    expect(await match()).toEqual({ matched: [], due: 1 });
    expect(await rows()).toEqual([{ message_id: 'wamid.early', send_id: null, tries: 1, waits: true }]);
    const sendId = await sentMessage('wamid.early');
    await makeDue();
    expect((await match()).matched).toHaveLength(1);
    expect(await rows()).toEqual([{ message_id: 'wamid.early', send_id: sendId, tries: 2, waits: false }]);
  });

  it('of nobody’s message is given up after ten tries, and deleted after its time', async () => {
    await sentMessage('wamid.known');
    await keep('wamid.foreign', 'wamid.known');
    for (let n = 0; n < 12; n += 1) {
      await match();
      await makeDue();
    }
    expect(await rows()).toMatchObject([
      { message_id: 'wamid.foreign', send_id: null, tries: 10, waits: false },
      { message_id: 'wamid.known', tries: 1, waits: false },
    ]);
    expect(await deleteOldReports(store.database, 'denials', 8, 100)).toBe(0);
    await store.sql("update denials set received_at = received_at - interval '9 days'");
    expect(await deleteOldReports(store.database, 'denials', 8, 100)).toBe(1);
    expect((await rows()).map(({ message_id }) => message_id)).toEqual(['wamid.known']);
  });

  it('goes to one of many that match at the same time', async () => {
    await sentMessage('wamid.contested');
    await keep('wamid.contested');
    const all = await Promise.all(Array.from({ length: 8 }, match));
    expect(all.flatMap(({ matched }) => matched)).toHaveLength(1);
  });
});

describe('what messages cost', () => {
  const PRICE: Pricing = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };

  beforeEach(() => store.sql('truncate receipts, message_costs, counted_messages'));

  /** A live send with a message. @returns the attempt's and the message's id */
  async function message(
    account = { freeQuota: 0, credits: 1 },
  ): Promise<{ attemptId: string; messageId: string }> {
    const sendId = await buildSend(store.database, await buildCaller(store.database, 'live', account));
    const attemptId = newId();
    const messageId = `wamid.${attemptId}`;
    await store.sql(
      `insert into attempts (id, send_id, outcome, message_id, finished_at) values ($1, $2, 'accepted', $3, now())`,
      [attemptId, sendId, messageId],
    );
    return { attemptId, messageId };
  }

  type Reported = Pick<Receipt, 'messageId' | 'attemptId'>;
  /** Stores receipts of today. @returns their ids */
  const report = (of: Reported, statuses: readonly Receipt['status'][], pricing: Pricing | null = PRICE) =>
    storeReceipts(
      store.database,
      statuses.map((status) => ({
        messageId: of.messageId,
        attemptId: of.attemptId,
        status,
        occurredAt: new Date(),
        failure: null,
        ...(pricing !== null && { pricing }),
      })),
    );
  const count = (ids: readonly bigint[]) => countMessageCosts(store.database, ids);
  const costs = () => listMessageCosts(store.database, 1);
  const today = () => new Date().toISOString().slice(0, 10);

  it('is counted once for each message, however often and in whatever order its receipts are handled', async () => {
    const one = await message();
    const other = await message({ freeQuota: 1, credits: 0 });
    const ids = [
      ...(await report(one, ['delivered', 'sent'])),
      ...(await report(other, ['sent'])),
      // The provider need not send our attempt's id along.
      ...(await report({ ...other, attemptId: null }, ['delivered', 'sent'])),
    ];
    for (const id of ids) await count([id]);
    await count(ids.toReversed());
    expect(await costs()).toEqual([
      {
        day: today(),
        country: 'BR',
        category: 'authentication',
        type: 'regular',
        billable: true,
        pricingModel: 'PMP',
        messages: 2,
        delivered: 2,
        freeSends: 1,
        credits: 1,
      },
    ]);
  });

  it('is counted exactly by many at a time', async () => {
    const messages = await Promise.all(Array.from({ length: 10 }, () => message()));
    const ids = (await Promise.all(messages.map((one) => report(one, ['sent', 'delivered', 'read'])))).flat();
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => count(n % 2 === 0 ? ids : ids.slice(n).toReversed())),
    );
    expect(await costs()).toMatchObject([{ messages: 10, delivered: 10, credits: 10 }]);
  });

  it('is charged for delivered messages only, and nobody’s message counts', async () => {
    await count(await report(await message(), ['sent', 'failed']));
    await count(await report(await message(), ['delivered'], null));
    await count(await report({ messageId: 'wamid.foreign', attemptId: newId() }, ['delivered']));
    expect(await costs()).toMatchObject([{ messages: 1, delivered: 0, credits: 0 }]);
  });

  it('is kept apart by country, category, type and whether it is charged', async () => {
    const prices = [
      PRICE,
      { ...PRICE, category: 'marketing' },
      { ...PRICE, type: 'free_customer_service', billable: false },
      { ...PRICE, model: 'CBP' },
    ];
    for (const price of prices) await count(await report(await message(), ['delivered'], price));
    const one = await message();
    await store.sql(
      'update sends set country = null where id = (select send_id from attempts where id = $1)',
      [one.attemptId],
    );
    await count(await report(one, ['delivered']));
    const found = await costs();
    expect(found).toHaveLength(5);
    expect(found.map(({ messages }) => messages)).toEqual([1, 1, 1, 1, 1]);
    expect(found.at(-1)).toMatchObject({ country: 'ZZ' });
  });

  it('stays when it is forgotten which messages are counted, and so does what is young', async () => {
    const ids = await report(await message(), ['delivered']);
    await count(ids);
    expect(await deleteOldCountedMessages(store.database, 8, 10)).toBe(0);
    expect(await deleteOldCountedMessages(store.database, -1, 10)).toBe(2);
    expect(await costs()).toMatchObject([{ messages: 1 }]);
  });
});
