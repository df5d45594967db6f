import { listMessageCosts } from '@onecode/store';
import { until } from '@onecode/testing';
import { useWorker } from './testWorker.js';

describe('what a message costs', () => {
  const t = useWorker();

  it('is counted from the provider’s receipts, once for all of them', async () => {
    t.environment.simulator.rules.add({ fault: { duplicates: 2, disorder: true } });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, 'delivered');
    const { database } = t.environment.db;
    await until('a counted message', async () => (await listMessageCosts(database, 2))[0]?.delivered === 1);
    await t.worker.sweep();
    expect(await listMessageCosts(database, 2)).toMatchObject([
      { country: 'BR', category: 'authentication', billable: true, messages: 1, delivered: 1, freeSends: 1 },
    ]);
  });
});
