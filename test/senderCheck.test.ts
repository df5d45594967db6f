import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildCaller, ProcessStack, STACK_START_MS_MAX, until } from '@onecode/testing';

const run = promisify(execFile);

describe('onecode sender', () => {
  let stack: ProcessStack;
  let id: string;
  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: 1, workers: 1 });
    id = await stack.addSender(1);
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  const onecode = async (...args: string[]): Promise<{ code: number; json: unknown }> => {
    const env = { DATABASE_URL: stack.db.url };
    const { code, stdout } = await run(process.execPath, ['apps/cli/dist/main.js', ...args, '--json'], {
      env,
    }).then(
      (ended) => ({ code: 0, stdout: ended.stdout }),
      (error: { code: number; stdout: string }) => error,
    );
    return { code, json: JSON.parse(stdout) as unknown };
  };

  it('show says what the provider knows of a sender', async () => {
    const { key } = await buildCaller(stack.db.database, 'live', { credits: 9 });
    for (const to of ['+5511987650101', '+5511987650102', '+5511987650101']) {
      const send = await stack.create(key, { to });
      await stack.untilStatus(key, send.id, 'delivered');
    }
    await until(
      'a read',
      async () => ((await onecode('sender', 'show', id)).json as { checked_at: unknown }).checked_at,
    );
    const template = {
      name: 'verification_code',
      status: 'APPROVED',
      category: 'AUTHENTICATION',
      quality: 'GREEN',
    };
    expect((await onecode('sender', 'show', id)).json).toMatchObject({
      id,
      state: 'active',
      business_account_id: '102290129340398',
      quality: 'GREEN',
      messaging_limit: 'TIER_UNLIMITED',
      unique_recipients_24h: 2,
      checked_at: expect.any(String),
      templates: ['en', 'en_US', 'pt_BR'].map((language) => ({
        ...template,
        language,
        reason: null,
        ttl_seconds: 600,
      })),
    });
  });

  it('check lets a worker ask the provider, says what to do, and ends with 1 when something is not ok', async () => {
    await stack.db.sql('update settings set code_validity_seconds = 600');
    const well = await onecode('sender', 'check', id);
    expect(well).toEqual({ code: 0, json: expect.any(Array) });
    const checks = well.json as { check: string; ok: boolean; detail: string }[];
    expect(checks.map(({ check }) => check)).toEqual([
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
    // Every value is filled in.
    for (const { detail } of checks) expect(detail).toMatch(/^[^{}]+$/);

    await stack.db.sql('update settings set code_validity_seconds = 300');
    const { code, json } = await onecode('sender', 'check', id);
    expect(code).toBe(1);
    expect((json as typeof checks).filter(({ ok }) => !ok)).toEqual([
      { check: 'template_ttl', ok: false, detail: expect.stringContaining('600 s') },
      { check: 'template_footer', ok: false, detail: expect.stringContaining('300 s') },
    ]);
  });

  it('settings set warns where templates disagree', async () => {
    await until(
      'a read',
      async () => ((await onecode('sender', 'show', id)).json as { checked_at: unknown }).checked_at,
    );
    const { stderr } = await run(
      process.execPath,
      ['apps/cli/dist/main.js', 'settings', 'set', 'code_validity_seconds', '240', '--json'],
      { env: { DATABASE_URL: stack.db.url } },
    );
    expect(stderr).toMatch(
      /^warning: the template verification_code \(pt_BR\) of \+\d+ says 10 minutes in its footer$/m,
    );
    expect(stderr).toMatch(/delivered for up to 600 seconds$/m);
  });
});
