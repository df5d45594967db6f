import { ProcessStack } from '@onecode/testing';

/** Longer than a request should wait for another account's lock, and shorter than the test holds the lock. */
const SLOWEST_MS_MAX = 4_000;
const OTHERS = 5;
const REQUESTS = 200;

describe('while a transaction holds the row of one account', () => {
  let stack: ProcessStack;
  let held: { id: string; key: string };
  let others: string[];
  beforeAll(async () => {
    stack = await ProcessStack.start({ workers: 0 });
    const make = async () => {
      const { id } = await stack.onecode(
        'account create --name A --free-quota 5000 --rate-per-minute 100000',
      );
      return { id: String(id), key: await stack.makeKey(String(id), 'live') };
    };
    held = await make();
    others = [];
    for (let n = 0; n < OTHERS; n++) others.push((await make()).key);
  });
  afterAll(() => stack.stop());

  it('creations of other accounts take no longer, and its own are answered when it ends', async () => {
    const client = await stack.db.connect();
    let recipients = 0;
    const create = (key: string) => {
      recipients += 1;
      return stack.request('POST', '/v1/send', { key, body: { to: `+55119${80_000_000 + recipients}` } });
    };
    await client.query('begin');
    await client.query('select from accounts where id = $1 for update', [held.id]);
    let slowestMs = 0;
    const own = [create(held.key)];
    for (let n = 0; n < REQUESTS / OTHERS; n++) {
      // Each group of the others has one creation of the held account.
      if (n % 10 === 0) own.push(create(held.key));
      const begun = performance.now();
      const answers = await Promise.all(others.map(create));
      slowestMs = Math.max(slowestMs, performance.now() - begun);
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 202));
    }
    await client.query('rollback');
    await client.end();
    expect(slowestMs).toBeLessThan(SLOWEST_MS_MAX);
    for (const { status } of await Promise.all(own)) expect([202, 500]).toContain(status);
    expect((await create(held.key)).status).toBe(202);
  });
});
