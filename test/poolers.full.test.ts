import {
  buildCaller,
  createTestDatabase,
  describeIf,
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
const NONE = PGBOUNCER === null ? ' (skipped: its package cannot be had on this machine)' : '';

describeIf(PGBOUNCER !== null)(`PgBouncer in transaction mode${NONE}`, () => {
  let processes: Processes;
  let stack: ProcessStack;
  beforeAll(async () => {
    processes = Processes.throwaway();
    const db = await createTestDatabase();
    await db.sql(`alter database ${new URL(db.url).pathname.slice(1)} set timezone = 'America/Sao_Paulo'`);
    const url = await poolerUrl(db.url, 200);
    stack = await ProcessStack.start({
      db,
      apis: 2,
      workers: 2,
      env: { DATABASE_URL: url, DATABASE_CONNECTIONS: '10' },
    });
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await stack.stop();
    await processes.stop();
  });

  async function poolerUrl(url: string, preparedStatements: number): Promise<string> {
    const settings = {
      pool_mode: 'transaction',
      default_pool_size: 4,
      max_prepared_statements: preparedStatements,
    };
    return (await startPgBouncer(PGBOUNCER!, { processes, url, settings })).url;
  }

  it('each person gets one message, on a server outside UTC', async () => {
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

  it('ends every process at its start where it keeps no prepared statements, with one line', async () => {
    const env = { ...PROCESS_VARIABLES, DATABASE_URL: await poolerUrl(stack.db.url, 0), PORT: '0' };
    for (const name of ['api', 'worker', 'console']) {
      const started = startProcess(`apps/${name}/dist/main.js`, env);
      expect((await started.exited).code).toBe(1);
      expect(started.stderr()).toMatch(
        new RegExp(`^${name}: could not start: the pooler shares sessions .* PgBouncer .* 1\\.21 .*\n$`),
      );
    }
  });
});
