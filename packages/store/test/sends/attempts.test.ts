import { changeSend, newId, type Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';
import { accepted, sendActions, workerActions } from './sendActions.js';

const store = useTestDatabase();
let sender: Sender;
beforeAll(async () => {
  sender = await buildSender(store.database);
});

const { version, attemptsOf } = sendActions(store);
const { claimSend, settleSend } = workerActions(store, () => sender);

describe('attempts', () => {
  it('go to one of many workers that claim at once', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const claims = await Promise.all(Array.from({ length: 30 }, () => claimSend(id, newId())));
    expect(claims.filter((end) => end!.kind === 'claimed')).toHaveLength(1);
    expect(claims.filter((end) => end!.kind === 'not_due')).toHaveLength(29);
    expect(await attemptsOf(id)).toHaveLength(1);
  });

  it('whose lease has ended are taken over as unknown, and the worker that wakes up late changes nothing', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const [lost, next] = [newId(), newId()];
    await claimSend(id, lost);
    await store.sql(`update sends set due_at = due_at - interval '15 seconds' where id = $1`, [id]);
    expect(await claimSend(id, next)).toEqual({ kind: 'claimed', attempt: 2 });
    expect(await attemptsOf(id)).toMatchObject([
      { id: lost, outcome: 'unknown', finished: true },
      { id: next, outcome: null, finished: false },
    ]);
    const before = await version(id);
    expect(await settleSend(id, lost, accepted('wamid.late'))).toEqual({ kind: 'stale' });
    expect(await version(id)).toBe(before);
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'unknown', message_id: null }, { outcome: null }]);
  });

  it('keep a message id that a later outcome does not know', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, accepted('wamid.known'));
    await changeSend(store.database, { id }, () => ({
      result: null,
      attempts: [
        {
          id: attemptId,
          senderId: sender.id,
          outcome: 'recipient',
          errorCode: 131026,
          messageId: null,
        },
      ],
    }));
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'recipient', message_id: 'wamid.known' }]);
  });
});
