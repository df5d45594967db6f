import { buildCaller, ConsoleEnvironment, describeInBrowser, STACK_START_MS_MAX } from '@onecode/testing';
import { RedisServers, startCluster } from './redisServers.js';

const PREFIX = 'onecode';

describeInBrowser('the console on a cluster', () => {
  const servers = new RedisServers();
  let environment: ConsoleEnvironment;
  beforeAll(async () => {
    const { url } = await startCluster(servers, `{${PREFIX}}:deliver`);
    environment = await ConsoleEnvironment.open({ env: { REDIS_URL: url, QUEUE_PREFIX: PREFIX } });
  }, 2 * STACK_START_MS_MAX);
  afterAll(async () => {
    await environment.close();
    await servers.close();
  });

  it(
    'shows the jobs of its queues, and a Redis that answers',
    async () => {
      const { stack } = environment;
      const caller = await buildCaller(stack.db.database, 'test');
      const { id } = await stack.create(caller.key, { to: '+5511987650001' });
      await stack.untilStatus(caller.key, id, 'read');

      const page = await environment.windowOf(await environment.createUser({ staff: 'on_call' }));
      const queues = await page.request.get(
        '/board/api/queues?activeQueue=simulate&status=completed&page=1&jobsPerPage=10',
      );
      expect(queues.status()).toBe(200);
      expect(await queues.text()).toContain(id);
      await page.goto('/staff/health');
      await page.getByText('All checks pass.').first().waitFor();
    },
    STACK_START_MS_MAX,
  );
});
