import { claim } from '@onecode/domain';
import { changeSend, listSenderDetails, newId, type SenderDetails } from '@onecode/store';
import { buildSend, buildSender } from '@onecode/store/testing';
import type { OwnAnswer } from '../../../test/harness/providerTap.js';
import { until } from '../../../test/harness/until.js';
import { useWorker } from './fixture.js';
import { House } from './house.js';
import { startWorker } from './worker.js';

const LEASE_MS = 60_000;

describe('the lease of an attempt', () => {
  const t = useWorker();

  /** A send that a worker claimed and then died with. */
  const claimedByTheDead = async (): Promise<string> => {
    const id = await buildSend(t.house.db.database, t.caller, { code: '042913' });
    const [sender] = await listSenderDetails(t.house.db.database);
    const { policy } = t.worker.context;
    const claimed = await changeSend(t.house.db.database, { id }, (send, now) =>
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

  it('keeps everybody else off while it lasts', async () => {
    const id = await claimedByTheDead();
    const before = await t.house.row(id);
    await t.house.enqueue('live', id, 0);
    await until(
      'a job that was not due',
      async () => (await t.worker.count('onecode_deliveries_total', { end: 'not_due' })) > 0,
    );
    await t.worker.sweep();
    expect(await t.house.row(id)).toEqual(before);
    expect(t.house.tap.requests).toEqual([]);
  });

  it('is followed by a take-over: the same code again, and one charge', async () => {
    const id = await claimedByTheDead();
    await t.house.makeDue(id);
    const row = await t.house.until(id, ({ status, attempt_id }) => status === 'delivered' && !attempt_id);
    expect(row).toMatchObject({ attempts: 2, receipt_until: expect.any(Date) });
    expect(await t.house.attempts(id)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'accepted' }]);
    expect(t.house.simulator.messages()).toMatchObject([{ code: '042913' }]);
    expect(await t.house.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('of the last attempt is followed by the wait for a receipt, and only then by the refund', async () => {
    const id = await claimedByTheDead();
    await t.house.db.sql('update sends set attempts = 5 where id = $1', [id]);
    await t.house.makeDue(id);
    const ended = await t.house.until(id, 'failed');
    expect(ended).toMatchObject({ failure_reason: 'attempts_exhausted', receipt_until: expect.any(Date) });
    const [attempt] = await t.house.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'unknown' });
    const { backoffMs } = t.worker.context.policy;
    expect(ended.failed_at!.getTime() - attempt!.finished_at!.getTime()).toBeGreaterThanOrEqual(
      backoffMs * 2 ** 5 - 1,
    );
    expect(t.house.tap.requests).toEqual([]);
    expect(await t.house.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });
});

describe('a worker that wakes up after its lease', () => {
  it.each<[string, OwnAnswer | null]>([
    ['an acceptance', null],
    ['a final refusal', { status: 400, body: '{"error":{"code":131026}}' }],
  ])('changes nothing, though it brings %s', async (_, lateAnswer) => {
    let answerNow = (): void => {};
    const held = new Promise<void>((resolve) => {
      answerNow = resolve;
    });
    const house: House = await House.open(async () => {
      if (house.tap.requests.length > 1) return null;
      await held;
      return lateAnswer;
    });
    const slow = await startWorker(house, {
      env: { DELIVERY_CONCURRENCY: '1', PROVIDER_TIMEOUT_MS: '60000' },
    });
    await buildSender(house.db.database);
    const caller = await house.caller();
    const id = await house.send(caller);
    await until('the slow call', async () => (await house.calls(id)).length === 1);
    await house.makeDue(id);

    const other = await startWorker(house);
    const after = await house.until(
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
    expect(await house.row(id)).toMatchObject(same);
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await Promise.all([slow.stop(), other.stop()]);
    await house.close();
  });
});
