import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { closeHttpServer, createLog, openQueues, type Logger } from '@onecode/runtime';
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
import { createHttpServer } from '../src/server.js';

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

type Timeouts = Parameters<typeof createHttpServer>[0];

/** One console for all tests of a file. Read it only within hooks and tests. */
export function useConsole(overrides?: Partial<ConsoleConfig>, timeouts?: Timeouts): ConsoleEnvironment {
  return openForFile(
    () => startConsole(overrides, timeouts),
    (server) => server.close(),
  );
}

export interface StartedConsole extends ConsoleEnvironment {
  log: Logger;
  close(): Promise<void>;
}

/** Starts a console; it serves the built pages. `timeouts` limit slow clients. */
export async function startConsole(
  overrides: Partial<ConsoleConfig> = {},
  timeouts: Timeouts = {},
): Promise<StartedConsole> {
  const db = await createTestDatabase();
  const prefix = overrides.QUEUE_PREFIX ?? `test-${randomBytes(6).toString('hex')}`;
  const server = createHttpServer(timeouts);
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
