import { parseKeyring } from '@onecode/domain';
import { address, LOG_LEVELS, oneOf, port, readConfig, text, variable, wholeNumber } from '@onecode/runtime';

/** The API's environment, as docs and `.env.example` list it. @throws ConfigError with every fault */
export function readApiConfig(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment, {
    DATABASE_URL: address(['postgres', 'postgresql']),
    REDIS_URL: address(['redis', 'rediss']),
    PORT: port(3000),
    METRICS_PORT: port(0),
    BASE_URL: address(['http', 'https']),
    DOCS_URL: address(['http', 'https'], ''),
    CODE_PEPPER: variable(parseKeyring),
    SECRET_KEY: variable(parseKeyring),
    WHATSAPP_APP_SECRET: text(),
    WHATSAPP_VERIFY_TOKEN: text(),
    QUEUE_PREFIX: text('onecode'),
    DELIVERY_ATTEMPTS: wholeNumber(1, 20, 5),
    LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
  });
  return { ...config, DOCS_URL: config.DOCS_URL || `${config.BASE_URL}/docs` };
}

export type ApiConfig = ReturnType<typeof readApiConfig>;
