import { storeReceipts, type Database } from '@onecode/store';
import { buildCaller, buildSender } from '@onecode/testing';
import { useWorker } from './testWorker.js';

describe('a receipt that the database refuses to apply', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null, sweepMayFail: true });

  it('delays no other, is reported, and is applied once the database accepts it', async () => {
    const { db } = t.environment;
    const { database } = db;
    await buildSender(database);
    const caller = await buildCaller(database, 'live', { credits: 25 });
    t.environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const ids: string[] = [];
    for (let nth = 0; nth < 25; nth++) ids.push(await t.environment.send(caller));
    for (const id of ids) await t.environment.until(id, 'sent');
    await db.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin
         if new.id = '${ids[0]}' then raise exception 'refused'; end if; return new;
       end $$`,
    );
    await db.sql('create trigger refuse before update on sends for each row execute function refuse()');
    await storeDelivered(database, await messageIds());

    await expect(t.worker.sweep()).rejects.toThrow();
    expect(await statuses()).toEqual({ sent: 1, delivered: 24 });

    await db.sql('drop trigger refuse on sends');
    await db.sql('update receipts set due_at = now() where result is null');
    await t.worker.sweep();
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
      attemptId: null,
      status: 'delivered',
      occurredAt,
      failure: null,
    })),
  );
}
