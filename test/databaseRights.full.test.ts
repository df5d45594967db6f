import { startProcess, STACK_START_MS_MAX, testRedisUrl, type TestDatabase } from '@onecode/testing';
import { makeDocumentedDatabase } from './documentedDatabase.js';

const STARTS_MS_MAX = 600_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await makeDocumentedDatabase();
}, STACK_START_MS_MAX);
afterAll(() => db.drop());

it(
  'a worker that lacks the rights on any one table ends at its start, with one line that names the table',
  async () => {
    const role = new URL(db.url).username;
    const tables = await db.sql<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    );
    expect(tables.length).toBeGreaterThan(30);
    for (const { name } of tables) {
      await db.sql(`revoke all on ${name} from ${role}`);
      const worker = startProcess('apps/worker/dist/main.js', {
        DATABASE_URL: db.url,
        REDIS_URL: testRedisUrl(),
        SECRET_KEY: Buffer.alloc(32).toString('base64'),
        WHATSAPP_API_URL: 'http://127.0.0.1:1',
        LOG_LEVEL: 'error',
      });
      expect([name, (await worker.exited).code]).toEqual([name, 1]);
      expect(worker.output()).toMatch(
        new RegExp(`^worker: the role ${role} lacks rights on ${name} \\([a-z, ]+\\): [^\\n]+\\n$`),
      );
      await db.sql(`grant select, insert, update, delete on ${name} to ${role}`);
    }
  },
  STARTS_MS_MAX,
);
