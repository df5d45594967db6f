import { deriveNumberPepper, parseKeyring, type Keyring } from '@onecode/domain';
import {
  address,
  databaseAddress,
  host,
  LOG_LEVELS,
  METRICS_ADDRESS,
  oneOf,
  port,
  readConfig,
  REDIS_ADDRESS,
  secret,
  SHUTDOWN_DELAY_MS,
  text,
  variable,
  wholeNumber,
} from '@onecode/runtime';

/** Reads the console's environment variables. @throws ConfigError with every fault */
export function readConsoleConfig(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment, {
    DATABASE_URL: databaseAddress(),
    DATABASE_CONNECTIONS: wholeNumber(1, 500, 10),
    ...REDIS_ADDRESS,
    PORT: port(3001),
    HOST: host(''),
    ...METRICS_ADDRESS,
    BASE_URL: address(['http', 'https']),
    API_URL: address(['http', 'https'], ''),
    CONSOLE_URL: address(['http', 'https']),
    SESSION_SECRET: secret(variable(parseSessionSecret)),
    SECRET_KEY: secret(variable(parseKeyring)),
    NUMBER_PEPPER: secret(variable<Keyring | null>(parseKeyring, null)),
    // Only where NUMBER_PEPPER is derived from it.
    CODE_PEPPER: secret(variable<Keyring | null>(parseKeyring, null)),
    PROXY_HOPS: wholeNumber(0, 9, 0),
    QUEUE_PREFIX: text('onecode'),
    SHUTDOWN_DELAY_MS,
    LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
  });
  const { NUMBER_PEPPER, CODE_PEPPER, ...rest } = config;
  return {
    ...rest,
    // Null where neither is set: then nobody finds a number.
    NUMBER_PEPPER: NUMBER_PEPPER ?? (CODE_PEPPER && deriveNumberPepper(CODE_PEPPER)),
    API_URL: rest.API_URL || rest.BASE_URL,
    CONSOLE_URL: new URL(rest.CONSOLE_URL).origin,
  };
}

/** Signs session cookies and seals two-factor secrets: 32 random bytes. */
function parseSessionSecret(value: string): string {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(value)) throw new Error('must be 32 bytes in base64');
  return value;
}

export type ConsoleConfig = ReturnType<typeof readConsoleConfig>;
