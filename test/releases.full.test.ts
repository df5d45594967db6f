import { randomBytes } from 'node:crypto';
import { readMigrations } from '@onecode/store/migrations';
import {
  createTestDatabase,
  startProcess,
  startTcpProxy,
  testRedisUrl,
  untilReady,
  type StartedProcess,
  type TcpProxy,
  type TestDatabase,
} from '@onecode/testing';
import { COMMIT, VERSION } from '@onecode/runtime';
import { PROCESS_VARIABLES } from './processVariables.js';

const KINDS = ['api', 'worker', 'console'] as const;
const START_MS_MAX = 120_000;

let db: TestDatabase;
let running: StartedProcess[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});
afterAll(() => db.drop());

function start(kind: (typeof KINDS)[number], changes: Record<string, string> = {}): StartedProcess {
  const started = startProcess(`apps/${kind}/dist/main.js`, {
    ...PROCESS_VARIABLES,
    DATABASE_URL: db.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    PORT: '0',
    METRICS_PORT: '0',
    ...changes,
  });
  running.push(started);
  return started;
}
async function migrate(...args: string[]): Promise<{ code: number | null; output: string }> {
  const migration = startProcess('packages/store/dist/migrate.js', { DATABASE_URL: db.url }, args);
  const { code } = await migration.exited;
  return { code, output: migration.output() };
}
async function list(): Promise<Record<string, string>[]> {
  const command = startProcess('apps/cli/dist/main.js', { DATABASE_URL: db.url }, [
    'release',
    'list',
    '--json',
  ]);
  await command.exited;
  return JSON.parse(command.stdout()) as Record<string, string>[];
}

const CONTRACT = '99991231235959_contract_since_9_9_9_of_a_test';

const addMigration = (name: string): Promise<unknown> =>
  db.sql(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values (gen_random_uuid(), '', $1, now())`,
    [name],
  );

describe('the processes of a release', () => {
  it(
    'record their start and end with their release',
    async () => {
      const started = KINDS.map((kind) => start(kind));
      await Promise.all(started.map(untilReady));
      const rows = await list();
      expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(KINDS));
      expect(rows).toHaveLength(KINDS.length);
      const lastMigration = (await readMigrations()).at(-1)!.name;
      for (const row of rows)
        expect(row).toMatchObject({
          release: VERSION,
          commit: COMMIT,
          state: 'running',
          clock_ahead_ms: 0,
          last_migration: lastMigration,
        });

      await Promise.all(started.map((one) => one.stop()));
      expect((await list()).map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped']);
    },
    START_MS_MAX,
  );

  it(
    'are not listed when they could not start',
    async () => {
      const holder = start('api');
      const { address } = await untilReady(holder);
      const before = await list();
      const late = start('api', { PORT: String((address as { port: number }).port) });
      expect((await late.exited).code).toBe(1);
      expect(await list()).toHaveLength(before.length);
      await holder.stop();
    },
    START_MS_MAX,
  );

  describe('with an incompatible schema', () => {
    beforeAll(async () => {
      await db.sql('alter table _prisma_migrations rename to journal');
      await db.sql('create table _prisma_migrations (like journal including all)');
    });
    beforeEach(async () => {
      await db.sql('truncate _prisma_migrations');
      await db.sql('insert into _prisma_migrations select * from journal');
    });

    async function expectRefusals(line: (kind: string) => RegExp): Promise<void> {
      const ended = await Promise.all(
        KINDS.map(async (kind) => {
          const started = start(kind);
          const { code } = await started.exited;
          return { kind, code, stderr: started.stderr() };
        }),
      );
      for (const { kind, code, stderr } of ended) {
        expect(code).toBe(1);
        expect(stderr).toMatch(line(kind));
        expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      }
    }

    it(
      'end with one line and exit code 1 when it is too old',
      async () => {
        await db.sql(
          'delete from _prisma_migrations where migration_name = (select max(migration_name) from journal)',
        );
        await expectRefusals(
          (kind) =>
            new RegExp(`^${kind}: could not start: the schema is too old for release .* run npm run migrate`),
        );
      },
      START_MS_MAX,
    );

    it(
      'end with one line and exit code 1 when it is too new, and start when it only has additions',
      async () => {
        await addMigration('99991231235959_of_a_test');
        await Promise.all(KINDS.map((kind) => start(kind)).map(untilReady));
        await addMigration(CONTRACT);
        await expectRefusals(
          (kind) =>
            new RegExp(`^${kind}: could not start: the schema is too new for release .* run release 9.9.9`),
        );
      },
      START_MS_MAX,
    );
  });
});

describe('npm run migrate', () => {
  it('accepts only --force', async () => {
    expect(await migrate('--force')).toMatchObject({ code: 0 });
    expect(await migrate('--forse')).toEqual({
      code: 1,
      output: '--forse is no option: npm run migrate takes --force alone\n',
    });
  });
});

describe('a process that started before its database', () => {
  let proxy: TcpProxy;
  afterEach(() => proxy.close());

  it(
    'ends when the database becomes available with an incompatible schema',
    async () => {
      proxy = await startTcpProxy(db.url, 'cut');
      const started = start('api', { DATABASE_URL: proxy.url });
      await untilReady(started);
      await addMigration(CONTRACT);
      await proxy.open();
      expect((await started.exited).code).toBe(1);
      expect(started.output()).toContain('database unusable');
    },
    START_MS_MAX,
  );
});
