import { until } from '@onecode/testing';
import { useWorker } from './testWorker.js';
import type { SendRecord } from './workerEnvironment.js';

type Status = 'sent' | 'delivered' | 'read' | 'failed';

describe('receipts', () => {
  const t = useWorker();

  /** A send that the provider accepted, without a receipt of its own. */
  const sentSend = async (): Promise<{ id: string; messageId: string }> => {
    t.environment.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, 'sent');
    const [attempt] = await t.environment.attempts(id);
    return { id, messageId: attempt!.message_id! };
  };

  /** Waits until every stored receipt of a message is settled. @returns their results */
  const dealtWith = async (messageId: string): Promise<string[]> => {
    const rows = await until('an end of all receipts', async () => {
      const found = await t.environment.db.sql<{ result: string | null }>(
        'select result from receipts where message_id = $1 order by id',
        [messageId],
      );
      return found.every(({ result }) => result !== null) && found;
    });
    return rows.map(({ result }) => result!);
  };

  const post = async (messageId: string, ...statuses: Status[]): Promise<string[]> => {
    for (const status of statuses) {
      expect(await t.environment.simulator.postReceipt({ messageId, status })).toBe(200);
      await dealtWith(messageId);
    }
    return dealtWith(messageId);
  };

  const expectOrder = ({ created_at, sent_at, delivered_at, read_at }: SendRecord): void => {
    const times = [created_at, sent_at, delivered_at, read_at].filter((time) => time !== null);
    expect(times).toEqual(times.toSorted((a, b) => a.getTime() - b.getTime()));
  };

  it.each<Status[]>([
    ['sent', 'delivered', 'read'],
    ['sent', 'read', 'delivered'],
    ['delivered', 'sent', 'read'],
    ['delivered', 'read', 'sent'],
    ['read', 'sent', 'delivered'],
    ['read', 'delivered', 'sent'],
  ])('%s, %s, %s: the status only moves forward, and every time is filled', async (...order) => {
    const { id, messageId } = await sentSend();
    await post(messageId, ...order);
    const row = await t.environment.row(id);
    expect(row.status).toBe('read');
    expect([row.sent_at, row.delivered_at, row.read_at]).not.toContain(null);
    expectOrder(row);
  });

  it('with the status read imply no delivery', async () => {
    const { id, messageId } = await sentSend();
    await post(messageId, 'read');
    expect(await t.environment.row(id)).toMatchObject({ status: 'read', delivered_at: null });
  });

  it('that come again change nothing', async () => {
    t.environment.simulator.rules.add({ fault: { duplicates: 4 } });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ status, attempt_id }) => status === 'delivered' && attempt_id === null);
    const [attempt] = await t.environment.attempts(id);
    expect(await dealtWith(attempt!.message_id!)).toHaveLength(2);
    const before = await t.environment.row(id);
    await post(attempt!.message_id!, 'delivered', 'sent', 'delivered');
    expect(await t.environment.row(id)).toEqual(before);
  });

  it('that come before the answer to our request are applied in order', async () => {
    t.environment.simulator.rules.add({ fault: { receiptsBeforeAnswer: true, disorder: true } });
    const id = await t.environment.send(t.caller);
    const row = await t.environment.until(
      id,
      ({ status, attempt_id }) => status === 'delivered' && attempt_id === null,
    );
    expect(row).toMatchObject({ sealed_code: null, due_at: null });
    expect(row.sent_at).not.toBeNull();
    expectOrder(row);
    const [message] = t.environment.simulator.messages();
    expect(await t.environment.attempts(id)).toMatchObject([
      { outcome: 'accepted', message_id: message!.id },
    ]);
  });

  it('without our opaque data that come before our own write are applied', async () => {
    const { id, messageId } = await sentSend();
    // The state before the answer was written.
    await t.environment.db.sql('update attempts set message_id = null where send_id = $1', [id]);
    await t.environment.simulator.postReceipt({ messageId, status: 'delivered', opaque: null });
    await until(
      'a first try',
      async () =>
        (await t.environment.db.sql('select from receipts where message_id = $1 and tries > 0', [messageId]))
          .length > 0,
    );
    expect(await t.environment.row(id)).toMatchObject({ status: 'sent' });
    await t.environment.db.sql('update attempts set message_id = $2 where send_id = $1', [id, messageId]);
    await t.environment.until(id, 'delivered');
    expect(await dealtWith(messageId)).toEqual(['applied']);
  });

  it('for unknown messages are put aside in the end, and delay no others', async () => {
    const unknown = `wamid.${Buffer.from('nobody knows me').toString('base64')}`;
    await t.environment.simulator.postReceipt({ messageId: unknown, status: 'delivered', sender: '1' });
    const { id, messageId } = await sentSend();
    await post(messageId, 'delivered');
    expect(await t.environment.row(id)).toMatchObject({ status: 'delivered' });
    const tries = await until('its end', async () => {
      // Each retry would wait longer than the one before: here it does not wait.
      await t.environment.db.sql(
        'update receipts set due_at = now() where message_id = $1 and due_at is not null',
        [unknown],
      );
      const [row] = await t.environment.db.sql<{ tries: number; result: string | null }>(
        'select tries, result from receipts where message_id = $1',
        [unknown],
      );
      return row?.result === 'unmatched' && row.tries;
    });
    expect(tries).toBeGreaterThanOrEqual(10);
  });

  it('of a failure after sent fail the send, and its unit is refunded', async () => {
    t.environment.simulator.rules.add({ fault: { lateFailure: 131026 } });
    const id = await t.environment.send(t.caller);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
      due_at: null,
    });
    expect(await t.environment.attempts(id)).toMatchObject([{ outcome: 'recipient', error_code: 131026 }]);
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });

  it.each<Status>(['delivered', 'read'])('of a failure after %s are ignored', async (confirmed) => {
    const { id, messageId } = await sentSend();
    await post(messageId, confirmed);
    const before = await t.environment.row(id);
    expect(await post(messageId, 'failed')).toEqual(['applied', 'ignored']);
    expect(await t.environment.row(id)).toEqual(before);
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('after a failure do not revive a send', async () => {
    const { id, messageId } = await sentSend();
    await post(messageId, 'failed');
    const before = await t.environment.row(id);
    await post(messageId, 'delivered', 'read', 'sent');
    const { version: _version, ...same } = before;
    expect(await t.environment.row(id)).toMatchObject(same);
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });

  it('of a failed attempt do not fail a send that another attempt delivered', async () => {
    t.environment.simulator.changeSettings({ sentMs: 3_600_000, deliveredMs: 3_600_000 });
    t.environment.simulator.rules.add({ fault: { wrongBody: 'no_id' }, times: 1 });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ status, attempt_id }) => status === 'sent' && attempt_id === null);
    const [lost, accepted] = t.environment.simulator.messages();
    await post(lost!.id, 'failed');
    expect(await t.environment.row(id)).toMatchObject({ status: 'sent', failed_at: null });
    expect(await t.environment.attempts(id)).toMatchObject([
      { outcome: 'recipient' },
      { outcome: 'accepted' },
    ]);
    await post(accepted!.id, 'failed');
    expect(await t.environment.row(id)).toMatchObject({
      status: 'failed',
      failure_reason: 'rejected_by_provider',
    });
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({ returned: ['free_quota'] });
  });

  it('arrive a thousand in one post, and all are applied', async () => {
    const { id } = await sentSend();
    const copies = await t.environment.db.sql<{ message_id: string }>(
      `with copies as (
         insert into sends select (jsonb_populate_record(s, jsonb_build_object(
           'id', gen_random_uuid(), 'account_number', 1000 + n, 'application_number', 1000 + n
         ))).* from sends s, generate_series(1, 1000) n where s.id = $1 returning id, sender_id, account_number
       )
       insert into attempts (id, send_id, sender_id, outcome, message_id, finished_at)
       select gen_random_uuid(), id, sender_id, 'accepted', 'wamid.copy' || account_number, now() from copies returning message_id`,
      [id],
    );
    const statuses = copies.map(({ message_id }) => ({
      id: message_id,
      status: 'delivered',
      timestamp: String(Math.floor(Date.now() / 1000)),
      recipient_id: '5511987654321',
    }));
    const value = { messaging_product: 'whatsapp', metadata: {}, statuses };
    const payload = {
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    };
    expect(await t.environment.simulator.postWebhook(payload)).toBe(200);
    await until('a thousand deliveries', async () => {
      const [row] = await t.environment.db.sql<{ count: number }>(
        "select count(*)::integer from sends where account_id = $1 and status = 'delivered'",
        [t.caller.accountId],
      );
      return row!.count === 1000;
    });
  });
});
