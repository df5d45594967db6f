import { deriveNumberPepper, parseKeyring, type Keyring } from '@onecode/domain';
import {
  address,
  COMMON_VARIABLES,
  port,
  readConfig,
  secret,
  SHUTDOWN_DELAY_MS,
  text,
  variable,
  wholeNumber,
} from '@onecode/runtime';

/** Reads and checks the API's environment variables. @throws ConfigError with every fault */
export function readApiConfig(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment, {
    ...COMMON_VARIABLES,
    DATABASE_CONNECTIONS: wholeNumber(2, 500, 20),
    PORT: port(3000),
    HOST: text(''),
    BASE_URL: address(),
    DOCS_URL: address(''),
    CONSOLE_URL: address(''),
    CODE_PEPPER: secret(variable(parseKeyring)),
    NUMBER_PEPPER: secret(variable<Keyring | null>(parseKeyring, null)),
    SECRET_KEY: secret(variable(parseKeyring)),
    WHATSAPP_APP_SECRET: secret(variable(parseAppSecrets)),
    WHATSAPP_VERIFY_TOKEN: secret(text()),
    SHUTDOWN_DELAY_MS,
  });
  return {
    ...config,
    DOCS_URL: config.DOCS_URL || `${config.BASE_URL}/docs`,
    NUMBER_PEPPER: config.NUMBER_PEPPER ?? deriveNumberPepper(config.CODE_PEPPER),
  };
}

/** Splits the secrets of the Meta app, separated by commas. There are several during a rotation. */
function parseAppSecrets(value: string): string[] {
  const secrets = value.split(',').map((secret) => secret.trim());
  if (secrets.some((secret) => secret === '' || /\p{Cc}/u.test(secret)))
    throw new Error('must be one secret or several separated by commas, on one line');
  return secrets;
}

export type ApiConfig = ReturnType<typeof readApiConfig>;
