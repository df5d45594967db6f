import type { Fault } from '@onecode/simulator';
import { useWorker } from './testWorker.js';

type Row = [what: string, fault: Fault];

/** Some errors for every action; the tests of `packages/whatsapp` go through the whole table. */
const RETRIED: Row[] = [
  ['1', { error: 1 }],
  ['131016', { error: 131016 }],
  ['133004', { error: 133004 }],
  ['135000', { error: 135000 }],
  ['an unknown code, with HTTP 503', { error: 987654, http: 503 }],
];
const REASSIGNED: Row[] = [
  ['33', { error: 33 }],
  ['100 with subcode 33', { error: 100, subcode: 33 }],
  ['131045 with its HTTP 500', { error: 131045, http: 500 }],
  ['131048', { error: 131048 }],
];
const ALERTED: [...Row, scope: string][] = [
  ['0', { error: 0 }, 'token'],
  ['3 with its HTTP 500', { error: 3, http: 500 }, 'token'],
  ['190', { error: 190 }, 'token'],
  ['299, a missing permission', { error: 299, http: 403 }, 'token'],
  ['HTTP 401 without a code', { wrongBody: 'html', http: 401 }, 'token'],
  ['131031', { error: 131031 }, 'business'],
  ['132001', { error: 132001 }, 'template'],
  ['132015', { error: 132015 }, 'template'],
  ['131030', { error: 131030 }, 'app'],
  ['130497', { error: 130497 }, 'country'],
];
const REFUSED: Row[] = [
  ['130472', { error: 130472 }],
  ['131021', { error: 131021 }],
  ['131026', { error: 131026 }],
  ['131049', { error: 131049 }],
  ['131050', { error: 131050 }],
];
const REQUEST: Row[] = [
  ['100', { error: 100 }],
  ['131008', { error: 131008 }],
  ['131009', { error: 131009 }],
  ['131047', { error: 131047 }],
  ['an unknown code, with HTTP 400', { error: 987654, http: 400 }],
  ['HTTP 400 without a code', { wrongBody: 'html', http: 400 }],
];

describe('the provider’s error', () => {
  const t = useWorker({ senders: 2 });
  beforeEach(() => t.environment.db.sql('delete from sender_country_blocks'));

  const coolingDown = async (): Promise<number> =>
    (await t.environment.db.sql('select from senders where paused_until is not null')).length;

  it.each(RETRIED)('%s is retried, and no sender cools down', async (_, fault) => {
    t.environment.simulator.rules.add({ fault, times: 1 });
    const id = await t.environment.send(await t.environment.caller());
    expect(await t.environment.until(id, 'delivered')).toMatchObject({ attempts: 2 });
    expect(await t.environment.attempts(id)).toMatchObject([
      { outcome: 'retry', error_code: fault.error },
      { outcome: 'accepted' },
    ]);
    expect(await coolingDown()).toBe(0);
  });

  it.each(REASSIGNED)('%s is a fault of the sender: another sender takes the send', async (_, fault) => {
    t.environment.simulator.rules.add({ fault, times: 1 });
    const id = await t.environment.send(await t.environment.caller());
    expect(await t.environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await t.environment.attempts(id)).toMatchObject([
      { outcome: 'sender', error_code: fault.error },
      { outcome: 'accepted' },
    ]);
    expect(await coolingDown()).toBe(1);
  });

  it.each(ALERTED)(
    '%s raises one alert for an operator, and another sender takes the send',
    async (_, fault, scope) => {
      const alertsBefore = await t.worker.count('onecode_configuration_faults_total', { scope });
      t.environment.simulator.rules.add({ fault, times: 1 });
      const id = await t.environment.send(await t.environment.caller());
      expect(await t.environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
      expect(await t.environment.attempts(id)).toMatchObject([
        { outcome: 'config', error_code: fault.error ?? null },
        { outcome: 'accepted' },
      ]);
      expect(await coolingDown()).toBe(scope === 'country' || scope === 'template' ? 0 : 1);
      const alerts = await t.worker.count('onecode_configuration_faults_total', { scope });
      expect(alerts - alertsBefore).toBe(1);
    },
  );

  it.each(REFUSED)('%s is final for this recipient, and the refund is immediate', async (_, fault) => {
    t.environment.simulator.rules.add({ fault });
    const caller = await t.environment.caller('live', { freeQuota: 0, credits: 1 });
    const id = await t.environment.send(caller);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
      due_at: null,
    });
    expect(await t.environment.attempts(id)).toMatchObject([
      { outcome: 'recipient', error_code: fault.error },
    ]);
    expect(await t.environment.units(caller.accountId)).toEqual({
      free_quota: 0,
      credits: 1,
      returned: ['credit'],
    });
    expect(await coolingDown()).toBe(0);
  });

  it.each(REQUEST)('%s fails this send with an alert, and blocks no other send', async (_, fault) => {
    const alertsBefore = await t.worker.count('onecode_configuration_faults_total', { scope: 'request' });
    t.environment.simulator.rules.add({ fault, times: 1 });
    const caller = await t.environment.caller('live', { credits: 1 });
    const id = await t.environment.send(caller);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
    });
    expect(await t.environment.attempts(id)).toMatchObject([
      { outcome: 'config', error_code: fault.error ?? null },
    ]);
    expect(await t.environment.units(caller.accountId)).toMatchObject({ returned: ['free_quota'] });
    expect(await coolingDown()).toBe(0);
    await t.environment.until(await t.environment.send(caller, { recipient: '+5511987650003' }), 'delivered');
    const alerts = await t.worker.count('onecode_configuration_faults_total', { scope: 'request' });
    expect(alerts - alertsBefore).toBe(1);
  });
});
