import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeHttpServer, createLog, openQueues, SERVER_LIMITS, type Logger } from '@onecode/runtime';
import {
  createTestDatabase,
  openForFile,
  TEST_NUMBER_PEPPER,
  TEST_SECRET_KEY,
  testRedisUrl,
  type TestDatabase,
} from '@onecode/testing';
import { createApp } from '../src/app.js';
import { readConsoleConfig, type ConsoleConfig } from '../src/config.js';

/** A console on a free port, with its own database. */
export interface ConsoleEnvironment {
  /** Its public address, by a name that browsers trust with secure cookies. */
  url: string;
  db: TestDatabase;
  /** The queues' prefix in the shared Redis. */
  prefix: string;
  /** Signs the session cookies. */
  sessionSecret: string;
}

type Limits = Partial<typeof SERVER_LIMITS>;

/** One console for all tests of a file. Read it only within hooks and tests. */
export function useConsole(overrides?: Partial<ConsoleConfig>, limits?: Limits): ConsoleEnvironment {
  return openForFile(
    () => startConsole(overrides, limits),
    (server) => server.close(),
  );
}

export interface StartedConsole extends ConsoleEnvironment {
  log: Logger;
  close(): Promise<void>;
}

/** Starts a console; it serves the built pages. `limits` replace those of its server. */
export async function startConsole(
  overrides: Partial<ConsoleConfig> = {},
  limits: Limits = {},
): Promise<StartedConsole> {
  const db = await createTestDatabase();
  const prefix = overrides.QUEUE_PREFIX ?? `test-${randomBytes(6).toString('hex')}`;
  const server = createServer({ ...SERVER_LIMITS, ...limits });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://localhost:${port}`;
  const given = readConsoleConfig({
    DATABASE_URL: db.url,
    REDIS_URL: testRedisUrl(),
    PORT: String(port),
    BASE_URL: 'https://api.example.test',
    // Nothing listens there: tests of the Try it page set the address of the API.
    API_URL: 'http://127.0.0.1:9',
    WHATSAPP_API_URL: 'http://127.0.0.1:9/v25.0',
    CONSOLE_URL: url,
    SUPPORT_URL: 'mailto:codes@example.test',
    SESSION_SECRET: randomBytes(32).toString('base64'),
    SECRET_KEY: randomBytes(32).toString('base64'),
    QUEUE_PREFIX: prefix,
    // As behind a proxy, so that tests can set the client address.
    PROXY_HOPS: '1',
    LOG_LEVEL: 'silent',
  });
  const config: ConsoleConfig = {
    ...given,
    SECRET_KEY: TEST_SECRET_KEY,
    NUMBER_PEPPER: TEST_NUMBER_PEPPER,
    ...overrides,
  };
  const queues = openQueues({ ...config, QUEUE_PREFIX: prefix });
  const log = createLog('console', config.LOG_LEVEL);
  server.on('request', createApp({ config, database: db.database, queues, log }));
  return {
    url,
    db,
    prefix,
    sessionSecret: config.SESSION_SECRET,
    log,
    async close() {
      server.closeAllConnections();
      await closeHttpServer(server);
      await queues.close();
      await db.drop();
    },
  };
}
