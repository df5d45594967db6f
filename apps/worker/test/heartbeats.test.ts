import { listHeartbeats } from '@onecode/store';
import { useTestDatabase } from '../../../test/harness/testDatabase.js';
import { until } from '../../../test/harness/until.js';
import { withHeartbeats } from '../src/heartbeats.js';
import { House } from './house.js';
import { PROCESSES_MS_MAX, startWorkerProcess } from './workerProcess.js';

const store = useTestDatabase();

describe('what a worker notes of its loops', () => {
  it('is each round that ended well, and no more than one in two seconds', async () => {
    const noted = withHeartbeats(store.database);
    const failing = noted('wake', () => Promise.reject(new Error('of a test')));
    const sweep = noted('sweep', async () => {});
    await expect(failing()).rejects.toThrow('of a test');
    await sweep();
    const [first] = await store.sql('select ran_at from heartbeats');
    await sweep();

    expect((await listHeartbeats(store.database)).map(({ loop }) => loop)).toEqual(['sweep']);
    expect(await store.sql('select ran_at from heartbeats')).toEqual([first]);
  });

  it(
    'is there for each of the loops of a worker that runs, and goes on',
    async () => {
      const house = await House.open();
      const worker = await startWorkerProcess(house);
      const runs = () => listHeartbeats(house.db.database);
      await until('every loop', async () => (await runs()).length === 4);
      await house.db.sql("update heartbeats set ran_at = now() - interval '1 minute'");
      await until('another sweep', async () =>
        (await runs()).some(({ loop, secondsAgo }) => loop === 'sweep' && secondsAgo < 30),
      );
      await worker.stop();
      await house.close();
    },
    PROCESSES_MS_MAX,
  );
});
