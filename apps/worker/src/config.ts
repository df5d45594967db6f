import { parseKeyring } from '@onecode/domain';
import {
  address,
  ConfigError,
  databaseAddress,
  EVENT_ADDRESSES,
  LOG_LEVELS,
  METRICS_ADDRESS,
  oneOf,
  readConfig,
  REDIS_ADDRESS,
  secret,
  text,
  TRACING,
  variable,
  wholeNumber,
} from '@onecode/runtime';

/** Reads the worker's environment variables. @throws ConfigError with every fault */
export function readWorkerConfig(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment, {
    DATABASE_URL: databaseAddress(),
    DATABASE_CONNECTIONS: wholeNumber(2, 500, 20),
    ...REDIS_ADDRESS,
    ...METRICS_ADDRESS,
    SECRET_KEY: secret(variable(parseKeyring)),
    WHATSAPP_API_URL: address(['http', 'https']),
    DELIVERY_ATTEMPTS: wholeNumber(1, 20, 5),
    DELIVERY_BACKOFF_MS: wholeNumber(1, 60_000, 1_000),
    PROVIDER_TIMEOUT_MS: wholeNumber(10, 60_000, 10_000),
    DELIVERY_CONCURRENCY: wholeNumber(1, 1_000, 50),
    QUEUE_PREFIX: text('onecode'),
    LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
    SMTP_URL: secret(variable(parseSmtpUrl, '')),
    MAIL_FROM: variable(parseMailFrom, ''),
    CONSOLE_URL: address(['http', 'https'], ''),
    EVENT_ADDRESSES: oneOf(EVENT_ADDRESSES, 'public'),
    ...TRACING,
  });
  if (config.SMTP_URL !== '' && config.MAIL_FROM === '')
    throw new ConfigError(['MAIL_FROM is missing: mails by SMTP_URL need a sender']);
  return { ...config, CONSOLE_URL: config.CONSOLE_URL && new URL(config.CONSOLE_URL).origin };
}

/** `smtp://user:password@host:port`, or `smtps://` for TLS from the beginning. */
function parseSmtpUrl(value: string): string {
  const isAddress = /^smtps?:\/\/[^\s/?#]+\/?(?:\?\S*)?$/.test(value) && URL.canParse(value);
  if (!isAddress || new URL(value).hostname === '')
    throw new Error('must be an address that begins with smtp:// or smtps://');
  return value;
}

/** `codes@example.com`, or with a name before it: `Onecode <codes@example.com>`. */
function parseMailFrom(value: string): string {
  if (!/^(?:[^<>\p{C}]* <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(value))
    throw new Error('must be an e-mail address, or a name and an address in angle brackets');
  return value;
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
