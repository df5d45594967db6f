import type { Send } from '@onecode/domain';
import { listSenderDetails, newId, resumeSender } from '@onecode/store';
import { buildSender, TEST_ACTOR } from '@onecode/testing';
import { recordSenderFailure } from '../src/senderFaults.js';
import { useWorker } from './testWorker.js';

describe('the sender pool', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });

  it('answers every send, also while a fault makes it forget a sender', async () => {
    const { database } = t.environment.db;
    const faulty = await buildSender(database);
    await buildSender(database);
    const { context } = t.worker;
    for (let round = 0; round < 20; round++) {
      const sender = (await listSenderDetails(database)).find(({ id }) => id === faulty.id)!;
      const fault = { kind: 'sender', errorCode: 131048, reason: 'limited' } as const;
      const asked = Array.from({ length: 20 }, async (_, n) => {
        // Staggered, so that some ask at every moment of the fault.
        for (let turn = 0; turn < n; turn++) await Promise.resolve();
        return context.senders.open(faulty.id);
      });
      await expect(
        Promise.all([
          ...asked,
          recordSenderFailure(
            context,
            { senderId: sender.id, attemptId: newId(), source: 'answer' },
            { country: 'BR' } as Send,
            fault,
          ),
        ]),
      ).resolves.toBeDefined();
      await resumeSender(database, TEST_ACTOR, faulty.id);
    }
  });
});
