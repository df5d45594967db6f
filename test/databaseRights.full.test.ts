import {
  buildCaller,
  ProcessStack,
  STACK_START_MS_MAX,
  startProcess,
  until,
  type TestDatabase,
} from '@onecode/testing';
import { makeDocumentedDatabase } from './documentedDatabase.js';

/** The API reads the findings every 15 seconds. */
const FOUND_MS_MAX = 60_000;

let stack: ProcessStack;
let db: TestDatabase;
describe('the roles of docs/deploy.md', () => {
  beforeAll(async () => {
    db = await makeDocumentedDatabase();
    stack = await ProcessStack.start({ db });
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it('without a right are reported in doctor, in a command and in one line at start', async () => {
    const role = new URL(db.url).username;
    await db.sql(`revoke all on senders from ${role}`);
    await expect(stack.onecode('sender list')).rejects.toThrow(
      'lacks a privilege: run onecode doctor to see which',
    );
    const lack = /he role \w+ lacks rights on senders \([a-z, ]+\): [^\n]+/;
    const doctor = startProcess('apps/cli/dist/main.js', { DATABASE_URL: db.url }, ['doctor', '--json']);
    expect((await doctor.exited).code).toBe(1);
    expect(JSON.parse(doctor.stdout())).toContainEqual({
      check: 'database_rights',
      ok: false,
      detail: expect.stringMatching(lack),
    });
    const late = startProcess('apps/worker/dist/main.js', {
      ...stack.variables,
      DATABASE_URL: db.url,
      SECRET_KEY: stack.secrets.secretKey,
      WHATSAPP_API_URL: 'http://127.0.0.1:1',
      LOG_LEVEL: 'error',
    });
    expect((await late.exited).code).toBe(1);
    expect(late.output()).toMatch(new RegExp(`^worker: could not start: t${lack.source}\n$`));
    await db.sql(`grant select, insert, update, delete on senders to ${role}`);
  });

  it('with a refused password are reported in readiness, in the health finding and in one log line of each process', async () => {
    const { username, password } = new URL(db.url);
    const { key } = await buildCaller(db.database, 'live', { freeQuota: 100 });
    const [api] = stack.metrics;
    const ready = async (): Promise<string> => (await fetch(`${api}/readyz`)).text();
    const isFound = async (): Promise<boolean> =>
      (await (await fetch(`${api}/metrics`)).text())
        .split('\n')
        .some((line) => /"postgresql_unavailable".* 1$/.test(line));
    const reason = 'password authentication failed for user ';
    const lines = (): number => stack.output().split(`"reason":"${reason}`).length - 1;
    const ask = () =>
      Promise.all(
        Array.from({ length: 20 }, async () =>
          stack.request('POST', '/v1/send', { key, body: { to: '+5511987654321' } }),
        ),
      );
    await db.sql(`alter role ${username} password 'another'`);
    // Open connections continue to work; only a new connection reports the fault.
    await db.sql('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [username]);
    await until('an API that is not ready', async () => {
      await ask();
      return (await ready()).includes(`not ready: database\ndatabase: ${reason}`);
    });
    await until('the finding', isFound, FOUND_MS_MAX);
    await until('a line of the API', () => lines() >= 1);
    await db.sql(`alter role ${username} password '${password}'`);
    await until('an API that is ready', async () => (await ready()) === 'ok\n');
    await until('the end of the finding', async () => !(await isFound()), FOUND_MS_MAX);
  });
});

describe('the roles of docs/deploy.md, with other defaults and a schema of their own', () => {
  beforeAll(async () => {
    db = await makeDocumentedDatabase();
    const { username } = new URL(db.url);
    for (const change of [
      `default_transaction_isolation = 'serializable'`,
      'standard_conforming_strings = off',
    ])
      await db.sql(`alter role ${username} set ${change}`);
    // PostgreSQL's own search path leads to it first.
    await db.sql(`create schema ${username} authorization ${username}; create table ${username}.sends ()`);
    stack = await ProcessStack.start({ db });
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it('are sufficient for migrations, API, worker and command line, with any schema and defaults of the role', async () => {
    await stack.addSender();
    const caller = await buildCaller(db.database, 'live', { freeQuota: 5 });
    const { id } = await stack.create(caller.key, { to: '+5511987654321' });
    await stack.untilStatus(caller.key, id, 'delivered');
    const { code } = await stack.simulator.message('+5511987654321');
    expect(await stack.verify(caller.key, id, code)).toMatchObject({ valid: true });
    await stack.onecode('hold set live --reason test');
    await stack.onecode('hold release live');
    expect(stack.output()).not.toMatch(/"level":"(?:error|fatal)"/);
  });
});
