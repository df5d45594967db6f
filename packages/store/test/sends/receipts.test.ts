import {
  foldReceipts,
  type AttemptName,
  type Denial,
  type Pricing,
  type ProviderChange,
  type Receipt,
} from '@onecode/domain';
import { closeDatabase, newId, openDatabase, type Database } from '@onecode/store/client';
import { listMessageCosts } from '@onecode/store/reports';
import type { Sender } from '@onecode/store/senders';
import {
  applyDenial,
  deleteReport,
  findReportedSends,
  findSend,
  postponeReports,
  readDueReports,
  storeReports,
  writeReceipts,
} from '@onecode/store/sends';
import {
  applyTestReports,
  buildCaller,
  buildSend,
  buildSender,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();
const POLICY = { attemptsMax: 5, backoffMs: 1_000 };
const PRICE: Pricing = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };

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
const storeReceipts = (receipts: readonly Receipt[], accountId: string | null = null) =>
  storeReports(store.database, { receipts, denials: [], changes: [] }, accountId);

describe('stored reports', () => {
  beforeEach(() => store.sql('truncate provider_reports'));

  const dueMessages = async () =>
    (await readDueReports(store.database)).receipts.map(({ report }) => report.messageId);

  it('are read as they were stored', async () => {
    const receipts: Receipt[] = [
      receipt('wamid.a', { status: 'sent', attempt: { sendId: newId(), number: 3 } }),
      receipt('wamid.a', { occurredAt: new Date('2026-03-01T12:00:01.000Z'), pricing: PRICE }),
      receipt('wamid.a', { status: 'read', identityHash: 'hash' }),
      receipt('wamid.b', {
        status: 'failed',
        failure: { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' },
      }),
      receipt(`wamid.${'é"\\\n'.repeat(20)}`),
    ];
    const denial: Denial = { messageId: 'wamid.a', occurredAt: new Date(0) };
    const change: ProviderChange = {
      businessAccountId: '1',
      report: { numbers: { messagingLimit: 'TIER_2K' } },
      occurredAt: new Date(1),
    };
    const reports = { receipts, denials: [denial], changes: [change, change] };
    expect(await storeReports(store.database, reports, null)).toBe(7);
    const due = await readDueReports(store.database);
    expect(new Set(due.receipts.map(({ report }) => report))).toEqual(new Set(receipts));
    expect(due.denials).toMatchObject([{ report: denial }]);
    expect(due.changes).toMatchObject([{ report: change }]);
    expect(due.mayBeMore).toBe(false);
  });

  it('are stored once for each status of an attempt or message, until they are deleted', async () => {
    const attempt = { sendId: newId(), number: 1 };
    const repeats = [
      receipt('wamid.a', { attempt }),
      receipt('wamid.b', { attempt }),
      receipt('wamid.a', { attempt, status: 'read' }),
      receipt('wamid.a'),
      receipt('wamid.a'),
    ];
    const stored = await Promise.all(Array.from({ length: 5 }, () => storeReceipts(repeats)));
    expect(stored.reduce((sum, count) => sum + count, 0)).toBe(3);
    const due = (await readDueReports(store.database)).receipts.map(({ key }) => key);
    for (const key of due) await deleteReport(store.database, key);
    expect(await storeReceipts(repeats)).toBe(3);
  });

  it('are stored by posts that name the same senders without a business account in opposite orders', async () => {
    const senders: Sender[] = [];
    for (let count = 0; count < 3; count++) senders.push(await buildSender(store.database));
    // With many senders, PostgreSQL updates them in the order of the post.
    await store.sql(`
      insert into senders (id, phone_number_id, number, encrypted_token, template, english_template_language, removed_at)
      select gen_random_uuid(), (1000000 + n)::text, '+15550783881', '', 'verification_code', 'en', now() from generate_series(1, 2000) n`);
    await store.sql('analyze senders');
    const [first, last, busy] = senders.map(({ phoneNumberId }) => phoneNumberId);
    const holder = await store.connect();
    await holder.query('begin');
    await holder.query('select from senders where phone_number_id = $1 for no key update', [busy]);
    const post = (name: string, ids: readonly string[]) =>
      storeReports(
        store.database,
        {
          receipts: [receipt(name)],
          denials: [],
          changes: [],
          businessAccounts: new Map(ids.map((id) => [id, '7'])),
        },
        null,
      );
    const posts = [post('wamid.a', [first!, busy!, last!]), post('wamid.b', [last!, busy!, first!])];
    await until('both posts', async () => {
      const waiting = await store.sql(`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database() and query like '%provider_reports%'`);
      return waiting.length === 2;
    });
    await holder.query('commit');
    await holder.end();
    expect(await Promise.all(posts)).toEqual([1, 1]);
    const known = await store.sql('select from senders where business_account_id = $1', ['7']);
    expect(known).toHaveLength(3);
    await store.sql('delete from senders');
  });

  it('are due later after each postponement, up to a minute', async () => {
    await storeReceipts([receipt('wamid.a')]);
    const waits: number[] = [];
    for (let tries = 0; tries < 8; tries++) {
      const [one] = (await readDueReports(store.database)).receipts;
      await postponeReports(store.database, [one!.key]);
      expect(await dueMessages()).toEqual([]);
      const [row] = await store.sql<{ wait: number }>(
        'select round(extract(epoch from due_at - clock_timestamp()))::integer as wait from provider_reports',
      );
      waits.push(row!.wait);
      await store.sql(`update provider_reports set due_at = now() - interval '1 second'`);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('take turns among accounts’ own apps in part of the batch, so that one backlog does not delay other apps', async () => {
    const [flooding, other] = [newId(), newId()];
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => receipt(`${name} ${n}`));
    await storeReceipts(many('flood', 2_000), flooding);
    await store.sql(`update provider_reports set due_at = now() - interval '1 hour'`);
    await storeReceipts(many('other', 5), other);
    await storeReceipts(many('operator', 20));
    const counted = async () => {
      const { receipts, mayBeMore } = await readDueReports(store.database);
      const of = (name: string) => receipts.filter(({ report }) => report.messageId.startsWith(name)).length;
      return { flood: of('flood'), other: of('other'), operator: of('operator'), mayBeMore };
    };
    expect(await counted()).toEqual({ flood: 20, other: 5, operator: 20, mayBeMore: true });
    await storeReceipts(many('operator', 1_000));
    expect(await counted()).toEqual({ flood: 20, other: 5, operator: 400, mayBeMore: true });
  });
});

describe('findReportedSends', () => {
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
  /** Inserts an attempt of a send. */
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

  const isInProgress = (sendId: string, number: number) =>
    store.sql(
      `update sends set attempt_number = $2, claimed_at = now(), claimed_until = now(), sender_id = $3, from_number = '+15550783881',
         status = 'sending', phase = 'calling', channel = 'whatsapp' where id = $1`,
      [sendId, number, senderId],
    );

  /** Returns the data from which a receipt would be decided, or null. */
  async function reported(which: Partial<Receipt>) {
    const report = receipt(which.messageId ?? `wamid.unknown.${newId()}`, which);
    const { sends, unmatched } = await findReportedSends(store.database, [{ key: '', report }]);
    const [found] = sends;
    expect(unmatched).toHaveLength(found === undefined ? 1 : 0);
    if (found === undefined) return null;
    return {
      sendId: found.send.id,
      attempt: found.receipts[0]!.attempt,
      outcomes: found.outcomes,
    };
  }

  describe('the send of a receipt', () => {
    it('is found by the name of the attempt during the call, before the message id is known', async () => {
      const sendId = await buildSend(store.database, caller);
      await isInProgress(sendId, 2);
      expect(await reported({ attempt: { sendId, number: 2 } })).toMatchObject({
        sendId,
        outcomes: new Map(),
        attempt: {
          number: 2,
          senderId,
          phoneNumberId: expect.stringMatching(/^[0-9]+$/),
          startedAt: expect.any(Date),
          messageStatus: null,
          recipientKey: expect.stringMatching(/^1:/),
        },
      });
    });

    it('is found by the message id if the name of the attempt is missing', async () => {
      const sendId = await buildSend(store.database, caller);
      const { number } = await attempt(sendId, { messageId: `wamid.${sendId}` });
      expect(await reported({ messageId: `wamid.${sendId}` })).toMatchObject({ sendId, attempt: { number } });
    });

    it('is found by the message id if the name of the attempt is unknown', async () => {
      const sendId = await buildSend(store.database, caller);
      await attempt(sendId, { messageId: `wamid.${sendId}` });
      const messageId = `wamid.${sendId}`;
      for (const name of [
        { sendId: newId(), number: 1 },
        { sendId, number: 7 },
      ])
        expect(await reported({ attempt: name, messageId })).toMatchObject({ sendId });
    });

    it('is that of the attempt if the attempt has no message id, even if another send has the message', async () => {
      const [one, two] = [await buildSend(store.database, caller), await buildSend(store.database, caller)];
      const name = await attempt(one);
      await attempt(two, { messageId: `wamid.${two}` });
      expect(await reported({ attempt: name, messageId: `wamid.${two}` })).toMatchObject({ sendId: one });
    });

    it('is not found by the message of another send if the attempt has a message id', async () => {
      const [one, two] = [await buildSend(store.database, caller), await buildSend(store.database, caller)];
      const name = await attempt(one, { messageId: `wamid.${one}` });
      await attempt(two, { messageId: `wamid.${two}` });
      expect(await reported({ attempt: name, messageId: `wamid.${two}` })).toBeNull();
    });

    it('is not found by an unknown message if the attempt has a message id', async () => {
      const sendId = await buildSend(store.database, caller);
      const name = await attempt(sendId, { messageId: `wamid.${sendId}` });
      await isInProgress(sendId, name.number);
      expect(await reported({ attempt: name })).toBeNull();
      expect(await reported({ attempt: name, messageId: `wamid.${sendId}` })).toMatchObject({ sendId });
    });

    it('is found with the earliest attempt if two attempts have the same message id', async () => {
      const sendId = await buildSend(store.database, caller);
      const messageId = `wamid.${sendId}`;
      await attempt(sendId, { messageId, startedAt: '2026-01-02T00:00:00Z' });
      const first = await attempt(sendId, { messageId, startedAt: '2026-01-01T00:00:00Z' });
      expect(await reported({ messageId })).toMatchObject({ attempt: { number: first.number } });
    });

    it('is not found if neither the attempt nor the message id is known', async () => {
      expect(await reported({})).toBeNull();
      expect(await reported({ attempt: { sendId: newId(), number: 1 } })).toBeNull();
    });
  });

  it('returns the numbers and outcomes of exactly the attempts of the send', async () => {
    const sendId = await buildSend(store.database, caller);
    const outcomes = ['accepted', 'retry', 'unknown', 'sender', 'recipient', 'config', 'accepted'];
    for (const outcome of outcomes) await attempt(sendId, { outcome });
    await attempt(await buildSend(store.database, caller));
    const found = await reported({ attempt: { sendId, number: 1 } });
    const expected = outcomes.map((outcome, index) => [index + 1, outcome]);
    expect(found!.outcomes).toEqual(new Map(expected as [number, string][]));
  });
});

describe('applyDenial', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await buildCaller(store.database, 'live', { credits: 10 });
  });

  const apply = (messageId: string) =>
    applyDenial(store.database, { messageId, occurredAt: new Date('2026-03-01T12:00:00.000Z') });
  const times = (id: string) => store.sql('select created_at, denied_at from sends where id = $1', [id]);

  /** Creates a send with a message that has this id. @returns the send's id */
  async function sentMessage(messageId: string): Promise<string> {
    const sendId = await buildSend(store.database, caller);
    await store.sql(
      `insert into attempts (send_id, number, outcome, message_id, started_at, finished_at)
       values ($1, 1, 'accepted', $2, now(), now())`,
      [sendId, messageId],
    );
    return sendId;
  }

  it('returns false for a denial of an unknown message, and stores its time once when the message is known', async () => {
    expect(await apply('wamid.early')).toBe(false);
    const sendId = await sentMessage('wamid.early');
    expect(await apply('wamid.early')).toBe(true);
    const [first] = await times(sendId);
    // The denial has an earlier time than its message.
    expect(first!.denied_at).toEqual(first!.created_at);
    expect(await apply('wamid.early')).toBe(true);
    expect(await times(sendId)).toEqual([first]);
  });

  it('changes the send only once for concurrent callers', async () => {
    const id = await sentMessage('wamid.contested');
    await Promise.all(Array.from({ length: 8 }, () => apply('wamid.contested')));
    expect(await store.sql('select version from sends where id = $1', [id])).toEqual([{ version: 1 }]);
  });
});

