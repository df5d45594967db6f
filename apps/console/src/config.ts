import { deriveNumberPepper, parseKeyring, type Keyring } from '@onecode/domain';
import {
  address,
  COMMON_VARIABLES,
  ConfigError,
  EVENT_ADDRESSES,
  oneOf,
  parsePlainAddress,
  port,
  PROXY,
  readConfig,
  secret,
  SHUTDOWN_DELAY_MS,
  text,
  variable,
  wholeNumber,
} from '@onecode/runtime';

const OIDC_VARIABLES = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;

/** Reads the console's environment variables. @throws ConfigError */
export function readConsoleConfig(environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment, {
    ...COMMON_VARIABLES,
    DATABASE_CONNECTIONS: wholeNumber(1, 500, 10),
    PORT: port(3001),
    HOST: text(''),
    BASE_URL: address(),
    API_URL: address(''),
    CONSOLE_URL: address(),
    SUPPORT_URL: variable(parseSupportUrl, ''),
    OIDC_ISSUER: variable(parseIssuer, ''),
    OIDC_CLIENT_ID: text(''),
    OIDC_CLIENT_SECRET: secret(text('')),
    OIDC_MISSING_EMAIL_VERIFIED: oneOf(['refuse', 'trust'], 'refuse'),
    SESSION_SECRET: secret(variable(parseSessionSecret)),
    SECRET_KEY: secret(variable(parseKeyring)),
    NUMBER_PEPPER: secret(variable<Keyring | null>(parseKeyring, null)),
    // Only if NUMBER_PEPPER is derived from it.
    CODE_PEPPER: secret(variable<Keyring | null>(parseKeyring, null)),
    WHATSAPP_API_URL: address('https://graph.facebook.com/v25.0'),
    ...PROXY,
    PROXY_HOPS: wholeNumber(0, 9, 0),
    EVENT_ADDRESSES,
    SHUTDOWN_DELAY_MS,
  });
  const missing = OIDC_VARIABLES.filter((name) => config[name] === '');
  if (missing.length > 0 && missing.length < OIDC_VARIABLES.length)
    throw new ConfigError(
      missing.map(
        (name) => `${name} is missing: for OpenID Connect, ${OIDC_VARIABLES.join(', ')} are needed`,
      ),
    );
  const { NUMBER_PEPPER, CODE_PEPPER, ...rest } = config;
  return {
    ...rest,
    // Null if neither is set: then searches by number find nothing.
    NUMBER_PEPPER: NUMBER_PEPPER ?? (CODE_PEPPER && deriveNumberPepper(CODE_PEPPER)),
    API_URL: rest.API_URL || rest.BASE_URL,
    CONSOLE_URL: new URL(rest.CONSOLE_URL).origin,
  };
}

/** A page, or an e-mail address. */
function parseSupportUrl(value: string): string {
  if (!/^(?:https:\/\/|mailto:)/.test(value))
    throw new Error('must be an address that begins with https:// or mailto:');
  if (
    !/^(?:https:\/\/[^/?#@]+(?:[/?#]\S*)?|mailto:[^\s@?]+@[^\s@?]+(?:\?\S*)?)$/.test(value) ||
    !URL.canParse(value)
  )
    throw new Error(
      'must name a valid host after https://, or an e-mail address after mailto:, without white space',
    );
  return value;
}

/** The issuer of an OpenID provider, without slashes at its end. Only an issuer on this machine may be without TLS. */
function parseIssuer(value: string): string {
  const issuer = parsePlainAddress(value);
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    throw new Error('must begin with https://: http:// is for a provider on this machine');
  return issuer;
}

/** Signs session cookies and encrypts two-factor secrets: 32 random bytes. */
function parseSessionSecret(value: string): string {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(value)) throw new Error('must be 32 bytes in base64');
  return value;
}

export type ConsoleConfig = ReturnType<typeof readConsoleConfig>;
