import { buildSender } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { House } from './house.js';
import { PROCESSES_MS_MAX, startWorkerProcess, untilServing } from './workerProcess.js';

const PROVIDER_TIMEOUT_MS = 500;
/** A lease is longer than a call by the margin that `main` gives it. */
const LEASE_MS = PROVIDER_TIMEOUT_MS + 5_000;

it(
  'a send whose worker is killed in the middle of a call is completed by another after the lease, with one charge',
  async () => {
    const house = await House.open();
    await buildSender(house.db.database);
    const env = { PROVIDER_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS) };
    const first = await startWorkerProcess(house, env);
    house.simulator.rules.add({ fault: { hang: true }, times: 1 });
    const caller = await house.caller();
    const id = await house.send(caller, { code: '042913' });
    await until('a call', () => house.tap.requests.length === 1);
    first.signal('SIGKILL');
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await house.row(id)).toMatchObject({ status: 'sending', attempts: 1 });
    expect((await house.attempts(id))[0]).toMatchObject({ outcome: null });

    const second = await startWorkerProcess(house, env);
    await untilServing(second);
    expect(await house.until(id, 'delivered')).toMatchObject({
      attempts: 2,
      receipt_until: expect.any(Date),
    });
    const [killed, completed] = await house.attempts(id);
    expect([killed!.outcome, completed!.outcome]).toEqual(['unknown', 'accepted']);
    expect(completed!.started_at.getTime() - killed!.started_at.getTime()).toBeGreaterThanOrEqual(
      LEASE_MS - 50,
    );
    const calls = await house.calls(id);
    expect(calls).toHaveLength(2);
    for (const { body } of calls) expect(body.split('"text":"042913"')).toHaveLength(3);
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    expect(await house.db.sql('select kind from ledger_entries where send_id = $1', [id])).toEqual([
      { kind: 'reserved' },
    ]);
    expect(await second.stop()).toEqual({ code: 0, signal: null });
    await house.close();
  },
  PROCESSES_MS_MAX,
);
