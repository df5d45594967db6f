import type { ProviderChange, Receipt } from '@onecode/domain';
import { changeAccount } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { listMessageCosts } from '@onecode/store/reports';
import { editSender } from '@onecode/store/senders';
import { countOwnFailure, storeReports } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  refuseWrites,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  until,
} from '@onecode/testing';
import { messageIdOf } from '@onecode/whatsapp';
import { makeSends } from './manySends.js';
import { useWorker } from './testWorker.js';
import type { SendRecord } from './workerEnvironment.js';

type Status = 'sent' | 'delivered' | 'read' | 'failed';

const t = useWorker();

const storeReceipts = (database: Database, receipts: readonly Receipt[], accountId: string | null = null) =>
  storeReports(database, { receipts, denials: [], changes: [] }, accountId);

describe('receipts', () => {
  /** Creates a send that the provider accepts without posting a receipt. */
  const sentSend = async (): Promise<{ id: string; messageId: string }> => {
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, 'sent');
    return { id, messageId: await t.messageId(id) };
  };

  const stored = (messageId: string) =>
    t.sql<{ tries: number }>(`select tries from provider_reports where report ->> 'messageId' = $1`, [
      messageIdOf(messageId),
    ]);
  const untilApplied = (messageId: string): Promise<true> =>
    until('an end of all receipts', async () => (await stored(messageId)).length === 0);

  const post = async (messageId: string, ...statuses: Status[]): Promise<void> => {
    for (const status of statuses) {
      expect(await t.simulator.postReceipt({ messageId, status })).toBe(200);
      await untilApplied(messageId);
    }
  };

  const expectOrder = ({ created_at, sent_at, delivered_at, read_at }: SendRecord): void => {
    const times = [created_at, sent_at, delivered_at, read_at].filter((time) => time !== null);
    expect(times).toEqual(times.toSorted((a, b) => a.getTime() - b.getTime()));
  };

  it('that arrive in the wrong order only move the status forward, and set the time of each status', async () => {
    const { id, messageId } = await sentSend();
    await post(messageId, 'read', 'delivered', 'sent');
    const row = await t.row(id);
    expect(row.status).toBe('read');
    expect([row.sent_at, row.delivered_at, row.read_at]).not.toContain(null);
    expectOrder(row);
  });

  it('that arrive before the response to the request are applied in order', async () => {
    t.simulator.rules.add({ fault: { receiptsBeforeAnswer: true, disorder: true } });
    const id = await t.send(t.caller);
    const row = await t.until(id, ({ status, sent_at }) => status === 'delivered' && sent_at !== null);
    expect(row).toMatchObject({ phase: 'done', encrypted_code: null, claimed_until: null });
    expectOrder(row);
    const [message] = t.simulator.messages();
    expect(await t.attempts(id)).toMatchObject([
      { outcome: 'accepted', message_id: messageIdOf(message!.id) },
    ]);
  });

  it('without opaque data that arrive before the outcome is written are applied', async () => {
    const { id, messageId } = await sentSend();
    // The state before the outcome was written.
    await t.sql('update attempts set message_id = null where send_id = $1', [id]);
    await t.simulator.postReceipt({ messageId, status: 'delivered', opaque: null });
    await until('a first try', async () => (await stored(messageId)).some(({ tries }) => tries > 0));
    expect(await t.row(id)).toMatchObject({ status: 'sent' });
    await t.sql('update attempts set message_id = $2 where send_id = $1', [id, messageIdOf(messageId)]);
    await t.until(id, 'delivered');
    await untilApplied(messageId);
  });

  it('for unknown messages are dropped after ten tries, and do not delay other receipts', async () => {
    const unknown = `wamid.${Buffer.from('an unknown message').toString('base64')}`;
    await t.simulator.postReceipt({ messageId: unknown, status: 'delivered', sender: '1' });
    const { id, messageId } = await sentSend();
    await post(messageId, 'delivered');
    expect(await t.row(id)).toMatchObject({ status: 'delivered' });
    const { traffic } = t.context;
    const dropped: string[] = [];
    t.context.traffic = {
      ...traffic,
      count(key) {
        if (key.reason === 'unmatched') dropped.push(key.event);
        traffic.count(key);
      },
    };
    let tries = 0;
    await until('its end', async () => {
      // Skips the wait, which gets longer after each try.
      await t.sql(
        `update provider_reports set due_at = now() - interval '1 second' where report ->> 'messageId' = $1`,
        [messageIdOf(unknown)],
      );
      const [row] = await stored(unknown);
      tries = row?.tries ?? tries;
      return row === undefined;
    });
    expect(tries).toBe(10);
    await until('its count', async () => dropped.length > 0);
    expect(dropped).toEqual(['receipt_delivered']);
  });

  it('of a failure after sent fail the send, and its unit is refunded', async () => {
    t.simulator.rules.add({ fault: { lateFailure: 131026 } });
    const id = await t.send(t.caller);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      encrypted_code: null,
      due_at: null,
    });
    expect(await t.attempts(id)).toMatchObject([{ outcome: 'recipient', error_code: 131026 }]);
    expect(await t.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });

  it.each([
    { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' },
    // The failure blames the business account, so the send would be sent again, and refunded when its code expires.
    { kind: 'config', errorCode: 131042, reason: 'payment', scope: 'business' },
  ] as const)(
    'of failures from an account’s own app apply to at most five sends, or one in four a month ($errorCode)',
    async (failure) => {
      const caller = await buildCaller(t.database, 'live', { freeQuota: 100 });
      const owner = { accountId: caller.accountId, applicationIds: [] };
      const sender = await buildSender(t.database, { owner, secretKey: TEST_SECRET_KEY });
      const secrets = { keyring: TEST_SECRET_KEY, appSecret: 'secret-of-the-own-app-0123456789' };
      await editSender(t.database, TEST_ACTOR, sender.id, { secrets });
      await changeAccount(t.database, TEST_ACTOR, caller.accountId, { senders: 'own' });
      t.simulator.rules.add({ fault: { acceptThenDrop: true } });
      const ids = await Promise.all(Array.from({ length: 12 }, () => t.send(caller)));
      for (const id of ids) await t.until(id, 'sent');
      const report = (failing: readonly string[]) =>
        storeReceipts(
          t.database,
          failing.map((id) => ({
            messageId: `of ${id}`,
            attempt: { sendId: id, number: 1 },
            status: 'failed',
            occurredAt: new Date(),
            failure,
          })),
        );
      await t.sql('update attempts set message_id = $2 || send_id where send_id = any ($1)', [ids, 'of ']);
      await report(ids);
      // Meta repeats reports, and the account's app may also repeat them.
      await report(ids);
      await until(
        'an end of all receipts',
        async () => (await t.sql('select from provider_reports')).length === 0,
      );

      const counted = async (): Promise<number> => {
        const rows = await Promise.all(ids.map((id) => t.row(id)));
        return rows.filter(({ status, phase }) => status === 'failed' || phase !== 'unconfirmed').length;
      };
      expect(await counted()).toBe(5);
      expect((await t.units(caller.accountId)).returned).toHaveLength(failure.kind === 'recipient' ? 5 : 0);

      // With forty sends in the month, one in four may be reported as failed.
      await t.sql('update accounts set units_of_month = 40 where id = $1', [caller.accountId]);
      await report(ids);
      await until(
        'an end of all receipts',
        async () => (await t.sql('select from provider_reports')).length === 0,
      );
      expect(await counted()).toBe(10);
    },
  );

  it('of one message that are applied together are counted separately', async () => {
    const { id, messageId } = await sentSend();
    const { sender_id: senderId } = await t.row(id);
    await storeReceipts(
      t.database,
      (['sent', 'delivered', 'read'] as const).map((status) => ({
        messageId: messageIdOf(messageId)!,
        attempt: { sendId: id, number: 1 },
        status,
        occurredAt: new Date(),
        failure: null,
      })),
    );
    await until('three counted receipts', async () => {
      await t.context.traffic.flush(t.database);
      const counts = await t.sql(
        `select from traffic_counts where sender_id = $1 and event like 'receipt_%' and count = 1`,
        [senderId],
      );
      return counts.length === 3;
    });
  });

  it('are all applied when one post contains a thousand receipts', async () => {
    const { sender_id: senderId } = await t.row((await sentSend()).id);
    const ids = Array.from({ length: 1000 }, (_, n) => `wamid.copy${n}`);
    const caller = await t.newCaller('live', { freeQuota: 0, credits: 1000 });
    const sendIds = await makeSends(t.environment, 1000, { caller });
    await t.sql(
      `with accepted as (
         update sends set status = 'sent', phase = 'unconfirmed', channel = 'whatsapp', from_number = '+15550783881', sender_id = $1,
           sent_at = created_at, due_at = null
         where id = any ($2)
       )
       insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
       select id, 1, $1, 'accepted', message_id, now(), now() from unnest($2::uuid[], $3::text[]) as t (id, message_id)`,
      [senderId, sendIds, ids.map(messageIdOf)],
    );
    const statuses = ids.map((messageId) => ({
      id: messageId,
      status: 'delivered',
      timestamp: String(Math.floor(Date.now() / 1000)),
      recipient_id: '5511987654321',
    }));
    const value = { messaging_product: 'whatsapp', metadata: {}, statuses };
    const payload = {
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    };
    expect(await t.simulator.postWebhook(payload)).toBe(200);
    await until('a thousand deliveries', async () => {
      const [row] = await t.sql<{ count: number }>(
        "select count(*)::integer from sends where account_id = $1 and status = 'delivered'",
        [caller.accountId],
      );
      return row!.count === 1000;
    });
  });
});

