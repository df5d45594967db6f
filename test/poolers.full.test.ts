import {
  buildCaller,
  buildHostileRole,
  buildRole,
  createTestDatabase,
  describeIf,
  dropRoles,
  ProcessStack,
  STACK_START_MS_MAX,
  startProcess,
  until,
} from '@onecode/testing';
import { Processes } from '../scripts/processes/processes.mjs';
import { findPgBouncer, startPgBouncer } from '../scripts/services/pgbouncer.mjs';
import { PROCESS_VARIABLES } from './processVariables.js';

const PGBOUNCER = findPgBouncer();
const SENDS = 60;
const NONE = PGBOUNCER === null ? ' (skipped: this machine cannot install its package)' : '';

describeIf(PGBOUNCER !== null)(`PgBouncer in transaction mode${NONE}`, () => {
  let processes: Processes;
  let stack: ProcessStack;
  beforeAll(async () => {
    processes = Processes.throwaway();
    const db = await createTestDatabase();
    const url = await poolerUrl(await buildHostileRole(db, '1s'), { entry: 'onecode' });
    stack = await ProcessStack.start({
      db,
      apis: 2,
      workers: 2,
      env: { DATABASE_URL: url, DATABASE_POOLER: 'transaction', DATABASE_CONNECTIONS: '10' },
    });
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await processes.stop();
    await dropRoles(stack.db);
    await stack.stop();
  });

  async function poolerUrl(url: string, more: { entry?: string } = {}): Promise<string> {
    const settings = { pool_mode: 'transaction', default_pool_size: 4, max_prepared_statements: 200 };
    return (await startPgBouncer(PGBOUNCER!, { processes, url, settings, ...more })).url;
  }

  it('delivers one message per send with any defaults of the role', async () => {
    await stack.addSender();
    const { key } = await buildCaller(stack.db.database, 'live', { credits: 1_000, ratePerMinute: 100_000 });
    const sends = await Promise.all(
      Array.from({ length: SENDS }, (_, n) =>
        stack.create(key, { to: `+5511987${String(600_000 + n)}`, code: '135790' }, { api: n % 2 }),
      ),
    );
    await until('the delivery of all', async () => {
      const rows = await stack.db.sql<{ status: string }>('select status from sends');
      return rows.length === SENDS && rows.every(({ status }) => status === 'delivered');
    });
    const messages = await Promise.all(
      sends.map((_, n) => stack.simulator.messages(`+5511987${600_000 + n}`)),
    );
    expect(messages.map(({ length }) => length)).toEqual(sends.map(() => 1));
    expect(await stack.verify(key, sends[0]!.id, '135790', 1)).toMatchObject({ valid: true });
  });

  it('makes doctor show why it rejects connections if DATABASE_POOLER is not set', async () => {
    const env = { DATABASE_URL: await poolerUrl(stack.db.url) };
    const doctor = startProcess('apps/cli/dist/main.js', env, ['doctor', '--json']);
    expect((await doctor.exited).code).toBe(1);
    expect(doctor.output()).toContain('unsupported startup parameter');
  });

  it('ends every process at start if session settings differ, with the line that doctor prints', async () => {
    const { url, role } = await buildRole(stack.db);
    await stack.db.sql(`alter role ${role} set default_transaction_isolation = 'repeatable read'`);
    await stack.db.sql(`create schema authorization ${role}`);
    const pooler = await poolerUrl(url);
    const reason =
      `the database has settings that Onecode does not support .*: search_path is '[^']+' instead of 'public' and default_transaction_isolation is ` +
      `'repeatable read' instead of 'read committed'`;
    const env = { DATABASE_URL: pooler, DATABASE_POOLER: 'transaction' };
    for (const name of ['api', 'worker', 'console']) {
      const started = startProcess(`apps/${name}/dist/main.js`, { ...PROCESS_VARIABLES, ...env, PORT: '0' });
      expect((await started.exited).code).toBe(1);
      expect(started.stderr()).toMatch(new RegExp(`^${name}: could not start: ${reason}\n$`));
    }
    const doctor = startProcess('apps/cli/dist/main.js', env, ['doctor', '--json']);
    expect((await doctor.exited).code).toBe(1);
    expect(JSON.parse(doctor.output())).toContainEqual({
      check: 'database',
      ok: false,
      detail: expect.stringMatching(reason),
    });
  });
});
