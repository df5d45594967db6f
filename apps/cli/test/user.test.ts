import { buildAccount, useTestDatabase } from '@onecode/testing';
import { expectFault, ID, jsonOf, onecode, TIME, UNKNOWN_ID } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
let account: string;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
  account = await buildAccount(store.database);
});

const create = (email: string, ...rest: string[]): string[] => [
  'user',
  'create',
  '--email',
  email,
  '--name',
  'Ana Souza',
  ...rest,
];
const passwordOf = async (email: string) =>
  (
    await store.sql<{ password: string }>(
      'select c.password from user_credentials c join users u on u.id = c.user_id where u.email = $1',
      [email],
    )
  )[0]?.password;
const logOf = (subject: string) =>
  store.sql('select actor_kind, action, details from audit_entries where subject = $1 order by id', [
    subject,
  ]);

describe('user create', () => {
  it('makes an operator with a password that is printed once and kept as a hash', async () => {
    const made = (await jsonOf(create('Ana@Example.com', '--staff', 'operator'), env)) as Record<
      string,
      string
    >;
    expect(made).toEqual({
      id: ID,
      email: 'ana@example.com',
      name: 'Ana Souza',
      staff: 'operator',
      account_id: null,
      role: null,
      password: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(await passwordOf('ana@example.com')).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/);
    expect(await logOf(String(made['id']))).toEqual([
      {
        actor_kind: 'command_line',
        action: 'user.create',
        details: {
          after: {
            name: 'Ana Souza',
            email: 'ana@example.com',
            language: 'pt-BR',
            staff: 'operator',
            role: null,
          },
        },
      },
    ]);
  });

  it('makes a member of an account, with the password from standard input, which it does not print', async () => {
    const args = create('bia@example.com', '--account', account, '--role', 'developer', '--password', '-');
    const made = (await jsonOf(args, env, 'seven purple kettles\n')) as { id: string };
    expect(made).toMatchObject({ account_id: account, role: 'developer', staff: 'none', password: null });
    expect(await store.sql('select role from members where user_id = $1', [made.id])).toEqual([
      { role: 'developer' },
    ]);
  });

  it('makes nobody when the address is taken, the account is none, or the password is weak', async () => {
    await jsonOf(create('carla@example.com'), env);
    expectFault(
      await onecode(create('carla@example.com'), env),
      1,
      'somebody has this e-mail address already',
    );
    const elsewhere = create('dora@example.com', '--account', UNKNOWN_ID, '--role', 'admin');
    expectFault(await onecode(elsewhere, env), 1, 'there is no account with this id');
    const weak = create('dora@example.com', '--password', '-');
    expectFault(await onecode(weak, env, 'short\n'), 2, 'the password must have 12 characters or more');
    expectFault(await onecode(weak, env, 'password1234\n'), 2, 'the password is a common one');
    expect(await passwordOf('dora@example.com')).toBeUndefined();
  });

  it.each([
    ['a password that was typed', ['--password', 'seven purple kettles'], 'read from standard input'],
    ['an account without a role', ['--account', UNKNOWN_ID], '--account and --role go together'],
    ['a role without an account', ['--role', 'admin'], '--account and --role go together'],
    ['no e-mail address', ['--email', 'ana'], '--email must be an e-mail address'],
    ['a role that is none', ['--staff', 'admin'], '--staff must be operator or on-call or none'],
  ])('refuses %s', async (_, wrong, line) => {
    expectFault(await onecode(create('x@example.com', ...wrong), env), 2, line);
  });
});

describe('for somebody who cannot get in', () => {
  /** Somebody with a session, a second factor and no tries left. */
  async function lockedOut(email: string): Promise<string> {
    const { id } = (await jsonOf(create(email), env)) as { id: string };
    await store.sql(
      `insert into user_sessions (id, user_id, token, expires_at, updated_at)
       values (gen_random_uuid(), $1::uuid, $1::uuid::text, now() + interval '1 day', now())`,
      [id],
    );
    await store.sql(
      `insert into user_two_factors (id, user_id, secret, backup_codes)
       values (gen_random_uuid(), $1, 'sealed', 'sealed')`,
      [id],
    );
    await store.sql('update users set two_factor_enabled = true where id = $1', [id]);
    await store.sql('insert into counted_tries (key_hash, tries) values (sha256($1::bytea), 10)', [
      Buffer.from(email),
    ]);
    return id;
  }
  const sessionsOf = (id: string) => store.sql('select from user_sessions where user_id = $1', [id]);

  it('user password sets a new one, ends the sessions, and lets them try at once', async () => {
    const email = 'eva@example.com';
    const id = await lockedOut(email);
    const before = await passwordOf(email);
    expect(await jsonOf(['user', 'password', email], env)).toEqual({
      email,
      password: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(await passwordOf(email)).not.toBe(before);
    expect(await sessionsOf(id)).toEqual([]);
    const tries = 'select from counted_tries where key_hash = sha256($1::bytea)';
    expect(await store.sql(tries, [Buffer.from(email)])).toEqual([]);
    expect((await logOf(id)).at(-1)).toMatchObject({ action: 'user.password', details: {} });
  });

  it('user remove-two-factor takes the second factor away, and ends the sessions', async () => {
    const email = 'fabi@example.com';
    const id = await lockedOut(email);
    expect(await jsonOf(['user', 'remove-two-factor', email], env)).toEqual({ email, two_factor: 'off' });
    expect(await store.sql('select from user_two_factors where user_id = $1', [id])).toEqual([]);
    expect(await sessionsOf(id)).toEqual([]);
    expect((await logOf(id)).at(-1)).toMatchObject({ action: 'user.two_factor_removed' });
  });
});

describe('user staff and list', () => {
  it('change and show who is of the staff', async () => {
    const { id } = (await jsonOf(create('gabi@example.com', '--language', 'en'), env)) as { id: string };
    const row = {
      id,
      email: 'gabi@example.com',
      name: 'Ana Souza',
      language: 'en',
      staff: 'on-call',
      two_factor: 'off',
      created_at: TIME,
    };
    expect(await jsonOf(['user', 'staff', 'gabi@example.com', 'on-call'], env)).toEqual(row);
    expect(await jsonOf(['user', 'list'], env)).toContainEqual(row);
    expect(await jsonOf(['user', 'staff', 'gabi@example.com', 'none'], env)).toMatchObject({ staff: 'none' });
    expect(await logOf(id)).toHaveLength(3);
  });

  it.each(['password', 'remove-two-factor'])('user %s says that nobody has the address', async (name) => {
    expectFault(
      await onecode(['user', name, 'nobody@example.com'], env),
      1,
      'nobody has this e-mail address',
    );
  });
});
