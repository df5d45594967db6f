import { parseKeyring } from '@onecode/domain';
import {
  address,
  databaseAddress,
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
  return readConfig(environment, {
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
    ...TRACING,
  });
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
