import { newId, storeReceipts } from '@onecode/store';
import { buildSender, until } from '@onecode/testing';
import { useWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing } from './workerProcess.js';

const CRASH_POINTS = new URL('../../../test/faults/cluster/crashPoints.mjs', import.meta.url).pathname;
const FROZEN_AT = 'worker after claim';

it(
  'a worker frozen between its claim and its call sends nothing once another worker has taken over',
  async () => {
    const environment = await WorkerEnvironment.open();
    await buildSender(environment.db.database);
    const env = { PROVIDER_TIMEOUT_MS: '300' };
    const frozen = await startWorkerProcess(environment, {
      ...env,
      NODE_OPTIONS: `--import ${CRASH_POINTS}`,
      CRASH_POINTS: `${FROZEN_AT}=#1:freeze`,
    });
    await untilServing(frozen);
    const id = await environment.send(await environment.caller());
    await until('a worker that is frozen', () => frozen.stderr().includes(`${FROZEN_AT}: freeze`));

    const other = await startWorkerProcess(environment, env);
    await environment.until(id, 'delivered');
    frozen.signal('SIGCONT');
    await until('the end of its round', async () =>
      (await frozen.ask('/metrics')).text.includes('onecode_deliveries_total{end="stale"'),
    );
    expect(await environment.calls(id)).toHaveLength(1);
    expect(await environment.row(id)).toMatchObject({ status: 'delivered', attempts: 2 });

    expect(await frozen.stop()).toEqual({ code: 0, signal: null });
    expect(await other.stop()).toEqual({ code: 0, signal: null });
    await environment.close();
  },
  PROCESSES_MS_MAX,
);

describe('a send whose second worker died after a receipt had set it to sent', () => {
  const t = useWorker({ sweepPauseMs: null });

  it('fails with the failure of the first message once the dead worker’s lease has ended, and its unit is refunded', async () => {
    const { db } = t.environment;
    t.environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, 'sent');
    const [first] = await t.environment.attempts(id);
    const second = newId();
    await db.sql('insert into attempts (id, send_id, sender_id) values ($1, $2, $3)', [
      second,
      id,
      first!.sender_id,
    ]);
    await db.sql('update sends set attempt_id = $1 where id = $2', [second, id]);

    await storeReceipts(db.database, [
      {
        messageId: first!.message_id!,
        attemptId: first!.id,
        status: 'failed',
        occurredAt: new Date(),
        failure: { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' },
      },
    ]);
    await t.worker.sweep();
    expect(await t.environment.row(id)).toMatchObject({ status: 'sent' });
    expect(await db.sql('select result, due_at > now() as put_off from receipts')).toEqual([
      { result: null, put_off: true },
    ]);

    await db.sql("update attempts set started_at = started_at - interval '1 hour' where id = $1", [second]);
    await db.sql('update receipts set due_at = now()');
    await t.worker.sweep();
    expect(await t.environment.row(id)).toMatchObject({
      status: 'failed',
      failure_reason: 'rejected_by_provider',
      attempt_id: null,
    });
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });
});
