import { listHeartbeats, newId } from '@onecode/store';
import { until, useTestDatabase } from '@onecode/testing';
import { withHeartbeats } from '../src/heartbeats.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess } from './workerProcess.js';

const store = useTestDatabase();

describe('the heartbeats of a worker’s loops', () => {
  it('record successful rounds only, at most one in two seconds', async () => {
    const beating = withHeartbeats(store.database, newId());
    const failing = beating('wake', () => Promise.reject(new Error('of a test')));
    const sweep = beating('sweep', async () => {});
    await expect(failing()).rejects.toThrow('of a test');
    await sweep();
    const [first] = await store.sql('select ran_at from heartbeats');
    await sweep();

    expect((await listHeartbeats(store.database)).map(({ loop }) => loop)).toEqual(['sweep']);
    expect(await store.sql('select ran_at from heartbeats')).toEqual([first]);
  });

  it(
    'come from every loop of a running worker, again and again',
    async () => {
      const environment = await WorkerEnvironment.open();
      const worker = await startWorkerProcess(environment);
      const runs = () => listHeartbeats(environment.db.database);
      await until('every loop', async () => (await runs()).length === 4);
      await environment.db.sql("update heartbeats set ran_at = now() - interval '1 minute'");
      await until('another sweep', async () =>
        (await runs()).some(({ loop, secondsAgo }) => loop === 'sweep' && secondsAgo < 30),
      );
      await worker.stop();
      await environment.close();
    },
    PROCESSES_MS_MAX,
  );
});
