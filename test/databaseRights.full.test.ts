import {
  buildCaller,
  ProcessStack,
  STACK_START_MS_MAX,
  startProcess,
  until,
  type TestDatabase,
} from '@onecode/testing';
import { makeDocumentedDatabase } from './documentedDatabase.js';

let stack: ProcessStack;
let db: TestDatabase;
describe('the roles of docs/deploy.md', () => {
  beforeAll(async () => {
    db = await makeDocumentedDatabase();
    stack = await ProcessStack.start({ db });
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it('without a right are reported in readiness, in doctor and in one log line of each process, also at start', async () => {
    const role = new URL(db.url).username;
    const ready = async (n: number): Promise<string> => (await fetch(`${stack.metrics[n]}/readyz`)).text();
    const said = `lacks rights on senders (select, insert, update, delete): docs/deploy.md#the-database`;
    await db.sql(`revoke all on senders from ${role}`);
    for (const n of [0, 1])
      await until(
        'a process that is not ready',
        async () => (await ready(n)).includes(`not ready: database\ndatabase: the role ${role} ${said}`),
        60_000,
      );
    const lines = (text: string): number => stack.output().split(text).length - 1;
    await until('a line of each process', () => lines('"service unavailable"') === 2);
    // More runs than log lines, because a repeated fault is only counted.
    await until('a fault of a loop', () => lines('"loop run failed"') >= 1);
    await expect(stack.onecode('sender list')).rejects.toThrow(
      'lacks a privilege: run onecode doctor to see which',
    );
    await expect(stack.onecode('doctor')).rejects.toThrow('onecode doctor ended with 1');
    const late = startProcess('apps/worker/dist/main.js', {
      ...stack.variables,
      DATABASE_URL: db.url,
      SECRET_KEY: stack.secrets.secretKey,
      WHATSAPP_API_URL: 'http://127.0.0.1:1',
      LOG_LEVEL: 'error',
    });
    expect((await late.exited).code).toBe(1);
    expect(late.output()).toMatch(/^worker: the role \w+ lacks rights on senders \([a-z, ]+\): [^\n]+\n$/);
    await db.sql(`grant select, insert, update, delete on senders to ${role}`);
    await until('processes that are ready', async () => {
      const answers = await Promise.all([ready(0), ready(1)]);
      return answers.every((answer) => answer === 'ok\n');
    });
    await until('a line of each process', () => lines('"service available"') === 2);
    expect(lines('"loop run failed"')).toBeLessThan(10);
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
    const reason = 'the database refused the user or the password in DATABASE_URL';
    const lines = (): number => stack.output().split(`"reason":"${reason}"`).length - 1;
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
    await until('the finding', isFound);
    await until('a line of the API', () => lines() >= 1);
    await db.sql(`alter role ${username} password '${password}'`);
    await until('an API that is ready', async () => (await ready()) === 'ok\n');
    await until('the end of the finding', async () => !(await isFound()));
  });
});
