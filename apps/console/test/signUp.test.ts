import { until } from '../../../test/harness/until.js';
import { useConsole } from './console.js';
import { callConsole, cookieOf, PASSWORD, person, type Answer } from './people.js';

const server = useConsole();

const ANA = { name: 'Ana Souza', password: PASSWORD, language: 'pt-BR' };
const signUp = (body: object, address = '192.0.2.1', headers: object = {}): Promise<Answer> =>
  callConsole(server, 'POST', '/auth/sign-up/email', {
    body,
    headers: { 'x-forwarded-for': address, ...headers },
  });
const ascending = (a: number, b: number): number => a - b;
const accountsOf = (userId: string) =>
  server.db.sql('select account_id from members where user_id = $1', [userId]);

describe('sign-up', () => {
  it('begins a session, with the name and language given and nothing that was not asked for', async () => {
    const answer = await signUp({ ...ANA, name: '  Ana Souza ', email: 'Ana@Example.com' });
    expect(answer).toMatchObject({ status: 204, body: undefined });
    const { body } = await callConsole(server, 'GET', '/session', { headers: { cookie: cookieOf(answer) } });
    expect(body.user).toEqual({
      id: expect.any(String),
      name: 'Ana Souza',
      email: 'ana@example.com',
      language: 'pt-BR',
      staff: null,
      hasTwoFactor: false,
    });
  });

  it.each([
    ['a name of spaces', { name: '  ' }, { name: 'pattern' }],
    ['no e-mail address', { email: 'ana' }, { email: 'format' }],
    ['another language', { language: 'fr' }, { language: 'enum' }],
    ['a role of the staff', { staff: 'operator' }, { body: 'additionalProperties' }],
    ['a short password', { password: 'Xk4#fmq9Zt2' }, { password: 'too_short' }],
    ['a long password', { password: 'Xk4#fmq9Zt2'.repeat(12) }, { password: 'too_long' }],
    ['a common password', { password: 'password1234' }, { password: 'guessable' }],
    ['the e-mail as password', { password: 'ana.lima@example.com' }, { password: 'guessable' }],
    ['the name as password', { password: 'AnaSouzaLima' }, { password: 'guessable' }],
  ])('refuses %s at its field', async (_, wrong, errors) => {
    const given = { ...ANA, name: 'Ana Souza Lima', email: 'ana.lima@example.com', ...wrong };
    expect(await signUp(given, '192.0.2.2')).toMatchObject({
      status: 422,
      body: { code: 'invalid_input', errors },
    });
  });

  it('makes one person of two sign-ups with the same e-mail address at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map((n) => signUp({ ...ANA, email: 'twin@example.com' }, `192.0.2.1${n}`)),
    );
    expect(answers.map(({ status }) => status).toSorted(ascending)).toEqual([204, 422, 422]);
    for (const { status, body } of answers)
      if (status === 422) expect(body).toMatchObject({ errors: { email: 'taken' } });
  });

  it('is refused from another site, and to an address that signs up too often', async () => {
    const elsewhere = await signUp({ ...ANA, email: 'x@example.com' }, '192.0.2.3', {
      origin: 'https://elsewhere.example',
    });
    expect(elsewhere).toMatchObject({ status: 403, body: { code: 'wrong_origin' } });

    const taken = { ...ANA, email: 'ana@example.com' };
    for (let n = 0; n < 20; n += 1) expect((await signUp(taken, '192.0.2.4')).status).toBe(422);
    expect(await signUp(taken, '192.0.2.4')).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await signUp(taken, '192.0.2.5')).status).toBe(422);
  });

  it('says to anyone how many sends are free now', async () => {
    await server.db.sql('update settings set free_sends = 17');
    expect(await callConsole(server, 'GET', '/sign-up-offer')).toMatchObject({ body: { freeSends: 17 } });
  });
});

/** How many statements wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await server.db.sql<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

describe('the first account', () => {
  it('is made with its admin, the free sends then on offer, and a line in the audit log', async () => {
    const ana = await person(server);
    await server.db.sql('update settings set free_sends = 23');
    const { status, body } = await ana.post('/accounts', { name: ' Loja Azul ', language: 'en' });
    expect(status).toBe(200);
    const { accounts } = (await ana.get('/session')).body;
    expect(accounts).toEqual([{ id: body.id, name: 'Loja Azul', role: 'admin' }]);
    expect(
      await server.db.sql(
        `select a.language, a.free_quota, l.units, e.actor_name, e.action
         from accounts a join ledger_entries l on l.account_id = a.id join audit_entries e on e.account_id = a.id
         where a.id = $1`,
        [body.id],
      ),
    ).toEqual([
      { language: 'en', free_quota: 23, units: 23, actor_name: ana.email, action: 'account.create' },
    ]);
  });

  it('is one, however often and at once it is asked for', async () => {
    const ana = await person(server);
    const asked: Promise<Answer>[] = [];
    // All of them have looked for an account, or wait to look, before the first one can make one.
    await server.db.database.$transaction(async (connection) => {
      await connection.$executeRaw`lock table members in share mode`;
      for (let n = 0; n < 4; n += 1) asked.push(ana.post('/accounts', { name: 'Loja', language: 'pt-BR' }));
      await until('the requests', async () => (await waiting()) === asked.length);
    });
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(await accountsOf(ana.id)).toHaveLength(1);
    const { body } = await ana.post('/accounts', { name: 'Another', language: 'pt-BR' });
    expect(body.id).toBe(answers[0]?.body.id);
    expect(await server.db.sql("select from accounts where name in ('Loja', 'Another')")).toHaveLength(1);
  });
});
