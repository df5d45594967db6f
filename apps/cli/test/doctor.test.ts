import type { DeploymentCheck } from '@onecode/domain';
import {
  buildCaller,
  closedPort,
  createTestDatabase,
  ProcessStack,
  STACK_START_MS_MAX,
  until,
} from '@onecode/testing';
import { onecode } from './onecode.js';

/** The tests' PostgreSQL runs without durability, which doctor reports. */
const NOT_DURABLE = expect.stringMatching(/^database_durability: Set .*fsync/) as unknown as string;

describe('the command line of a deployment', () => {
  let stack: ProcessStack;
  let sender: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    stack = await ProcessStack.start();
    sender = await stack.addSender();
    env = {
      ...stack.variables,
      SECRET_KEY: stack.secrets.secretKey,
      CODE_PEPPER: stack.secrets.pepper,
      BASE_URL: stack.apis[0]!,
    };
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  async function doctor(
    change: Record<string, string> = {},
  ): Promise<{ code: number | null; checks: DeploymentCheck[] }> {
    const { code, stdout, stderr } = await onecode(['doctor', '--json'], { ...env, ...change });
    expect(stderr).toBe('');
    return { code, checks: JSON.parse(stdout) as DeploymentCheck[] };
  }
  /** Ignores a slow PostgreSQL, which a busy test machine can cause. */
  const faultsOf = (checks: readonly DeploymentCheck[]): string[] =>
    checks
      .filter(({ check, ok }) => !ok && check !== 'health_postgresql_overloaded')
      .map(({ check, detail }) => `${check}: ${detail}`);

  it('doctor reports a complete deployment as healthy after the provider was read, and prints no secret', async () => {
    const { checks } = await until(
      'a deployment without a fault',
      async () => {
        const { checks: found } = await doctor();
        return faultsOf(found).length === 1 && { checks: found };
      },
      STACK_START_MS_MAX,
    );
    expect(checks.map(({ check }) => check)).toEqual([
      'database',
      'database_durability',
      'clocks',
      'database_rights',
      'schema',
      'processes',
      'secret_key',
      'senders',
      'holds',
      'number_pepper',
      `sender_${sender}`,
      'health',
      'redis',
      'webhook',
    ]);
    expect(faultsOf(checks)).toEqual([NOT_DURABLE]);
    const text = JSON.stringify(checks);
    for (const secret of [stack.secrets.secretKey, '5550783881', 'test-token'])
      expect(text).not.toContain(secret);
    const { code, stdout } = await onecode(['doctor'], env);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^check +ok +detail\ndatabase +yes +PostgreSQL/),
    ]);
  });

  it('doctor names each skipped check and the variable that enables it', async () => {
    const { code, checks } = await doctor({ SECRET_KEY: '', CODE_PEPPER: '', BASE_URL: '', REDIS_URL: '' });
    expect(code).toBe(1);
    const skipped = checks.filter(({ detail }) => /^Skipped: set [A-Z_]+/.test(detail));
    const names = ['secret_key', 'number_pepper', 'redis', 'webhook'];
    expect(skipped.map(({ check, ok }) => [check, ok])).toEqual(names.map((name) => [name, null]));
  });

  it('doctor finds an unavailable Redis, an unreachable webhook and a missing key', async () => {
    const port = await closedPort();
    const other = `7:${Buffer.alloc(32, 7).toString('base64')}`;
    const { code, checks } = await doctor({
      REDIS_URL: `redis://127.0.0.1:${port}`,
      BASE_URL: `http://127.0.0.1:${port}`,
      SECRET_KEY: other,
    });
    expect(code).toBe(1);
    expect(faultsOf(checks)).toEqual([
      NOT_DURABLE,
      expect.stringMatching(/^secret_key: .* version 1, which SECRET_KEY lacks/),
      expect.stringMatching(
        /^health_redis_unhealthy: degraded, redis: Redis is unavailable or rejects commands\. .*#redis_unhealthy$/,
      ),
      expect.stringMatching(
        /^redis: Redis cannot be used \(connect ECONNREFUSED .*\): see docs\/runbooks\.md#redis_unhealthy\.$/,
      ),
      'webhook: BASE_URL cannot be reached (ECONNREFUSED): check DNS, certificate, firewall and ingress.',
    ]);
  });

  it('doctor reports why Redis rejects commands', async () => {
    const { host, username, password } = new URL(env['REDIS_URL']!);
    const { checks } = await doctor({ REDIS_URL: `redis+cluster://${username}:${password}@${host}` });
    expect(faultsOf(checks)).toEqual([
      NOT_DURABLE,
      expect.stringMatching(
        /^health_redis_unhealthy: degraded, redis: Redis is unavailable or rejects commands\. .*#redis_unhealthy$/,
      ),
      expect.stringMatching(/^redis: Redis cannot be used \(ERR This instance has cluster support/),
    ]);
  });

  it('doctor fails during a hold, with its time and reason, also while no send waits', async () => {
    await onecode(['hold', 'set', 'live', '--reason', 'the template was rejected'], env);
    const { code, checks } = await doctor();
    await onecode(['hold', 'release', 'live'], env);
    expect(code).toBe(1);
    expect(faultsOf(checks)).toEqual([
      NOT_DURABLE,
      expect.stringMatching(
        /^holds: All live sends have been on hold since 20\S+Z, .*the template was rejected/,
      ),
    ]);
  });

  it('doctor finds a database that a lock blocks', async () => {
    const connection = await stack.db.connect();
    await connection.query('begin; lock table senders in access exclusive mode');
    const { checks } = await doctor();
    await connection.end();
    expect(faultsOf(checks)).toEqual([
      expect.stringMatching(/^database: .*: see docs\/runbooks\.md#postgresql_overloaded/),
    ]);
  });

  it('doctor finds an unavailable database and a database without tables', async () => {
    const away = await doctor({ DATABASE_URL: `postgresql://unknown@127.0.0.1:${await closedPort()}/none` });
    expect(away.code).toBe(1);
    expect(faultsOf(away.checks)).toEqual([
      expect.stringMatching(
        /^database: the database cannot be used \(connect ECONNREFUSED .*\): see docs\/runbooks\.md#postgresql_unavailable\.$/,
      ),
    ]);
    expect(away.checks.map(({ check }) => check)).toEqual(['database', 'redis', 'webhook']);

    const empty = await createTestDatabase();
    await empty.sql('drop schema public cascade');
    await empty.sql('create schema public');
    const { checks } = await doctor({ DATABASE_URL: empty.url });
    expect(faultsOf(checks)).toEqual([
      NOT_DURABLE,
      expect.stringMatching(/^schema: The schema is too old .*npm run migrate/),
    ]);
    expect(checks.map(({ check }) => check)).not.toContain('secret_key');
    await empty.drop();
  });

  describe('sender', () => {
    const json = async (...args: string[]): Promise<{ code: number | null; json: unknown }> => {
      const { code, stdout } = await onecode([...args, '--json'], env);
      return { code, json: JSON.parse(stdout) };
    };
    const checkIt = async (): Promise<{ code: number | null; checks: DeploymentCheck[] }> => {
      const { code, json: checks } = await json('sender', 'check', sender);
      return { code, checks: checks as DeploymentCheck[] };
    };
    const untilRead = () =>
      until(
        'a reading of the provider',
        async () => ((await json('sender', 'show', sender)).json as { checked_at: string | null }).checked_at,
      );

    it('show prints what the provider reported about a sender', async () => {
      const { key } = await buildCaller(stack.db.database, 'live', { credits: 9 });
      for (const to of ['+5511987650101', '+5511987650102', '+5511987650101']) {
        const send = await stack.create(key, { to });
        await stack.untilStatus(key, send.id, 'delivered');
      }
      await json('sender', 'check', sender);
      const template = { status: 'APPROVED', category: 'AUTHENTICATION', quality: 'GREEN', ttl_seconds: 600 };
      expect((await json('sender', 'show', sender)).json).toMatchObject({
        id: sender,
        state: 'active',
        business_account_id: '102290129340398',
        portfolio_id: '506914307656634',
        quality: 'GREEN',
        messaging_limit: 'TIER_UNLIMITED',
        unique_recipients_24h: 2,
        held_messages_24h: 0,
        checked_at: expect.any(String),
        templates: ['en', 'en_US', 'pt_BR'].map((language) => ({ ...template, language })),
      });
    });

    it('check makes a worker ask the provider, prints remedies, and exits with 1 when a check fails', async () => {
      await stack.db.sql('update settings set code_validity_seconds = 600');
      const well = await checkIt();
      expect(well.code).toBe(0);
      expect(well.checks.map(({ check }) => check)).toEqual([
        'owner',
        'token_valid',
        'token_scopes',
        'number_connected',
        'template_pt_br',
        'template_en',
        'template_ttl',
        'template_footer',
        'webhook_subscribed',
        'business_verified',
        'messaging_limit',
      ]);
      // No placeholder is left.
      for (const { detail } of well.checks) expect(detail).toMatch(/^[^{}]+$/);

      await stack.db.sql('update settings set code_validity_seconds = 300');
      const { code, checks } = await checkIt();
      expect(code).toBe(1);
      expect(checks.filter(({ ok }) => !ok)).toEqual([
        { check: 'template_ttl', ok: false, detail: expect.stringContaining('10 min') },
        { check: 'template_footer', ok: false, detail: expect.stringContaining('5 min') },
      ]);
    });

    it("check and doctor name a sender's account, and report an account that does not use its own senders", async () => {
      const { accountId } = await buildCaller(stack.db.database, 'live', { name: 'Loja Azul' });
      await json('sender', 'assign', sender, '--account', accountId);
      const ownerOf = async () => (await checkIt()).checks.find(({ check }) => check === 'owner');
      expect(await ownerOf()).toMatchObject({
        ok: false,
        detail: `The sender belongs to the account Loja Azul, which uses the shared senders: run onecode account senders ${accountId} own.`,
      });
      await json('account', 'senders', accountId, 'own');
      expect(await ownerOf()).toMatchObject({
        ok: true,
        detail: 'The sender belongs to the account Loja Azul.',
      });
      const { checks } = await doctor();
      expect(checks.find(({ check }) => check === `sender_${sender}`)!.detail).toMatch(
        /^Sender of the account Loja Azul: /,
      );
      await json('sender', 'assign', sender, '--shared');
      expect(checks.find(({ check }) => check === 'senders')).toMatchObject({ ok: true });
      expect((await doctor()).checks.find(({ check }) => check === 'senders')).toMatchObject({
        ok: false,
        detail: expect.stringMatching(
          /^These accounts use only their own senders and have none: Loja Azul\./,
        ),
      });
      await json('account', 'senders', accountId, 'shared');
    });

    it('token reports whether the provider accepts the new token, from a read with that token', async () => {
      const set = (token: string) => json('sender', 'token', sender, '--token', token);
      await stack.simulator.changeToken('revoked-token', { valid: false });
      expect(await set('revoked-token')).toMatchObject({
        code: 1,
        json: { accepted: false, detail: expect.stringMatching(/^Meta does not accept the access token\./) },
      });
      await stack.simulator.changeToken('poor-token', { scopes: ['whatsapp_business_messaging'] });
      expect(await set('poor-token')).toMatchObject({
        code: 0,
        json: { accepted: true, detail: expect.stringContaining('lacks whatsapp_business_management') },
      });
      expect(await set('test-token')).toEqual({
        code: 0,
        json: { id: sender, token: 'set', accepted: true, detail: 'Meta accepts the access token.' },
      });
    });

    it('token clears faults of the former token without a resume', async () => {
      const { key } = await buildCaller(stack.db.database, 'live', { credits: 9 });
      const healthOf = async () =>
        (await doctor()).checks.filter(({ check }) => check.startsWith('health')).map(({ check }) => check);
      await stack.simulator.changeToken('revoked-token', { valid: false });
      await json('sender', 'token', sender, '--token', 'revoked-token');
      const send = await stack.create(key, { to: '+5511987650103' });
      await until('the fault', async () => (await healthOf()).includes('health_sender_misconfigured'));
      expect(await json('sender', 'token', sender, '--token', 'test-token')).toMatchObject({ code: 0 });
      expect(await healthOf()).not.toContain('health_sender_misconfigured');
      await stack.untilStatus(key, send.id, 'delivered');
    });

    it('settings set warns about templates that contradict the setting', async () => {
      await untilRead();
      const set = ['settings', 'set', 'code_validity_seconds', '240', '--json'];
      const { stderr } = await onecode(set, env);
      expect(stderr).toMatch(
        /^warning: the footer of the template verification_code \(pt_BR\) of \+\d+ shows 10 minutes$/m,
      );
      expect(stderr).toMatch(/delivered for up to 600 seconds$/m);
    });
  });
});