describe('the cost of a message', () => {
  it('is counted once for all of its receipts', async () => {
    await t.sql('truncate provider_reports, message_costs');
    t.simulator.rules.add({ fault: { duplicates: 2, disorder: true } });
    const id = await t.send(t.caller);
    await t.until(id, 'delivered');
    const { database } = t;
    await until('a counted message', async () => (await listMessageCosts(database, 2))[0]?.messages === 1);
    await t.sweep();
    expect(await listMessageCosts(database, 2)).toMatchObject([
      { country: 'BR', category: 'authentication', billable: true, messages: 1, freeSends: 1 },
    ]);
  });

  it('is counted by the next worker when a worker dies after writing the delivery', async () => {
    await t.sql('truncate provider_reports, message_costs');
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, ({ status, claimed_until }) => status === 'sent' && claimed_until === null);
    await t.sql(
      `update sends set status = 'delivered', phase = 'done', delivered_at = sent_at, encrypted_code = null, version = version + 1 where id = $1`,
      [id],
    );
    const [attempt] = await t.attempts(id);
    const pricing = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };
    await storeReceipts(t.database, [
      {
        messageId: attempt!.message_id!,
        attempt: null,
        status: 'delivered',
        occurredAt: new Date(),
        failure: null,
        pricing,
      },
    ]);
    await until('a counted message', async () => (await listMessageCosts(t.database, 2))[0]?.messages === 1);
  });
});

