import { createApplication } from '@onecode/store';
import { buildAccount, TEST_ACTOR, useTestDatabase } from '@onecode/testing';
import { expectFault, ID, jsonOf, onecode, UNKNOWN_ID } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
let accountId: string;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
  accountId = await buildAccount(store.database);
});

describe('application create', () => {
  it.each(['test', 'live'])('makes a %s application with its limits off', async (mode) => {
    const made = await jsonOf(
      ['application', 'create', '--account', accountId, '--name', 'Shop', '--mode', mode],
      env,
    );
    expect(made).toEqual({ id: ID, account_id: accountId, name: 'Shop', mode });
    expect(
      await store.sql('select per_minute, per_recipient_hour from applications where id = $1', [
        (made as { id: string }).id,
      ]),
    ).toEqual([{ per_minute: null, per_recipient_hour: null }]);
  });

  it('says that there is no such account', async () => {
    const args = ['application', 'create', '--account', UNKNOWN_ID, '--name', 'Shop', '--mode', 'test'];
    expectFault(await onecode(args, env), 1, 'there is no account with this id');
  });
});

describe('application limits', () => {
  let id: string;
  beforeEach(async () => {
    const made = await createApplication(store.database, TEST_ACTOR, {
      accountId,
      name: 'Limited',
      mode: 'live',
    });
    id = made?.id ?? '';
  });
  const limits = (...args: string[]) => jsonOf(['application', 'limits', id, ...args], env);
  const limited = (perMinute: number | null, perRecipientHour: number | null) => ({
    id,
    account_id: accountId,
    name: 'Limited',
    mode: 'live',
    per_minute: perMinute,
    per_recipient_hour: perRecipientHour,
  });

  it('turns both on with the initial values of the specification', async () => {
    expect(await limits('--per-minute', 'on', '--per-recipient-hour', 'on')).toEqual(limited(60, 5));
  });

  it('sets numbers, leaves what is not named as it is, and turns off', async () => {
    expect(await limits('--per-minute', '1')).toEqual(limited(1, null));
    expect(await limits('--per-recipient-hour', '1000000')).toEqual(limited(1, 1_000_000));
    expect(await limits('--per-minute', 'off')).toEqual(limited(null, 1_000_000));
  });

  it('prints off for a limit that is off', async () => {
    const { stdout } = await onecode(['application', 'limits', id, '--per-minute', '30'], env);
    expect(stdout).toMatch(/^per minute {10}30\nper recipient hour {2}off\n/m);
  });

  it('says that there is no such application', async () => {
    expectFault(
      await onecode(['application', 'limits', UNKNOWN_ID, '--per-minute', 'off'], env),
      1,
      'there is no application with this id',
    );
  });
});
