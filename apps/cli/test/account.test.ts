import { buildAccount, useTestDatabase } from '@onecode/testing';
import { expectFault, ID, jsonOf, onecode, UNKNOWN_ID } from './onecode.js';

/** As a date; a test that begins before midnight (UTC) may end after it. */
const TODAY = expect.stringMatching(/^20\d{2}-\d{2}-\d{2}$/) as string;

const store = useTestDatabase();
let env: Record<string, string>;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
});

const create = (name: string): string[] => ['account', 'create', '--name', name];
const ledgerOf = (accountId: string) =>
  store.sql('select kind, bucket, units, reason from ledger_entries where account_id = $1 order by id', [
    accountId,
  ]);

describe('account weight', () => {
  it('gives an account more turns, which `account show` tells and the audit log keeps', async () => {
    const id = await buildAccount(store.database);
    expect(await jsonOf(['account', 'show', id], env)).toMatchObject({ weight: 1 });
    expect(await jsonOf(['account', 'weight', id, '--weight', '3'], env)).toMatchObject({ id, weight: 3 });
    expect(await jsonOf(['account', 'show', id], env)).toMatchObject({ weight: 3 });
    const logged = await store.sql(
      `select details from audit_entries where account_id = $1 and action = 'account.change'`,
      [id],
    );
    expect(logged).toEqual([{ details: { before: { weight: 1 }, after: { weight: 3 } } }]);
  });

  it.each(['0', '101', '1.5', 'many'])('takes no weight of %s', async (weight) => {
    expectFault(await onecode(['account', 'weight', UNKNOWN_ID, '--weight', weight], env), 2, '--weight');
  });

  it('needs an account that exists', async () => {
    expectFault(await onecode(['account', 'weight', UNKNOWN_ID, '--weight', '2'], env), 1, 'no account');
  });
});

describe('account create', () => {
  it('takes what is left out from the settings, and the language pt-BR', async () => {
    await store.sql('update settings set free_sends = 13, account_rate_per_minute = 77');
    const account = await jsonOf(create('Loja Azul'), env);
    expect(account).toEqual({
      id: ID,
      name: 'Loja Azul',
      language: 'pt-BR',
      free_quota: 13,
      credits: 0,
      rate_per_minute: 77,
    });
    expect(await jsonOf(['account', 'show', (account as { id: string }).id], env)).toMatchObject(
      account as object,
    );
  });

  it('keeps everything that is given, with the units in the ledger', async () => {
    const account = (await jsonOf(
      [
        ...create('  Çafé 24h ☕ '),
        ...'--language en --free-quota 0 --credits 250 --rate-per-minute 1000000'.split(' '),
      ],
      env,
    )) as { id: string };
    expect(account).toEqual({
      id: ID,
      name: 'Çafé 24h ☕',
      language: 'en',
      free_quota: 0,
      credits: 250,
      rate_per_minute: 1_000_000,
    });
    expect(await ledgerOf(account.id)).toEqual([
      { kind: 'granted', bucket: 'credit', units: 250, reason: 'account created' },
    ]);
  });

  it('counts a name in characters as people do, 200 at the most', async () => {
    const name = '😀'.repeat(200);
    expect(await jsonOf(create(name), env)).toMatchObject({ name });
  });

  it('prints an aligned text without --json', async () => {
    const { stdout } = await onecode([...create('Readable'), '--free-quota', '5'], env);
    expect(stdout.replace(/[0-9a-f-]{36}/, 'ID')).toBe(
      [
        'id               ID',
        'name             Readable',
        'language         pt-BR',
        'free quota       5',
        'credits          0',
        'rate per minute  77',
        '',
      ].join('\n'),
    );
  });
});

describe('account credit', () => {
  it('adds credits, with the reason in the ledger', async () => {
    const id = await buildAccount(store.database, {
      name: 'Buyer',
      freeQuota: 2,
      credits: 1,
      ratePerMinute: 9,
    });
    expect(
      await jsonOf(['account', 'credit', id, '--amount', '41', '--reason', ' invoice 42 '], env),
    ).toEqual({ id, name: 'Buyer', language: 'pt-BR', free_quota: 2, credits: 42, rate_per_minute: 9 });
    expect((await ledgerOf(id)).at(-1)).toEqual({
      kind: 'granted',
      bucket: 'credit',
      units: 41,
      reason: 'invoice 42',
    });
  });

  it('loses none of six that run at once', async () => {
    const id = await buildAccount(store.database);
    const ended = await Promise.all(
      Array.from({ length: 6 }, () =>
        onecode(['account', 'credit', id, '--amount', '7', '--reason', 'at once', '--json'], env),
      ),
    );
    const balances = ended.map(({ stdout }) => (JSON.parse(stdout) as { credits: number }).credits);
    expect(balances.toSorted((a, b) => a - b)).toEqual([7, 14, 21, 28, 35, 42]);
    expect(await ledgerOf(id)).toHaveLength(1 + 6);
  });

  it('refuses to grow past what the database can hold, and changes nothing', async () => {
    const id = await buildAccount(store.database, { credits: 2_147_483_647 });
    expectFault(
      await onecode(['account', 'credit', id, '--amount', '1', '--reason', 'too much'], env),
      1,
      'the account cannot hold that many credits',
    );
    expect(await jsonOf(['account', 'show', id], env)).toMatchObject({ credits: 2_147_483_647 });
  });
});

describe('trials', () => {
  it('account trials shows what they sent today, of what they share', async () => {
    expect(await jsonOf(['account', 'trials'], env)).toEqual({ day: TODAY, sends: 0, sends_per_day: 500 });
    await store.sql(
      `insert into trial_sends (day, sends) values ((now() at time zone 'UTC')::date, 37), ('2026-01-01', 500)`,
    );
    await jsonOf(['settings', 'set', 'trial_sends_per_day', '40'], env);
    expect(await jsonOf(['account', 'trials'], env)).toEqual({ day: TODAY, sends: 37, sends_per_day: 40 });
  });

  it('account show tells where one may send, until account credit ends it', async () => {
    const id = await buildAccount(store.database);
    const shown = () => jsonOf(['account', 'show', id], env);
    expect(await shown()).toMatchObject({ trial_countries: null });
    await store.sql(`update accounts set trial_countries = '{BR,PT}' where id = $1`, [id]);
    expect(await shown()).toMatchObject({ trial_countries: ['BR', 'PT'] });
    await jsonOf(['account', 'credit', id, '--amount', '1', '--reason', 'paid'], env);
    expect(await shown()).toMatchObject({ trial_countries: null, credits: 1 });
  });
});

it.each([
  ['account show', ['account', 'show', UNKNOWN_ID]],
  ['account credit', ['account', 'credit', UNKNOWN_ID, '--amount', '1', '--reason', 'r']],
])('%s says that there is no such account', async (_, args) => {
  expectFault(await onecode(args, env), 1, 'there is no account with this id');
});
