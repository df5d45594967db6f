import { userInfo } from 'node:os';
import { buildAccount, useTestDatabase } from '@onecode/testing';
import { expectFault, jsonOf, onecode, TIME, UNKNOWN_ID } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
let accountId: string;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
});
beforeEach(async () => {
  accountId = await buildAccount(store.database);
});

const { username } = userInfo();

describe('a hold', () => {
  it('is set once, listed and released', async () => {
    const brazil = { kind: 'country', target: 'BR', reason: 'pumped', since: TIME, set_by: username };
    const all = { kind: 'live', target: null, reason: 'template', since: TIME, set_by: username };
    expect(await jsonOf(['hold', 'set', 'country', 'br', '--reason', 'pumped'], env)).toEqual(brazil);
    expect(await jsonOf(['hold', 'set', 'country', 'BR', '--reason', 'again'], env)).toEqual(brazil);
    expect(await jsonOf(['hold', 'set', 'live', '--reason', 'template'], env)).toEqual(all);
    expect(await jsonOf(['hold', 'list'], env)).toEqual([brazil, all]);
    expect(await jsonOf(['hold', 'release', 'country', 'BR'], env)).toEqual(brazil);
    expect(await jsonOf(['hold', 'release', 'live'], env)).toEqual(all);
    expect(await jsonOf(['hold', 'list'], env)).toEqual([]);
  });

  it('is of an account that is there, or refused', async () => {
    expect(await jsonOf(['hold', 'set', 'account', accountId, '--reason', 'pumped'], env)).toMatchObject({
      kind: 'account',
      target: accountId,
    });
    expectFault(
      await onecode(['hold', 'set', 'account', UNKNOWN_ID, '--reason', 'r'], env),
      1,
      'there is no account with this id',
    );
    expectFault(await onecode(['hold', 'release', 'country', 'US'], env), 1, 'there is no such hold');
  });
});

describe('a suspension', () => {
  it('is shown with its reason until it is ended', async () => {
    const suspended = { id: accountId, suspended_at: TIME, suspension_reason: 'unpaid' };
    expect(await jsonOf(['account', 'suspend', accountId, '--reason', 'unpaid'], env)).toMatchObject(
      suspended,
    );
    expect(await jsonOf(['account', 'show', accountId], env)).toMatchObject(suspended);
    const free = { id: accountId, suspended_at: null, suspension_reason: null };
    expect(await jsonOf(['account', 'resume', accountId], env)).toMatchObject(free);
    expect(await jsonOf(['account', 'show', accountId], env)).toMatchObject(free);
  });

  it.each([['suspend', '--reason', 'r'], ['resume']])(
    'is refused without an account: %s',
    async (verb, ...rest) => {
      expectFault(await onecode(['account', verb, UNKNOWN_ID, ...rest], env), 1, 'there is no account');
    },
  );
});

describe('the audit log', () => {
  it('tells who changed what at the command line, newest first, also of one account', async () => {
    await jsonOf(['account', 'credit', accountId, '--amount', '5', '--reason', 'invoice 42'], env);
    await jsonOf(['settings', 'set', 'free_sends', '25'], env);
    const setting = {
      id: expect.stringMatching(/^\d+$/),
      at: TIME,
      actor_kind: 'command_line',
      actor_id: null,
      actor: username,
      action: 'settings.change',
      account_id: null,
      subject: 'freeSends',
      details: { name: 'freeSends', before: 10, after: 25 },
    };
    const credit = {
      action: 'account.credit',
      account_id: accountId,
      details: { amount: 5, reason: 'invoice 42', before: { credits: 0 }, after: { credits: 5 } },
    };
    expect(await jsonOf(['audit', 'list', '--limit', '2'], env)).toMatchObject([setting, credit]);
    expect(await jsonOf(['audit', 'list', '--account', accountId, '--limit', '1'], env)).toMatchObject([
      { id: expect.stringMatching(/^\d+$/), ...credit },
    ]);
    const { stdout } = await onecode(['audit', 'list', '--limit', '2'], env);
    expect(stdout).toContain('{"name":"freeSends","after":25,"before":10}');
  });
});
