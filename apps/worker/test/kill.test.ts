import { buildSender, until } from '@onecode/testing';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing } from './workerProcess.js';

const PROVIDER_TIMEOUT_MS = 500;
/** A lease lasts longer than a call by the margin that `main.ts` adds. */
const LEASE_MS = PROVIDER_TIMEOUT_MS + 5_000;

it(
  'another worker completes a send after its lease when the first is killed in a call, with one charge',
  async () => {
    const environment = await WorkerEnvironment.open();
    await buildSender(environment.db.database);
    const env = { PROVIDER_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS) };
    const first = await startWorkerProcess(environment, env);
    environment.simulator.rules.add({ fault: { hang: true }, times: 1 });
    const caller = await environment.caller();
    const id = await environment.send(caller, { code: '042913' });
    // The worker reads its senders meanwhile.
    await until('a call', () => environment.tap.requests.some(({ path }) => path.endsWith('/messages')));
    first.signal('SIGKILL');
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await environment.row(id)).toMatchObject({ status: 'sending', attempts: 1 });
    expect((await environment.attempts(id))[0]).toMatchObject({ outcome: null });

    const second = await startWorkerProcess(environment, env);
    await untilServing(second);
    expect(await environment.until(id, 'delivered')).toMatchObject({
      attempts: 2,
      receipt_until: expect.any(Date),
    });
    const [killed, completed] = await environment.attempts(id);
    expect([killed!.outcome, completed!.outcome]).toEqual(['unknown', 'accepted']);
    expect(completed!.started_at.getTime() - killed!.started_at.getTime()).toBeGreaterThanOrEqual(
      LEASE_MS - 50,
    );
    const calls = await environment.calls(id);
    expect(calls).toHaveLength(2);
    for (const { body } of calls) expect(body.split('"text":"042913"')).toHaveLength(3);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    expect(await environment.db.sql('select kind from ledger_entries where send_id = $1', [id])).toEqual([
      { kind: 'reserved' },
    ]);
    expect(await second.stop()).toEqual({ code: 0, signal: null });
    await environment.close();
  },
  PROCESSES_MS_MAX,
);