describe('a failure from an account’s own app', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });
  const failure = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' } as const;

  /** Builds a sent send of a sender with its own app. */
  async function ownSend(): Promise<{ sendId: string; senderId: string }> {
    const { db } = t.environment;
    const { database } = db;
    await db.sql('delete from counted_tries');
    const caller = await buildCaller(database, 'live', { credits: 1 });
    const owner = { accountId: caller.accountId, applicationIds: [] };
    const { id: senderId } = await buildSender(database, { owner, secretKey: TEST_SECRET_KEY });
    const secrets = { keyring: TEST_SECRET_KEY, appSecret: 'secret-of-the-own-app-0123456789' };
    await editSender(database, TEST_ACTOR, senderId, { secrets });
    const sendId = await buildSend(database, caller);
    await db.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
       values ($1::uuid, 1, $2, 'accepted', $1::uuid::text, now(), now())`,
      [sendId, senderId],
    );
    await db.sql(
      `update sends set status = 'sent', phase = 'unconfirmed', channel = 'whatsapp', from_number = '+15550783881', sender_id = $2,
         attempts = 1, attempt_number = 1, sent_at = now(), due_at = null
       where id = $1`,
      [sendId, senderId],
    );
    return { sendId, senderId };
  }

  async function report(sendId: string, ...statuses: Receipt['status'][]): Promise<void> {
    const { db } = t.environment;
    await storeReceipts(
      db.database,
      statuses.map((status) => ({
        messageId: sendId,
        attempt: { sendId, number: 1 },
        status,
        occurredAt: new Date(),
        failure: status === 'failed' ? failure : null,
      })),
    );
    await t.sweep();
    expect(await db.sql('select tries from provider_reports')).toEqual([]);
  }

  const counted = async (): Promise<number[]> => {
    const rows = await t.environment.db.sql<{ tries: number }>('select tries from counted_tries');
    return rows.map(({ tries }) => tries);
  };

  it('is counted once, even if it is reported again', async () => {
    const { sendId } = await ownSend();
    await report(sendId, 'failed');
    await report(sendId, 'failed');
    expect(await t.row(sendId)).toMatchObject({ status: 'failed' });
    expect(await counted()).toEqual([1]);
  });

  it('is not counted if the message had arrived', async () => {
    const { sendId } = await ownSend();
    await report(sendId, 'failed', 'delivered');
    await report(sendId, 'failed');
    expect(await t.row(sendId)).toMatchObject({ status: 'delivered' });
    expect(await counted()).toEqual([]);
  });

  it('is not counted if it was not written', async () => {
    const { senderId } = await ownSend();
    const { database } = t.environment.db;
    expect(await countOwnFailure(database, senderId, async () => null)).toBeNull();
    const failed = countOwnFailure(database, senderId, () => Promise.reject(new Error('write failed')));
    await expect(failed).rejects.toThrow('write failed');
    expect(await counted()).toEqual([0]);
    expect(await countOwnFailure(database, senderId, async () => 'written')).toBe('written');
    expect(await counted()).toEqual([1]);
  });
});

describe('a receipt that the database refuses to apply', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });

  it('does not delay other receipts, is logged as an error, and is applied when the database accepts it', async () => {
    const { db } = t.environment;
    const { database } = db;
    await buildSender(database);
    const caller = await buildCaller(database, 'live', { credits: 25 });
    t.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const ids: string[] = [];
    for (let nth = 0; nth < 25; nth++) ids.push(await t.send(caller));
    for (const id of ids) await t.until(id, 'sent');
    const allow = await refuseWrites(db, 'update on sends', `new.id = '${ids[0]}'`);
    await storeDelivered(database, await messageIds());

    const logged: (string | undefined)[] = [];
    t.context.log.error = (_: object, message?: string) => logged.push(message);
    await t.sweep();
    expect(await statuses()).toEqual({ sent: 1, delivered: 24 });
    expect(await db.sql('select tries from provider_reports')).toEqual([{ tries: 1 }]);
    expect(logged).toEqual(['provider report postponed']);

    // It is not dropped, unlike a report of an unknown message.
    await db.sql(`update provider_reports set due_at = now() - interval '1 second', tries = 10`);
    await t.sweep();
    expect(
      await db.sql(`select tries, due_at < now() + interval '61 seconds' as is_soon from provider_reports`),
    ).toEqual([{ tries: 11, is_soon: true }]);

    await allow();
    await db.sql(`update provider_reports set due_at = now() - interval '1 second'`);
    await t.sweep();
    expect(await statuses()).toEqual({ delivered: 25 });

    async function messageIds(): Promise<string[]> {
      const rows = await db.sql<{ message_id: string }>(
        'select message_id from attempts order by started_at',
      );
      return rows.map((row) => row.message_id);
    }
    async function statuses(): Promise<Record<string, number>> {
      const rows = await db.sql<{ status: string; count: number }>(
        'select status, count(*)::integer from sends group by status',
      );
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    }
  });
});

async function storeDelivered(database: Database, messageIds: readonly string[]): Promise<void> {
  const occurredAt = new Date();
  await storeReceipts(
    database,
    messageIds.map((messageId) => ({
      messageId,
      attempt: null,
      status: 'delivered',
      occurredAt,
      failure: null,
    })),
  );
}

describe('a receipt that a sweep applies', () => {
  const t = useWorker({ sweepPauseMs: null });
  beforeEach(() => t.sql('truncate provider_reports'));

  /** Creates a send that the provider accepts without posting a receipt. @returns its id and its first attempt */
  const sentSend = async () => {
    t.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const id = await t.send(t.caller);
    await t.until(id, 'sent');
    const [attempt] = await t.attempts(id);
    return { id, attempt: attempt! };
  };
  const report = (
    { id, attempt }: Awaited<ReturnType<typeof sentSend>>,
    result: Pick<Receipt, 'status' | 'failure'> & Partial<Receipt>,
  ): Promise<number> =>
    storeReceipts(t.database, [
      {
        messageId: attempt.message_id!,
        attempt: { sendId: id, number: attempt.number },
        occurredAt: new Date(),
        ...result,
      },
    ]);

  it('is not delayed by a backlog of an account’s own app, and the sweep ends before the backlog does', async () => {
    const sent = await sentSend();
    const changes = Array.from({ length: 8_000 }, (_, n): ProviderChange => {
      const alert = { type: String(n), severity: null, detail: null };
      return { businessAccountId: '1', report: { alert }, occurredAt: new Date() };
    });
    const { accountId } = await t.newCaller();
    await storeReports(t.database, { receipts: [], denials: [], changes }, accountId);
    await report(sent, { status: 'delivered', failure: null });
    await t.sweep();
    expect(await t.row(sent.id)).toMatchObject({ status: 'delivered' });
    const left = await t.sql(`select reporter from provider_reports where due_at <= now()`);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(changes.length);
  });

  /** Creates a send with a first call without a response, and a second call in progress. */
  const callingSend = async () => {
    const sent = await sentSend();
    await t.sql(`update attempts set outcome = 'unknown' where send_id = $1`, [sent.id]);
    await t.sql(
      `update sends set phase = 'calling', status = 'sending', attempts = 2, attempt_number = 2, sent_at = null, due_at = now(),
         claimed_at = now(), claimed_until = now() + interval '1 minute' where id = $1`,
      [sent.id],
    );
    return sent;
  };

  it('that fails the first message leaves the send time for the receipt of the second', async () => {
    const sent = await callingSend();
    const failure = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' } as const;
    await report(sent, { status: 'sent', failure: null });
    await t.sweep();
    await report(sent, { status: 'failed', failure });
    await t.sweep();
    expect(await t.row(sent.id)).toMatchObject({ status: 'sent', phase: 'giving_up' });
    expect(await t.attempts(sent.id)).toMatchObject([{ outcome: 'recipient' }, { outcome: 'unknown' }]);

    await report(sent, {
      attempt: { sendId: sent.id, number: 2 },
      messageId: 'second',
      status: 'sent',
      failure: null,
    });
    await t.sweep();
    expect(await t.row(sent.id)).toMatchObject({ status: 'sent', phase: 'unconfirmed' });
  });

  it('of the first message ends the second call, and one of the second is still applied', async () => {
    const sent = await callingSend();

    await report(sent, { status: 'sent', failure: null });
    await t.sweep();
    expect(await t.row(sent.id)).toMatchObject({ status: 'sent', phase: 'unconfirmed', claimed_until: null });
    expect(await t.attempts(sent.id)).toMatchObject([{ outcome: 'accepted' }, { outcome: 'unknown' }]);

    await report(sent, {
      attempt: { sendId: sent.id, number: 2 },
      messageId: 'second',
      status: 'delivered',
      failure: null,
    });
    await t.sweep();
    expect(await t.row(sent.id)).toMatchObject({ status: 'delivered' });
    expect(await t.attempts(sent.id)).toMatchObject([
      { outcome: 'accepted' },
      { outcome: 'accepted', message_id: 'second' },
    ]);
  });
});
