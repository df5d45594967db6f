import { createApplication } from '@onecode/store';
import { buildAccount, buildCaller, buildSend, TEST_ACTOR, useTestDatabase } from '@onecode/testing';
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
    identity_check: 'off',
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

describe('application set and trust', () => {
  it('set the identity check, and forget who had a number', async () => {
    const caller = await buildCaller(store.database, 'live', { credits: 1 });
    const id = caller.applicationId;
    expect(await jsonOf(['application', 'set', id, 'identity_check', 'enforce'], env)).toMatchObject({
      id,
      identity_check: 'enforce',
    });
    const sendId = await buildSend(store.database, caller, { recipient: '+5511987654321' });
    await store.sql(
      `insert into send_identities (send_id, application_id, canonical_recipient, identity_hash, has_changed)
       select id, application_id, canonical_recipient, 'DF2lS5v2W6x=', false from sends where id = $1`,
      [sendId],
    );
    const trust = ['application', 'trust', id, '--to', '+5511987654321'];
    expect(await jsonOf(trust, env)).toEqual({ application_id: id, forgotten: 1 });
    expect(await jsonOf(trust, env)).toEqual({ application_id: id, forgotten: 0 });
  });

  it('refuse what makes no sense', async () => {
    expectFault(
      await onecode(['application', 'set', UNKNOWN_ID, 'identity_check', 'on'], env),
      2,
      /off or observe or enforce/,
    );
    expectFault(
      await onecode(['application', 'set', UNKNOWN_ID, 'identity_check', 'off'], env),
      1,
      /no application/,
    );
    expectFault(
      await onecode(['application', 'trust', UNKNOWN_ID, '--to', '+5511987654321'], env),
      1,
      /no application/,
    );
  });
});
