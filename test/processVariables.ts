import { ConfigError } from '@onecode/runtime';
import { readApiConfig } from '../apps/api/src/config.js';
import { readConsoleConfig } from '../apps/console/src/config.js';
import { readWorkerConfig } from '../apps/worker/src/config.js';
import { InvalidInput } from '../packages/simulator/src/input.js';

type Reader = (environment: NodeJS.ProcessEnv) => object;

/** The reader of the environment of each process. */
export const READERS: Readonly<Record<string, Reader>> = {
  api: readApiConfig,
  worker: readWorkerConfig,
  console: readConsoleConfig,
};

/** Returns the faults of a configuration, one per line. */
export function faultsOf(read: () => object): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError || error instanceof InvalidInput) return error.faults;
    throw error;
  }
}

const SECRET = Buffer.alloc(32).toString('base64');

/** A value for every variable that one of our processes requires; each reads its own. */
export const PROCESS_VARIABLES = {
  DATABASE_URL: 'postgresql://onecode@localhost/onecode',
  REDIS_URL: 'redis://localhost',
  BASE_URL: 'http://localhost:3000',
  CONSOLE_URL: 'http://localhost:3001',
  WHATSAPP_API_URL: 'http://127.0.0.1:1/v25.0',
  WEBHOOK_URL: 'http://127.0.0.1:1/webhooks/whatsapp',
  CODE_PEPPER: SECRET,
  SECRET_KEY: SECRET,
  SESSION_SECRET: SECRET,
  WHATSAPP_APP_SECRET: 'secret',
  WHATSAPP_VERIFY_TOKEN: 'token',
};
