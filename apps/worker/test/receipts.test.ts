import { listMessageCosts, storeReceipts } from '@onecode/store';
import { until } from '@onecode/testing';
import { messageIdOf } from '@onecode/whatsapp';
import { useWorker } from './testWorker.js';
import type { SendRecord } from './workerEnvironment.js';

type Status = 'sent' | 'delivered' | 'read' | 'failed';

const t = useWorker();

describe('receipts', () => {
  /** A send that the provider accepted, without a receipt of its own. */
  const sentSend = async (): Promise<{ id: string; messageId: string }> => {
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, 'sent');
    return { id, messageId: await t.messageId(id) };
  };

  const stored = (messageId: string) =>
    t.sql('select tries from receipts where message_id = $1', [messageIdOf(messageId)]);
  const untilApplied = (messageId: string): Promise<true> =>
    until('an end of all receipts', async () => (await stored(messageId)).length === 0);

  const untilTried = (messageId: string): Promise<true> =>
    until('a first try', async () => Number((await stored(messageId))[0]?.['tries']) > 0);

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

  it('that come in the wrong order only move the status forward, and every time is filled', async () => {
    const { id, messageId } = await sentSend();
    await post(messageId, 'read', 'delivered', 'sent');
    const row = await t.row(id);
    expect(row.status).toBe('read');
    expect([row.sent_at, row.delivered_at, row.read_at]).not.toContain(null);
    expectOrder(row);
  });

  it('that come before the answer to our request are applied in order', async () => {
    t.simulator.rules.add({ fault: { receiptsBeforeAnswer: true, disorder: true } });
    const id = await t.send(t.caller);
    const row = await t.until(
      id,
      ({ status, claimed_until }) => status === 'delivered' && claimed_until === null,
    );
    expect(row).toMatchObject({ sealed_code: null, due_at: null });
    expect(row.sent_at).not.toBeNull();
    expectOrder(row);
    const [message] = t.simulator.messages();
    expect(await t.attempts(id)).toMatchObject([
      { outcome: 'accepted', message_id: messageIdOf(message!.id) },
    ]);
  });

  it('without our opaque data that come before our own write are applied', async () => {
    const { id, messageId } = await sentSend();
    // The state before the answer was written.
    await t.sql('update attempts set message_id = null where send_id = $1', [id]);
    await t.simulator.postReceipt({ messageId, status: 'delivered', opaque: null });
    await untilTried(messageId);
    expect(await t.row(id)).toMatchObject({ status: 'sent' });
    await t.sql('update attempts set message_id = $2 where send_id = $1', [id, messageIdOf(messageId)]);
    await t.until(id, 'delivered');
    await untilApplied(messageId);
  });

  it('that come while another attempt may be under way are applied once the lease of that one has ended', async () => {
    const { id, messageId } = await sentSend();
    await t.sql(
      `update sends set attempt_number = 2, claimed_at = now(), claimed_until = now() + interval '1 minute' where id = $1`,
      [id],
    );
    await t.simulator.postReceipt({ messageId, status: 'failed', code: 131026 });
    await untilTried(messageId);
    expect(await t.row(id)).toMatchObject({ status: 'sent' });
    await t.sql('update sends set claimed_until = now() where id = $1', [id]);
    await t.sql('update receipts set due_at = now()');
    expect(await t.until(id, 'failed')).toMatchObject({ failure_reason: 'rejected_by_provider' });
    expect(await t.units(t.caller.accountId)).toMatchObject({ returned: ['free_quota'] });
  });

  it('for unknown messages are put aside in the end, and delay no others', async () => {
    const unknown = `wamid.${Buffer.from('nobody knows me').toString('base64')}`;
    await t.simulator.postReceipt({ messageId: unknown, status: 'delivered', sender: '1' });
    const { id, messageId } = await sentSend();
    await post(messageId, 'delivered');
    expect(await t.row(id)).toMatchObject({ status: 'delivered' });
    const dropped = () => t.count('onecode_receipts_applied_total', { result: 'unmatched' });
    const before = await dropped();
    let tries = 0;
    await until('its end', async () => {
      // Each try would wait longer than the one before: here it does not wait.
      await t.sql('update receipts set due_at = now() where message_id = $1', [messageIdOf(unknown)]);
      const [row] = await stored(unknown);
      tries = (row?.['tries'] as number | undefined) ?? tries;
      return row === undefined;
    });
    expect(tries).toBe(10);
    expect(await dropped()).toBe(before + 1);
  });
});

describe('what a message costs', () => {
  it('is counted from the provider’s receipts, once for all of them', async () => {
    await t.sql('truncate receipts, message_costs');
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
});

describe('a receipt that the database refuses to apply', () => {
  const t = useWorker({ sweepPauseMs: null, sweepMayFail: true });

  it('delays no other, is reported, is set aside in the end unless it took too long, and is applied once the database accepts it', async () => {
    const caller = await t.newCaller('live', { credits: 3 });
    t.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const ids = [await t.send(caller), await t.send(caller), await t.send(caller)];
    for (const id of ids) await t.until(id, 'sent');
    const refuse = (how: string) =>
      t.sql(
        `create or replace function refuse() returns trigger language plpgsql as $$ begin
           if new.id = '${ids[0]}' then raise exception 'refused' ${how}; end if; return new;
         end $$`,
      );
    await refuse('');
    await t.sql('create trigger refuse before update on sends for each row execute function refuse()');
    const receipt = { attempt: null, status: 'delivered', occurredAt: new Date(), failure: null } as const;
    const sent = await t.sql<{ message_id: string }>('select message_id from attempts');
    await storeReceipts(
      t.database,
      sent.map(({ message_id: messageId }) => ({ messageId, ...receipt })),
    );
    const statuses = async () => Promise.all(ids.map(async (id) => (await t.row(id)).status));

    await expect(t.sweep()).rejects.toThrow();
    expect(await statuses()).toEqual(['sent', 'delivered', 'delivered']);

    const aside = () => t.sql(`select tries from receipts where due_at = 'infinity'`);
    await t.sql(`update receipts set due_at = now() - interval '1 second', tries = 8`);
    await expect(t.sweep()).rejects.toThrow();
    expect(await aside()).toEqual([]);
    await refuse(`using errcode = '57014'`);
    await t.sql(`update receipts set due_at = now() - interval '1 second'`);
    await expect(t.sweep()).rejects.toThrow();
    expect(await aside()).toEqual([]);
    await refuse('');
    await t.sql(`update receipts set due_at = now() - interval '1 second'`);
    await t.sweep();
    expect(await aside()).toMatchObject([{ tries: 10 }]);

    await t.sql('drop trigger refuse on sends');
    await t.sql('update receipts set due_at = now()');
    await t.sweep();
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered']);
  });
});