describe('writeReceipts', () => {
  let caller: TestCaller;
  let sender: Sender;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 10_000 });
    sender = await buildSender(store.database);
  });
  beforeEach(() => store.sql('truncate provider_reports, message_costs'));

  /** A live send with a message accepted five seconds after its creation. @returns its id */
  async function accepted(by: TestCaller = caller, { id: senderId, number } = sender): Promise<string> {
    const id = await buildSend(store.database, by);
    await store.sql(
      `update sends set status = 'sent', phase = 'unconfirmed', channel = 'whatsapp', from_number = $2, sender_id = $3, attempts = 1, attempt_number = 1,
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
  const sendOf = async (id: string) => (await findSend(store.database, { id, accountId: caller.accountId }))!;
  const apply = (database: Database = store.database) => applyTestReports(database, {});
  const left = async () => (await store.sql('select from provider_reports')).length;
  const costs = () => listMessageCosts(store.database, 1);

  it('writes one change of the send and its price, and deletes the receipts', async () => {
    const id = await accepted();
    const pricing = PRICE;
    await storeReceipts([
      reportOf(id, 'sent', 50, { pricing }),
      reportOf(id, 'read', 20),
      reportOf(id, 'delivered', 40, { pricing }),
    ]);
    const version = async () =>
      (await store.sql<{ version: number }>('select version from sends where id = $1', [id]))[0]!.version;
    const before = await version();
    await apply();
    expect(await version()).toBe(before + 1);
    const after = await sendOf(id);
    expect(after).toMatchObject({ status: 'read', encryptedCode: null });
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

  it('deletes receipts that change nothing', async () => {
    const id = await accepted();
    const version = async () => (await store.sql('select version from sends where id = $1', [id]))[0];
    const before = await version();
    await storeReceipts([reportOf(id, 'sent', 50, { pricing: PRICE })]);
    await apply();
    expect([await version(), await left(), await costs()]).toEqual([before, 0, []]);
  });

  it('counts a price once for repeated and concurrent receipts', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => accepted()));
    const databases = Array.from({ length: 4 }, () =>
      openDatabase(store.url, { connectionsMax: 2, byIndexOnly: true }),
    );
    for (let round = 0; round < 3; round++) {
      await storeReceipts(
        ids.flatMap((id) => [
          reportOf(id, 'delivered', 30, { pricing: PRICE }),
          reportOf(id, 'read', 20, { pricing: PRICE }),
        ]),
      );
      await Promise.all(databases.map(apply));
      while ((await left()) > 0) await apply();
    }
    await Promise.all(databases.map(closeDatabase));
    expect(await left()).toBe(0);
    expect(await costs()).toMatchObject([{ messages: 10, credits: 10 }]);
  });

  it('counts prices by country, category, type, account, and whether they are charged', async () => {
    const prices = [
      PRICE,
      { ...PRICE, category: 'marketing' },
      { ...PRICE, type: 'free_customer_service', billable: false },
      { ...PRICE, model: 'CBP' },
    ];
    for (const pricing of prices)
      await storeReceipts([reportOf(await accepted(), 'delivered', 0, { pricing })]);
    const free = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const nowhere = await accepted(free);
    await store.sql(`update sends set country = 'ZZ' where id = $1`, [nowhere]);
    await storeReceipts([reportOf(nowhere, 'delivered', 0, { pricing: PRICE })]);
    await apply();
    const found = await costs();
    expect(found.map(({ messages }) => messages)).toEqual([1, 1, 1, 1, 1]);
    expect(found.at(-1)).toMatchObject({ country: 'ZZ', freeSends: 1, credits: 0 });

    await store.sql('truncate message_costs');
    const own = await buildSender(store.database);
    await store.sql('update senders set account_id = $2 where id = $1', [own.id, caller.accountId]);
    for (const by of [sender, own])
      await storeReceipts([reportOf(await accepted(caller, by), 'delivered', 0, { pricing: PRICE })]);
    await apply();
    expect((await costs()).map(({ accountId }) => accountId)).toEqual([null, caller.accountId]);
  });

  it('counts a price on the day when the message arrived, even if the receipt is late', async () => {
    const id = await accepted();
    await store.sql(
      `update sends set created_at = created_at - interval '2 days', sent_at = sent_at - interval '2 days' where id = $1`,
      [id],
    );
    const report = reportOf(id, 'delivered', 86_400, { pricing: PRICE });
    await storeReceipts([report]);
    await apply();
    const day = report.occurredAt.toISOString().slice(0, 10);
    expect(await listMessageCosts(store.database, 3)).toMatchObject([{ day, messages: 1 }]);
  });

  it('keeps receipts if the send has changed since it was read', async () => {
    const [changed, same] = [await accepted(), await accepted()];
    await storeReceipts([
      reportOf(changed, 'delivered'),
      reportOf(same, 'delivered'),
      reportOf(changed, 'sent'),
    ]);
    const { sends } = await findReportedSends(
      store.database,
      (await readDueReports(store.database)).receipts,
    );
    await store.sql('update sends set version = version + 1 where id = $1', [changed]);
    const written = await Promise.all(
      sends.map(({ send, receipts, outcomes, isPriced }) =>
        writeReceipts(
          store.database,
          send,
          foldReceipts({ send, now: send.now, outcomes, policy: POLICY }, receipts, isPriced),
          receipts.map(({ key }) => key),
        ),
      ),
    );
    expect(new Set(written.map((one) => one?.send.id ?? null))).toEqual(new Set([same, null]));
    expect(await left()).toBe(2);
    expect((await sendOf(changed)).status).toBe('sent');
    await apply();
    expect(await left()).toBe(0);
    expect((await sendOf(changed)).status).toBe('delivered');
  });

  it('fails the send and refunds its unit once for concurrent callers', async () => {
    const by = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 1 });
    const id = await accepted(by);
    const failure = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' } as const;
    await storeReceipts([reportOf(id, 'failed', 0, { failure })]);
    await Promise.all(Array.from({ length: 5 }, () => apply()));
    expect((await findSend(store.database, { id, accountId: by.accountId }))!).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
    });
    const entries = await store.sql(
      `select units from ledger_entries where send_id = $1 and kind = 'returned'`,
      [id],
    );
    expect([entries, await left()]).toEqual([[{ units: 1 }], 0]);
  });
});
