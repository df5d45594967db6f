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

const WITHOUT_STATEMENTS = findPgBouncer({ keepsStatements: false });
const WITH_STATEMENTS = findPgBouncer({ keepsStatements: true });
const SENDS = 60;
const SECRET = Buffer.alloc(32).toString('base64');
const NONE = ' (skipped: its package cannot be had on this machine)';

let processes: Processes;
beforeAll(() => {
  processes = Processes.throwaway();
});
afterAll(() => processes.stop());

describeIf(WITHOUT_STATEMENTS !== null)(`PgBouncer before 1.21${WITHOUT_STATEMENTS ? '' : NONE}`, () => {
  it('in transaction mode: every process ends at its start and says so in one line', async () => {
    const db = await createTestDatabase();
    const settings = { pool_mode: 'transaction' };
    const { url } = await startPgBouncer(WITHOUT_STATEMENTS!, { processes, url: db.url, settings });
    const env = {
      DATABASE_URL: url,
      DATABASE_POOLER: 'transaction',
      REDIS_URL: 'redis://127.0.0.1:1',
      SECRET_KEY: SECRET,
      CODE_PEPPER: SECRET,
      SESSION_SECRET: SECRET,
      BASE_URL: 'http://127.0.0.1:3000',
      CONSOLE_URL: 'http://localhost:3001',
      WHATSAPP_API_URL: 'http://127.0.0.1:1/v25.0',
      WHATSAPP_APP_SECRET: 'secret',
      WHATSAPP_VERIFY_TOKEN: 'token',
      PORT: '0',
    };
    for (const name of ['api', 'worker', 'console']) {
      const started = startProcess(`apps/${name}/dist/main.js`, env);
      expect((await started.exited).code).toBe(1);
      expect(started.stderr()).toMatch(
        new RegExp(
          `^${name}: could not start: the pooler does not keep prepared statements: .* PgBouncer 1\\.21 .*\n$`,
        ),
      );
    }
    await db.drop();
  });
});

describeIf(WITH_STATEMENTS !== null)(`PgBouncer from 1.21 on${WITH_STATEMENTS ? '' : NONE}`, () => {
  let stack: ProcessStack;
  let url: string;
  beforeAll(async () => {
    const db = await createTestDatabase();
    await db.sql(`alter database ${new URL(db.url).pathname.slice(1)} set timezone = 'America/Sao_Paulo'`);
    ({ url } = await startPgBouncer(WITH_STATEMENTS!, {
      processes,
      url: db.url,
      settings: { pool_mode: 'transaction', default_pool_size: 4, max_prepared_statements: 200 },
    }));
    const env = { DATABASE_URL: url, DATABASE_POOLER: 'transaction', DATABASE_CONNECTIONS: '10' };
    stack = await ProcessStack.start({ db, apis: 2, workers: 2, env });
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it('in transaction mode: each person gets one message, on a server outside UTC', async () => {
    await stack.addSender();
    const { key } = await buildCaller(stack.db.database, 'live', { credits: 1_000, ratePerMinute: 100_000 });
    const sends = await Promise.all(
      Array.from({ length: SENDS }, (_, n) =>
        stack.create(key, { to: `+5511987${String(600_000 + n)}`, code: '135790' }, { api: n % 2 }),
      ),
    );
    await until('the delivery of all', async () => {
      const rows = await stack.db.sql<{ status: string; attempts: number }>(
        'select status, attempts from sends',
      );
      return rows.length === SENDS && rows.every(({ status }) => status === 'delivered');
    });
    const messages = await Promise.all(
      sends.map((_, n) => stack.simulator.messages(`+5511987${600_000 + n}`)),
    );
    expect(messages.map(({ length }) => length)).toEqual(sends.map(() => 1));
    expect(await stack.verify(key, sends[0]!.id, '135790', 1)).toMatchObject({ valid: true });
  });

  it('in transaction mode: migrations are refused until they have an address of their own', async () => {
    const migrate = async (env: Record<string, string>): Promise<string> => {
      const started = startProcess('packages/store/dist/migrate.js', env);
      await started.exited;
      return started.output();
    };
    const env = { DATABASE_URL: url, DATABASE_POOLER: 'transaction' };
    expect(await migrate(env)).toBe(
      'MIGRATE_DATABASE_URL is missing: with DATABASE_POOLER=transaction it must lead to PostgreSQL itself\n',
    );
    expect(await migrate({ ...env, MIGRATE_DATABASE_URL: url })).toMatch(
      /^The migration failed: .* MIGRATE_DATABASE_URL must lead to PostgreSQL itself\n$/,
    );
    expect(await migrate({ ...env, MIGRATE_DATABASE_URL: stack.db.url })).toBe(
      'The database is up to date.\n',
    );
  });
});
