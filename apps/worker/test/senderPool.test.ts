import type { Send } from '@onecode/domain';
import { listSenderDetails, resumeSender } from '@onecode/store';
import { buildSend, buildSender, TEST_ACTOR } from '@onecode/store/testing';
import { deliver } from '../src/deliver.js';
import { useWorker } from './fixture.js';

describe('the senders that a worker remembers', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });

  it('are given to every send that asks, also while a fault makes the worker forget them', async () => {
    const { database } = t.house.db;
    const faulty = await buildSender(database);
    await buildSender(database);
    const pool = t.worker.context.senders;
    for (let round = 0; round < 20; round++) {
      const sender = (await listSenderDetails(database)).find(({ id }) => id === faulty.id)!;
      const fault = { kind: 'sender', errorCode: 131048, reason: 'limited' } as const;
      const asked = Array.from({ length: 20 }, async (_, n) => {
        // One after the other, so that some ask at any moment of the fault.
        for (let turn = 0; turn < n; turn++) await Promise.resolve();
        const open = await pool.look();
        return open(faulty.id);
      });
      await expect(
        Promise.all([...asked, pool.faulted(sender, { country: 'BR' } as Send, fault)]),
      ).resolves.toBeDefined();
      await resumeSender(database, TEST_ACTOR, faulty.id);
    }
  });

  it('are read before a claim: when they cannot be, nothing has begun', async () => {
    const { db } = t.house;
    await buildSender(db.database);
    const id = await buildSend(db.database, t.caller);
    const before = await t.house.row(id);
    await db.sql('alter table senders rename column token_box to box');
    try {
      await expect(deliver(t.worker.context, id)).rejects.toMatchObject({ code: 'SQLSTATE_42703' });
    } finally {
      await db.sql('alter table senders rename column box to token_box');
    }
    expect(await t.house.row(id)).toEqual(before);
    expect(await t.house.attempts(id)).toEqual([]);
    await expect(deliver(t.worker.context, id)).resolves.toEqual({ kind: 'accepted' });
  });
});
