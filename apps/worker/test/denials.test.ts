import { setBreaker } from '@onecode/store';
import { TEST_ACTOR, until } from '@onecode/testing';
import { watchBreakers } from '../src/breaker.js';
import { useWorker } from './testWorker.js';

describe('a person who did not request the code', () => {
  const t = useWorker();

  /** Presses the button below a send's message, as its recipient would. */
  const deny = async (sendId: string): Promise<void> => {
    const [attempt] = await t.environment.attempts(sendId);
    expect(await t.environment.simulator.reportMessage(attempt!.message_id!)).toBe(true);
  };

  it('is counted by application and country, once', async () => {
    const labels = { application_id: t.caller.applicationId, country: 'BR' };
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, 'delivered');
    await deny(id);
    await until(
      'a counted denial',
      async () => (await t.worker.count('onecode_denials_total', labels)) === 1,
    );
    await t.worker.sweep();
    expect(await t.worker.count('onecode_denials_total', labels)).toBe(1);
    expect(
      await t.environment.db.sql('select application_id, country from denials where send_id = $1', [id]),
    ).toEqual([{ application_id: t.caller.applicationId, country: 'BR' }]);
  });

  it('trips the breaker as ten unverified sends would', async () => {
    const { db } = t.environment;
    const caller = await t.environment.caller('live', { credits: 10 });
    await setBreaker(db.database, TEST_ACTOR, caller.accountId, { unverifiedPercent: 90, minSends: 20 });
    for (const recipient of ['+5511987654301', '+5511987654302']) {
      const id = await t.environment.send(caller, { recipient });
      await t.environment.until(id, 'delivered');
      await deny(id);
      await t.environment.age(id, 300);
    }
    const before = await t.worker.count('onecode_breaker_trips_total', { country: 'BR' });
    await until('a tripped breaker', async () => {
      await watchBreakers(t.worker.context);
      return (await t.worker.count('onecode_breaker_trips_total', { country: 'BR' })) === before + 1;
    });
  });
});
