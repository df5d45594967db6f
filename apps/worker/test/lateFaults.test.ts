import { pauseSender, resumeSender, type Sender } from '@onecode/store';
import { buildSender, TEST_ACTOR, until } from '@onecode/testing';
import { recordSenderFailure } from '../src/senderFaults.js';
import { useWorker } from './testWorker.js';

describe('an accepted message that a receipt reports as lost', () => {
  const t = useWorker({ senders: 0 });
  let first: Sender;
  let second: Sender;
  beforeEach(async () => {
    first = await buildSender(t.environment.db.database);
    second = await buildSender(t.environment.db.database);
  });

  const failsLate = (code: number, sender = first) =>
    t.environment.simulator.rules.add({ fault: { lateFailure: code }, sender: sender.phoneNumberId });
  const only = async (sender: Sender): Promise<void> => {
    const other = sender === first ? second : first;
    await pauseSender(t.environment.db.database, TEST_ACTOR, other.id);
  };
  const stops = () =>
    t.environment.db.sql<{ id: string; pause_source: string; pause_reason: string }>(
      `select id, pause_source, pause_reason from senders where paused_until > now() order by id`,
    );

  it.each([
    ['131042', 131042, 'business', 'config'],
    ['131031', 131031, 'business', 'config'],
    ['131048', 131048, null, 'sender'],
    ['190', 190, 'token', 'config'],
  ] as const)(
    '%s: goes out by another sender, and the faulty one stops, by its receipt',
    async (_, code, scope, kind) => {
      failsLate(code);
      await only(first);
      const before = await t.worker.count('onecode_configuration_faults_total', { scope: scope ?? '' });
      const caller = await t.environment.caller();
      const id = await t.environment.send(caller);
      const lost = await t.environment.until(id, ({ lost_at }) => lost_at !== null);
      expect(lost).toMatchObject({ status: 'sent', from_number: first.number, failed_at: null });
      await resumeSender(t.environment.db.database, TEST_ACTOR, second.id);

      const row = await t.environment.until(id, 'delivered');
      expect(row).toMatchObject({
        from_number: second.number,
        attempts: 1,
        lost_at: null,
        sealed_code: null,
      });
      expect(row.sent_at!.getTime()).toBeGreaterThanOrEqual(lost.lost_at!.getTime());
      expect(await t.environment.attempts(id)).toMatchObject([
        { outcome: kind, error_code: code, sender_id: first.id },
        { outcome: 'accepted', sender_id: second.id },
      ]);
      const calls = await t.environment.calls(id);
      expect(calls).toHaveLength(2);
      expect(await stops()).toMatchObject([{ id: first.id, pause_source: 'receipt' }]);
      if (scope !== null)
        expect(await t.worker.count('onecode_configuration_faults_total', { scope })).toBe(before + 1);
      expect(await t.environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    },
  );

  it('to a fault of the business account stops all of its senders, and no other', async () => {
    await t.environment.db.sql('update senders set business_account_id = $1', ['11']);
    const third = await buildSender(t.environment.db.database);
    await t.environment.db.sql('update senders set business_account_id = $2 where id = $1', [third.id, '22']);
    failsLate(131042);
    failsLate(131042, second);
    const ids: string[] = [];
    const caller = await t.environment.caller('live', { credits: 20 });
    for (let nth = 0; nth < 20; nth++) ids.push(await t.environment.send(caller));
    for (const id of ids)
      expect(await t.environment.until(id, 'delivered')).toMatchObject({ from_number: third.number });
    expect((await stops()).map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  it('to a limit goes out again without using up an attempt', async () => {
    failsLate(130429);
    await only(first);
    const id = await t.environment.send(await t.environment.caller());
    await t.environment.until(id, ({ lost_at }) => lost_at !== null);
    await resumeSender(t.environment.db.database, TEST_ACTOR, second.id);
    expect(await t.environment.until(id, 'delivered')).toMatchObject({
      from_number: second.number,
      attempts: 1,
    });
    expect(await stops()).toEqual([]);
  });

  it('to a fault of the recipient fails, and stops no sender', async () => {
    failsLate(131026);
    await only(first);
    const caller = await t.environment.caller();
    const id = await t.environment.send(caller);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
    });
    expect(await stops()).toEqual([]);
    expect(await t.environment.units(caller.accountId)).toMatchObject({ returned: ['free_quota'] });
  });

  it('waits for a sender while none can serve, and fails when its code expires, with its unit', async () => {
    failsLate(131042);
    await only(first);
    const caller = await t.environment.caller();
    const id = await t.environment.send(caller);
    const row = await t.environment.until(
      id,
      ({ lost_at, awaiting_sender }) => lost_at !== null && awaiting_sender,
    );
    expect(row).toMatchObject({ status: 'sent', due_at: row.expires_at });
    await t.environment.age(id, 600);
    await t.environment.db.sql('update sends set lost_at = created_at where id = $1', [id]);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      lost_at: null,
      sealed_code: null,
    });
    expect(await t.environment.units(caller.accountId)).toMatchObject({ returned: ['free_quota'] });
  });

  it('does not stop a sender again for a message that was begun before it was stopped and resumed', async () => {
    failsLate(131042);
    await only(first);
    const caller = await t.environment.caller('live', { credits: 2 });
    const one = await t.environment.send(caller);
    await t.environment.until(one, ({ lost_at }) => lost_at !== null);
    const [attempt] = await t.environment.attempts(one);
    await resumeSender(t.environment.db.database, TEST_ACTOR, first.id);
    await recordSenderFailure(
      t.worker.context,
      { senderId: first.id, attemptId: attempt!.id, source: 'receipt' },
      {} as never,
      { kind: 'sender', errorCode: 131048, reason: 'limited' },
    );
    expect(await stops()).toEqual([]);
  });

  it('a sender that a receipt stopped sends single messages until a receipt proves it healthy', async () => {
    failsLate(131048);
    await only(first);
    const caller = await t.environment.caller('live', { credits: 5 });
    const id = await t.environment.send(caller);
    await t.environment.until(id, ({ awaiting_sender }) => awaiting_sender);
    t.environment.simulator.rules.clear();
    await t.environment.db.sql('update senders set paused_until = now() where id = $1', [first.id]);
    await t.environment.until(id, 'delivered');
    await until('a recovered sender', async () => {
      const [row] = await t.environment.db.sql<{ consecutive_failures: number; pause_source: string | null }>(
        'select consecutive_failures, pause_source from senders where id = $1',
        [first.id],
      );
      return row!.consecutive_failures === 0 && row!.pause_source === null;
    });
  });
});
