import { buildCaller, type TestCaller } from '@onecode/testing';
import { testStatus, type DeliveryStatus } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { bringTo, expire } from './deliveries.js';
import { startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'live', { freeQuota: 100 });
});
afterAll(() => api.close());

testStatus(() => apiTarget(api));

let created = 0;
async function create(): Promise<string> {
  // A recipient may have few open codes at a time.
  return (await api.create(caller, { to: `+55119${70_000_000 + (created += 1)}` }).expect(202)).body.id;
}

describe('the status of a send', () => {
  it('that was only reported as read has no time of delivery', async () => {
    const id = await create();
    await bringTo(api.db, id, 'read', ['read']);
    expect((await api.status(caller, id)).body).toMatchObject({
      status: 'read',
      channel: 'whatsapp',
      from: expect.stringMatching(/^\+\d+$/),
      sent_at: expect.any(String),
      delivered_at: null,
      read_at: expect.any(String),
    });
  });

  it.each<DeliveryStatus>(['queued', 'sent', 'delivered', 'read', 'failed'])(
    'is expired by the clock alone: the row stays pending, and delivery stays %s until a worker acts',
    async (stage) => {
      const id = await create();
      await bringTo(api.db, id, stage);
      expect((await api.status(caller, id)).body).toMatchObject({ status: stage, verification: 'pending' });
      await expire(api.db, id);
      expect((await api.status(caller, id)).body).toMatchObject({ status: stage, verification: 'expired' });
      const [row] = await api.db.sql('select verification from sends where id = $1', [id]);
      expect(row).toEqual({ verification: 'pending' });
    },
  );

  it('is read without changing anything', async () => {
    const id = await create();
    const row = () => api.db.sql('select * from sends where id = $1', [id]);
    const before = await row();
    for (let round = 0; round < 3; round++) await api.status(caller, id).expect(200);
    expect(await row()).toEqual(before);
  });
});
