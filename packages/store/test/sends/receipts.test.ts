import {
  applyReceipt,
  type AttemptName,
  type Decision,
  type Denial,
  type Pricing,
  type Receipt,
  type ReportedAttempt,
  type Send,
} from '@onecode/domain';
import { closeDatabase, newId, openDatabase } from '@onecode/store/client';
import { deleteOldReports } from '@onecode/store/operations';
import { listMessageCosts } from '@onecode/store/reports';
import type { Sender } from '@onecode/store/senders';
import {
  applyReceipts,
  changeReportedSend,
  findSend,
  matchDueDenials,
  postponeReceipt,
  readReceipts,
  releaseReceipt,
  storeDenials,
  storeReceipts,
  type WhichReport,
} from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  recipientKeysOf,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';

const store = useTestDatabase();
const PRICE: Pricing = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };

describe('receipts', () => {
  beforeEach(() => store.sql('truncate receipts'));

  function receipt(messageId: string, fields: Partial<Receipt> = {}): Receipt {
    return {
      messageId,
      attempt: null,
      status: 'delivered',
      occurredAt: new Date('2026-03-01T12:00:00.000Z'),
      failure: null,
      ...fields,
    };
  }
  const many = (count: number, fields: Partial<Receipt> = {}): Receipt[] =>
    Array.from({ length: count }, (_, n) => receipt(`wamid.${n}`, fields));
  const take = (limit = 1000, isSweep = true) => applyReceipts(store.database, limit, isSweep);
  const read = async () => readReceipts(store.database, (await take()).others);

  it('are kept as they come, oldest first', async () => {
    const given: Receipt[] = [
      receipt('wamid.a', { status: 'sent', attempt: { sendId: newId(), number: 3 } }),
      receipt('wamid.a', { occurredAt: new Date('2026-03-01T12:00:01.000Z'), pricing: PRICE }),
      receipt('wamid.a', { status: 'read', identityHash: 'hash' }),
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
          throttled: 'pair',
          retryAfterSeconds: 5,
        },
      }),
      receipt(`wamid.${'é"\\\n'.repeat(20)}`),
      receipt('wamid.a'),
    ];
    await storeReceipts(store.database, given);
    expect((await read()).map(({ receipt: one, tries }) => [one, tries])).toEqual(
      given.map((one) => [one, 0]),
    );
    expect((await take(2)).others).toHaveLength(2);
  });

  it('are looked for where this client has not looked yet, and by a sweep from the first', async () => {
    await storeReceipts(store.database, many(3_000));
    const first = async (isSweep: boolean) =>
      (await readReceipts(store.database, (await take(1, isSweep)).others))[0]!.receipt.messageId;
    expect((await take(3_000, false)).others).toHaveLength(3_000);
    expect([await first(false), await first(true)]).toEqual(['wamid.2000', 'wamid.0']);
  });

  it('that are postponed are due again later, each time after longer', async () => {
    await storeReceipts(store.database, many(1));
    const waits: number[] = [];
    for (let tries = 0; tries < 8; tries++) {
      const [one] = await read();
      expect(one!.tries).toBe(tries);
      await postponeReceipt(store.database, one!.id);
      expect(await read()).toEqual([]);
      const [row] = await store.sql<{ wait: number }>(
        'select round(extract(epoch from due_at - clock_timestamp()))::integer as wait from receipts',
      );
      waits.push(row!.wait);
      await store.sql(`update receipts set due_at = now() - interval '1 second'`);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
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
    outcome?: string;
    messageId?: string | null;
    startedAt?: string;
  }

  const numbers = new Map<string, number>();
  /** Puts an attempt of a send into the table. */
  async function attempt(
    sendId: string,
    { outcome = 'accepted', messageId, startedAt }: Row = {},
  ): Promise<AttemptName> {
    const number = (numbers.get(sendId) ?? 0) + 1;
    numbers.set(sendId, number);
    await store.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
       values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()), now())`,
      [sendId, number, senderId, outcome, messageId ?? null, startedAt ?? null],
    );
    return { sendId, number };
  }

  const isUnderWay = (sendId: string, number: number) =>
    store.sql(
      `update sends set attempt_number = $2, claimed_at = now(), claimed_until = now(), sender_id = $3, from_number = '+15550783881',
         status = 'sending', channel = 'whatsapp' where id = $1`,
      [sendId, number, senderId],
    );

  /** What a receipt would be decided on, or null. */
  async function reported(which: Partial<WhichReport>) {
    let seen: { sendId: string; attempt: ReportedAttempt } | null = null;
    const result = await changeReportedSend(
      store.database,
      { attempt: null, messageId: `wamid.unknown.${newId()}`, ...which },
      (send: Send, _now: Date, about): Decision<'decided'> => {
        seen = { sendId: send.id, attempt: about };
        return { result: 'decided' };
      },
    );
    expect(result?.result).toBe(seen === null ? undefined : 'decided');
    return seen as { sendId: string; attempt: ReportedAttempt } | null;
  }

  describe('the send that a receipt reports on', () => {
    it('is found by our attempt’s name while it is under way, before the message id is known', async () => {
      const sendId = await buildSend(store.database, caller);
      await isUnderWay(sendId, 2);
      expect(await reported({ attempt: { sendId, number: 2 } })).toEqual({
        sendId,
        attempt: {
          number: 2,
          senderId,
          phoneNumberId: expect.stringMatching(/^[0-9]+$/),
          startedAt: expect.any(Date),
          outcome: null,
          otherIsAccepted: false,
          recipientKey: expect.stringMatching(/^1:/),
        },
      });
    });

    it('is found by the message id when the attempt’s name did not come back', async () => {
      const sendId = await buildSend(store.database, caller);
      const { number } = await attempt(sendId, { messageId: `wamid.${sendId}` });
      expect(await reported({ messageId: `wamid.${sendId}` })).toMatchObject({ sendId, attempt: { number } });
    });

    it('is found by the message id when the attempt’s name is not one of ours', async () => {
      const sendId = await buildSend(store.database, caller);
      await attempt(sendId, { messageId: `wamid.${sendId}` });
      const messageId = `wamid.${sendId}`;
      for (const name of [
        { sendId: newId(), number: 1 },
        { sendId, number: 7 },
      ])
        expect(await reported({ attempt: name, messageId })).toMatchObject({ sendId });
    });

    it('is the attempt’s when attempt and message speak of different sends', async () => {
      const [one, two] = [await buildSend(store.database, caller), await buildSend(store.database, caller)];
      const name = await attempt(one);
      await attempt(two, { messageId: `wamid.${two}` });
      expect(await reported({ attempt: name, messageId: `wamid.${two}` })).toMatchObject({ sendId: one });
    });

    it('is none where it names one of another send’s: who may report on the one may not report on the other', async () => {
      const [one, two] = [await buildSend(store.database, caller), await buildSend(store.database, caller)];
      const name = await attempt(one, { messageId: `wamid.${one}` });
      await attempt(two, { messageId: `wamid.${two}` });
      expect(await reported({ attempt: name, messageId: `wamid.${two}` })).toBeNull();
    });

    it('is none by the name of an attempt that has another message', async () => {
      const sendId = await buildSend(store.database, caller);
      const name = await attempt(sendId, { messageId: `wamid.${sendId}` });
      await isUnderWay(sendId, name.number);
      expect(await reported({ attempt: name })).toBeNull();
      expect(await reported({ attempt: name, messageId: `wamid.${sendId}` })).toMatchObject({ sendId });
    });

    it('is that of the earliest attempt when a message id stands twice', async () => {
      const sendId = await buildSend(store.database, caller);
      const messageId = `wamid.${sendId}`;
      await attempt(sendId, { messageId, startedAt: '2026-01-02T00:00:00Z' });
      const first = await attempt(sendId, { messageId, startedAt: '2026-01-01T00:00:00Z' });
      expect(await reported({ messageId })).toMatchObject({ attempt: { number: first.number } });
    });

    it('is nobody’s when neither is known', async () => {
      expect(await reported({})).toBeNull();
      expect(await reported({ attempt: { sendId: newId(), number: 1 } })).toBeNull();
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
    ])('is told by another attempt: %s → %s', async (outcome, otherIsAccepted) => {
      const sendId = await buildSend(store.database, caller);
      await attempt(sendId, { outcome });
      const name = await attempt(sendId);
      expect(await reported({ attempt: name })).toMatchObject({ attempt: { number: 2, otherIsAccepted } });
    });

    it('is not told by the attempt itself, nor by another send’s', async () => {
      const name = await attempt(await buildSend(store.database, caller));
      await attempt(await buildSend(store.database, caller));
      expect(await reported({ attempt: name })).toMatchObject({ attempt: { otherIsAccepted: false } });
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
      `insert into attempts (send_id, number, outcome, message_id, started_at, finished_at)
       values ($1, 1, 'accepted', $2, now(), now())`,
      [sendId, messageId],
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

describe('receipts of messages that were accepted', () => {
  let caller: TestCaller;
  let sender: Sender;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 10_000 });
    sender = await buildSender(store.database);
  });
  beforeEach(() => store.sql('truncate receipts, message_costs'));

  /** A live send whose message was accepted five seconds after it was made. @returns its id */
  async function accepted(by: TestCaller = caller, { id: senderId, number } = sender): Promise<string> {
    const id = await buildSend(store.database, by);
    await store.sql(
      `update sends set status = 'sent', channel = 'whatsapp', from_number = $2, sender_id = $3, attempts = 1, attempt_number = 1,
         due_at = null, created_at = created_at - interval '1 minute', sent_at = created_at - interval '55 seconds' where id = $1`,
      [id, number, senderId],
    );
    await store.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
       values ($1, 1, $2, 'accepted', $3, now(), now())`,
      [id, senderId, `wamid.${id}`],
    );
    return id;
  }

  const reportOf = (
    id: string,
    status: Receipt['status'],
    secondsAgo = 0,
    fields: Partial<Receipt> = {},
  ): Receipt => ({
    messageId: `wamid.${id}`,
    attempt: { sendId: id, number: 1 },
    status,
    occurredAt: new Date(Math.floor(Date.now() / 1000 - secondsAgo) * 1000),
    failure: null,
    ...fields,
  });
  const sendOf = async (id: string) => (await findSend(store.database, caller.accountId, id))!;
  const apply = async () => (await applyReceipts(store.database, 1000, true)).applied;
  const left = async () => (await store.sql('select from receipts')).length;
  const costs = () => listMessageCosts(store.database, 1);

  it('change nothing where they report on another message than the attempt’s', async () => {
    const id = await accepted();
    await storeReceipts(store.database, [reportOf(id, 'delivered', 0, { messageId: 'wamid.another' })]);
    expect(await apply()).toEqual([]);
    expect((await sendOf(id)).send.status).toBe('sent');
    expect(await left()).toBe(1);
  });

  it('make one change of the send, with its price, and are gone', async () => {
    const id = await accepted();
    const pricing = PRICE;
    await storeReceipts(store.database, [
      reportOf(id, 'sent', 50, { pricing }),
      reportOf(id, 'read', 20),
      reportOf(id, 'delivered', 40, { pricing }),
    ]);
    const before = (await sendOf(id)).send;
    const [one, ...others] = await apply();
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      attempt: { sendId: id, number: 1 },
      senderId: sender.id,
      statuses: ['sent', 'read', 'delivered'],
      before: { status: 'sent', sentAt: before.sentAt, deliveredAt: null, readAt: null },
      after: { status: 'read', sentAt: before.sentAt },
      locale: 'pt-BR',
      requestId: before.requestId,
    });
    const after = (await sendOf(id)).send;
    expect(after).toMatchObject({ status: 'read', sealedCode: null });
    expect(after.readAt!.getTime() - after.deliveredAt!.getTime()).toBe(20_000);
    expect(await left()).toBe(0);
    expect(await costs()).toEqual([
      {
        day: new Date().toISOString().slice(0, 10),
        country: 'BR',
        category: 'authentication',
        type: 'regular',
        billable: true,
        pricingModel: 'PMP',
        accountId: null,
        messages: 1,
        freeSends: 0,
        credits: 1,
      },
    ]);
  });

  it('change nothing, and are gone, where they say nothing new', async () => {
    const id = await accepted();
    const version = async () => (await store.sql('select version from sends where id = $1', [id]))[0];
    const before = await version();
    await storeReceipts(store.database, [reportOf(id, 'sent', 50, { pricing: PRICE })]);
    expect(await apply()).toMatchObject([{ before: { status: 'sent' }, after: { status: 'sent' } }]);
    expect([await version(), await left(), await costs()]).toEqual([before, 0, []]);
  });

  it('count a price once, however often and by however many they are applied', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => accepted()));
    const databases = Array.from({ length: 4 }, () =>
      openDatabase(store.url, { connectionsMax: 2, byIndexOnly: true }),
    );
    for (let round = 0; round < 3; round++) {
      await storeReceipts(
        store.database,
        ids.flatMap((id) => [
          reportOf(id, 'delivered', 30, { pricing: PRICE }),
          reportOf(id, 'read', 20, { pricing: PRICE }),
        ]),
      );
      await Promise.all(databases.map((database) => applyReceipts(database, 7, true)));
      while ((await apply()).length > 0);
    }
    await Promise.all(databases.map(closeDatabase));
    expect(await left()).toBe(0);
    expect(await costs()).toMatchObject([{ messages: 10, credits: 10 }]);
  });

  it('are counted apart by country, category, type, whether it is charged, and who is', async () => {
    const prices = [
      PRICE,
      { ...PRICE, category: 'marketing' },
      { ...PRICE, type: 'free_customer_service', billable: false },
      { ...PRICE, model: 'CBP' },
    ];
    for (const pricing of prices)
      await storeReceipts(store.database, [reportOf(await accepted(), 'delivered', 0, { pricing })]);
    const free = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const nowhere = await accepted(free);
    await store.sql('update sends set country = null where id = $1', [nowhere]);
    await storeReceipts(store.database, [reportOf(nowhere, 'delivered', 0, { pricing: PRICE })]);
    await apply();
    const found = await costs();
    expect(found.map(({ messages }) => messages)).toEqual([1, 1, 1, 1, 1]);
    expect(found.at(-1)).toMatchObject({ country: 'ZZ', freeSends: 1, credits: 0 });

    await store.sql('truncate message_costs');
    const own = await buildSender(store.database);
    await store.sql('update senders set account_id = $2 where id = $1', [own.id, caller.accountId]);
    for (const by of [sender, own])
      await storeReceipts(store.database, [
        reportOf(await accepted(caller, by), 'delivered', 0, { pricing: PRICE }),
      ]);
    await apply();
    expect((await costs()).map(({ accountId }) => accountId)).toEqual([null, caller.accountId]);
  });

  it('are counted on the day of their arrival, also where their receipts come later', async () => {
    const report = reportOf(await accepted(), 'delivered', 86_400, { pricing: PRICE });
    await storeReceipts(store.database, [report]);
    await apply();
    const day = report.occurredAt.toISOString().slice(0, 10);
    expect(await listMessageCosts(store.database, 3)).toMatchObject([{ day, messages: 1 }]);
  });

  it('are left to the rule where the send is not on its way, or the attempt was not accepted', async () => {
    const [lost, failed, unknown, own] = await Promise.all([accepted(), accepted(), accepted(), accepted()]);
    await store.sql(`update sends set lost_at = now(), due_at = now() where id = $1`, [lost]);
    await store.sql(
      `update sends set status = 'failed', failed_at = now(), failure_reason = 'rejected_by_provider', sealed_code = null where id = $1`,
      [failed],
    );
    await store.sql(`update attempts set outcome = 'unknown' where send_id = $1`, [unknown]);
    const reports = [
      ...[lost, failed, unknown].map((id) => reportOf(id, 'delivered')),
      reportOf(own, 'delivered', 0, { attempt: null }),
      reportOf(own, 'delivered', 0, { identityHash: 'hash' }),
      reportOf(own, 'failed', 0, {
        failure: { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' },
      }),
    ];
    await storeReceipts(store.database, reports);
    const { applied, others } = await applyReceipts(store.database, 100, true);
    expect(applied).toEqual([]);
    const stored = await readReceipts(store.database, others);
    expect(stored.map(({ receipt }) => receipt)).toEqual(reports);
    // Once the rule has seen them.
    for (const { id } of stored.slice(3, 5))
      await releaseReceipt(store.database, id, { sendId: own, number: 1 });
    expect(await apply()).toMatchObject([{ attempt: { sendId: own }, statuses: ['delivered', 'delivered'] }]);
  });

  it('change the send as the rule would, in the order of the states', async () => {
    const anySend = fc.record({
      status: fc.constantFrom('sent', 'delivered', 'read'),
      delivered: fc.option(fc.integer({ min: 1, max: 50 })),
      reports: fc.array(
        fc.record({
          status: fc.constantFrom('sent', 'delivered', 'read'),
          secondsAgo: fc.integer({ min: -10, max: 70 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    });
    const ORDER = ['sent', 'delivered', 'read'];
    await fc.assert(
      fc.asyncProperty(fc.array(anySend, { minLength: 1, maxLength: 25 }), async (made) => {
        await store.sql('truncate receipts');
        const ids = await Promise.all(made.map(() => accepted()));
        const models = [];
        for (const [n, { status, delivered, reports }] of made.entries()) {
          const id = ids[n]!;
          if (status !== 'sent')
            await store.sql(
              `update sends set status = $2, sealed_code = null, delivered_at = case when $2 = 'delivered' or $3::integer is not null
                 then sent_at + make_interval(secs => coalesce($3::integer, 5) / 2.0) end,
                 read_at = case when $2 = 'read' then sent_at + interval '50 seconds' end where id = $1`,
              [id, status, delivered],
            );
          const given = reports.map((one) => reportOf(id, one.status, one.secondsAgo));
          await storeReceipts(store.database, given);
          const { send, now } = await sendOf(id);
          // The first report of each state counts.
          const firsts = ORDER.flatMap((state) =>
            given
              .filter((one) => one.status === state)
              .toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
              .slice(0, 1),
          );
          models.push({ id, now, firsts, send });
        }
        await apply();
        for (const { id, now, firsts, send } of models) {
          const model = firsts.reduce<Send>(
            (before, report) => ({
              ...before,
              ...applyReceipt(before, now, report, ATTEMPT, POLICY, 0).change,
            }),
            send,
          );
          const real = (await sendOf(id)).send;
          // Times in the future become now, which is a little later than when the model looked.
          for (const field of ['sentAt', 'deliveredAt', 'readAt'] as const)
            expect(Math.abs(Number(real[field]) - Number(model[field]))).toBeLessThan(
              Number(model[field]) >= now.getTime() ? 60_000 : 1,
            );
          expect({ ...real, sentAt: 0, deliveredAt: 0, readAt: 0 }).toEqual({
            ...model,
            sentAt: 0,
            deliveredAt: 0,
            readAt: 0,
          });
        }
      }),
      { numRuns: 12 },
    );
  });
});

const POLICY = { attemptsMax: 5, backoffMs: 1_000 };
const ATTEMPT: ReportedAttempt = {
  number: 1,
  senderId: null,
  phoneNumberId: null,
  recipientKey: recipientKeysOf('+5511987654321')[0]!,
  startedAt: new Date(0),
  outcome: 'accepted',
  otherIsAccepted: false,
};
