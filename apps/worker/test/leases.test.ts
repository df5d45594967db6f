import { claim } from '@onecode/domain';
import { changeSend, listSenderDetails, newId, type SenderDetails } from '@onecode/store';
import { buildSend, buildSender, until, type TapAnswer } from '@onecode/testing';
import { startWorker, useWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

const LEASE_MS = 60_000;

describe('the lease of an attempt', () => {
  const t = useWorker();

  /** A send whose worker died after the claim. */
  const claimedByDeadWorker = async (): Promise<string> => {
    const id = await buildSend(t.environment.db.database, t.caller, { code: '042913' });
    const [sender] = await listSenderDetails(t.environment.db.database);
    const { policy } = t.worker.context;
    const claimed = await changeSend(t.environment.db.database, { id }, (send, now) =>
      claim(send, now, {
        attemptId: newId(),
        leaseMs: LEASE_MS,
        policy,
        slot: { sender: sender as SenderDetails, waitMs: 0 },
      }),
    );
    expect(claimed).toEqual({ kind: 'claimed', attempt: 1 });
    return id;
  };

  it('keeps other workers from the send while it lasts', async () => {
    const id = await claimedByDeadWorker();
    const before = await t.environment.row(id);
    await t.environment.enqueue('live', id, 0);
    await until(
      'a job that found its send not due',
      async () => (await t.worker.count('onecode_deliveries_total', { end: 'not_due' })) > 0,
    );
    await t.worker.sweep();
    expect(await t.environment.row(id)).toEqual(before);
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('ends with a take-over: the same code again, and one charge', async () => {
    const id = await claimedByDeadWorker();
    await t.environment.makeDue(id);
    const row = await t.environment.until(
      id,
      ({ status, attempt_id }) => status === 'delivered' && !attempt_id,
    );
    expect(row).toMatchObject({ attempts: 2, receipt_until: expect.any(Date) });
    expect(await t.environment.attempts(id)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'accepted' }]);
    expect(t.environment.simulator.messages()).toMatchObject([{ code: '042913' }]);
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('of the last attempt ends with the wait for a receipt, and only then comes the refund', async () => {
    const id = await claimedByDeadWorker();
    await t.environment.db.sql('update sends set attempts = 5 where id = $1', [id]);
    await t.environment.makeDue(id);
    const ended = await t.environment.until(id, 'failed');
    expect(ended).toMatchObject({ failure_reason: 'attempts_exhausted', receipt_until: expect.any(Date) });
    const [attempt] = await t.environment.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'unknown' });
    const { backoffMs } = t.worker.context.policy;
    expect(ended.failed_at!.getTime() - attempt!.finished_at!.getTime()).toBeGreaterThanOrEqual(
      backoffMs * 2 ** 5 - 1,
    );
    expect(t.environment.tap.requests).toEqual([]);
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });
});

describe('a worker that continues after its lease has ended', () => {
  it.each<[string, TapAnswer | null]>([
    ['an acceptance', null],
    ['a final refusal', { status: 400, body: '{"error":{"code":131026}}' }],
  ])('changes nothing, even with %s', async (_, lateAnswer) => {
    let answerNow = (): void => {};
    const held = new Promise<void>((resolve) => {
      answerNow = resolve;
    });
    const environment: WorkerEnvironment = await WorkerEnvironment.open(async () => {
      if (environment.tap.requests.length > 1) return null;
      await held;
      return lateAnswer;
    });
    const slow = await startWorker(environment, {
      env: { DELIVERY_CONCURRENCY: '1', PROVIDER_TIMEOUT_MS: '60000' },
    });
    await buildSender(environment.db.database);
    const caller = await environment.caller();
    const id = await environment.send(caller);
    await until('the slow call', async () => (await environment.calls(id)).length === 1);
    await environment.makeDue(id);

    const other = await startWorker(environment);
    const after = await environment.until(
      id,
      ({ status, attempt_id }) => status === 'delivered' && attempt_id === null,
    );
    expect(after).toMatchObject({ attempts: 2 });
    answerNow();
    await until(
      'the slow answer',
      async () => (await slow.count('onecode_deliveries_total', { end: 'stale' })) === 1,
    );
    const { version: _version, ...same } = after;
    expect(await environment.row(id)).toMatchObject(same);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await Promise.all([slow.stop(), other.stop()]);
    await environment.close();
  });
});
