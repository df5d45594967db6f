import { parseKeyring } from '@onecode/domain';
import {
  address,
  COMMON_VARIABLES,
  ConfigError,
  EVENT_ADDRESSES,
  PROXY,
  readConfig,
  secret,
  serverAddress,
  variable,
  wholeNumber,
} from '@onecode/runtime';

/** Reads and checks the worker's environment variables. @throws ConfigError */
export function readWorkerConfig(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment, {
    ...COMMON_VARIABLES,
    DATABASE_CONNECTIONS: wholeNumber(2, 500, 20),
    SECRET_KEY: secret(variable(parseKeyring)),
    WHATSAPP_API_URL: address(),
    ...PROXY,
    DELIVERY_ATTEMPTS: wholeNumber(1, 20, 5),
    DELIVERY_BACKOFF_MS: wholeNumber(1, 60_000, 1_000),
    PROVIDER_TIMEOUT_MS: wholeNumber(10, 60_000, 10_000),
    DELIVERY_CONCURRENCY: wholeNumber(1, 1_000, 50),
    SMTP_URL: secret(serverAddress(['smtp', 'smtps'], '')),
    MAIL_FROM: variable(parseMailFrom, ''),
    CONSOLE_URL: address(''),
    EVENT_ADDRESSES,
  });
  if (config.SMTP_URL !== '' && config.MAIL_FROM === '')
    throw new ConfigError(['MAIL_FROM is missing: with SMTP_URL set, mails need a sender address']);
  return {
    ...config,
    CONSOLE_URL: config.CONSOLE_URL && new URL(config.CONSOLE_URL).origin,
  };
}

/**
 * Returns the value if it is an address such as `codes@example.com`, optionally with a name (`Onecode <codes@example.com>`); otherwise
 * throws.
 */
function parseMailFrom(value: string): string {
  if (!/^(?:[^<>\p{C}]* <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(value))
    throw new Error('must be an e-mail address, or a name and an address in angle brackets');
  return value;
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
