import { APIError } from 'better-auth/api';
import { validateAuthorizationCode } from 'better-auth/oauth2';
import type { GenericOAuthConfig } from 'better-auth/plugins/generic-oauth';
import type { Logger } from '@onecode/runtime';
import type { ConsoleConfig } from '../config.js';

const PROVIDER_MS_MAX = 10_000;

/** Why a sign-in by the OpenID provider was refused. The pages have a text for each. */
export type ProviderRefusal =
  | 'not_known'
  | 'not_staff'
  | 'email_missing'
  | 'email_unverified'
  | 'email_verified_missing'
  | 'emails_differ'
  | 'id_token_missing'
  | 'id_token_invalid'
  | 'userinfo_failed'
  | 'userinfo_signed'
  | 'userinfo_of_another'
  | 'token_refused'
  | 'provider_unreachable'
  | 'provider_unusable'
  | 'access_denied'
  | 'state_lost'
  | 'provider_error';

/** The provider cannot be used: it is unreachable, or its discovery document is not usable. */
export class ProviderUnavailable extends Error {
  constructor(readonly refusal: 'provider_unreachable' | 'provider_unusable') {
    super(refusal);
  }
}

/** The part of a user's claims that Onecode reads. */
export interface ProviderProfile {
  sub: string;
  email: string;
  emailVerified: boolean;
  /** Why the address is not accepted as the user's; null if it is accepted. */
  refusal: 'email_unverified' | 'email_verified_missing' | null;
  [claim: string]: unknown;
}

type Claims = Readonly<Record<string, unknown>>;
type ClientAuthentication = 'client_secret_basic' | 'client_secret_post';

interface Discovery {
  tokenEndpoint: string;
  /** Null: the provider has none. */
  userInfoEndpoint: string | null;
  /** In the order in which they are tried. */
  clientAuthentications: readonly ClientAuthentication[];
}

/**
 * Reads the provider's discovery document and returns better-auth's configuration for it.
 *
 * @throws ProviderUnavailable
 */
export async function readProvider(
  config: Pick<
    ConsoleConfig,
    'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'OIDC_MISSING_EMAIL_VERIFIED'
  >,
  log: Logger,
): Promise<GenericOAuthConfig<'oidc'>> {
  const discovery = await discover(config.OIDC_ISSUER, log);
  const client = { clientId: config.OIDC_CLIENT_ID, clientSecret: config.OIDC_CLIENT_SECRET };
  const trustsMissing = config.OIDC_MISSING_EMAIL_VERIFIED === 'trust';
  return {
    providerId: 'oidc',
    discoveryUrl: discoveryAddress(config.OIDC_ISSUER),
    ...client,
    scopes: ['openid', 'email'],
    requireIdTokenVerification: true,
    disableSignUp: true,
    accountSubject: ({ profile }) => String(profile.sub),
    getToken: (request) => exchangeCode(discovery, client, request, log),
    // better-auth has verified the ID token, and compares `sub` with it.
    getUserInfo: ({ idToken, accessToken }) =>
      readProfile(discovery, { idToken, accessToken }, trustsMissing),
  };
}

const discoveryAddress = (issuer: string): string => `${issuer}/.well-known/openid-configuration`;

async function discover(issuer: string, log: Logger): Promise<Discovery> {
  const unusable = (reason: string): ProviderUnavailable => {
    log.warn({ part: 'identity', reason }, 'OpenID provider unusable');
    return new ProviderUnavailable('provider_unusable');
  };
  const document = await readDiscovery(issuer).catch((error: unknown) => {
    log.warn({ part: 'identity', err: error }, 'OpenID provider unreachable');
    throw new ProviderUnavailable('provider_unreachable');
  });
  const { issuer: named, token_endpoint: tokenEndpoint, userinfo_endpoint: userInfoEndpoint } = document;
  // OpenID Connect Discovery, 4.3. `OIDC_ISSUER` has no slash at its end.
  if (typeof named !== 'string' || named.replace(/(?<!\/)\/+$/, '') !== issuer)
    throw unusable('it names another issuer than OIDC_ISSUER');
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    if (typeof document[name] !== 'string') throw unusable(`it has no ${name}`);
  // The default of OpenID Connect Discovery, 3.
  const supported = document['token_endpoint_auth_methods_supported'] ?? ['client_secret_basic'];
  const clientAuthentications = (['client_secret_basic', 'client_secret_post'] as const).filter(
    (method) => Array.isArray(supported) && supported.includes(method),
  );
  if (clientAuthentications.length === 0)
    throw unusable('it supports neither client_secret_basic nor client_secret_post');
  return {
    tokenEndpoint: tokenEndpoint as string,
    userInfoEndpoint: typeof userInfoEndpoint === 'string' ? userInfoEndpoint : null,
    clientAuthentications,
  };
}

async function readDiscovery(issuer: string): Promise<Claims> {
  const response = await fetch(discoveryAddress(issuer), { signal: AbortSignal.timeout(PROVIDER_MS_MAX) });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return claimsOf(await response.json());
}

/** @throws Error for anything but a JSON object */
function claimsOf(value: unknown): Claims {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('not a JSON object');
  return value as Claims;
}

type GetToken = NonNullable<GenericOAuthConfig['getToken']>;

/**
 * Exchanges the code for tokens. A provider may support both methods of client authentication and allow this client only one: a refused
 * client does not use up the code (RFC 6749, 3.2.1 and 5.2), so the other method is tried with the same code.
 */
async function exchangeCode(
  { tokenEndpoint, clientAuthentications }: Discovery,
  client: { clientId: string; clientSecret: string },
  { code, codeVerifier, redirectURI }: Parameters<GetToken>[0],
  log: Logger,
): ReturnType<GetToken> {
  const request = { code, codeVerifier, redirectURI, options: client, tokenEndpoint };
  for (const [nth, method] of clientAuthentications.entries())
    try {
      return await validateAuthorizationCode({ ...request, tokenEndpointAuth: { method } });
    } catch (error) {
      const { status, error: code } = error as { status?: unknown; error?: unknown };
      const isClientRefused = status === 401 || code === 'invalid_client';
      if (isClientRefused && nth + 1 < clientAuthentications.length) continue;
      log.warn({ part: 'identity', status, error: codeOf(code), method }, 'OpenID token request refused');
      throw error;
    }
  throw new Error('no client authentication');
}

/** An error code as OAuth has them, or undefined for any other text. */
export const codeOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[a-z_]{1,40}$/.test(value) ? value : undefined;

async function readProfile(
  { userInfoEndpoint }: Discovery,
  { idToken, accessToken }: { idToken: string | undefined; accessToken: string | undefined },
  trustsMissing: boolean,
): Promise<ProviderProfile> {
  if (idToken === undefined) throw refusal('id_token_missing');
  const claims = claimsOf(JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()));
  const isComplete = textOf(claims['email']) !== null && isGiven(claims['email_verified']);
  const others =
    isComplete || userInfoEndpoint === null || accessToken === undefined
      ? {}
      : await readUserInfo(userInfoEndpoint, accessToken, claims['sub']);
  const emails = [claims, others].map((of) => textOf(of['email'])?.toLowerCase() ?? null);
  const email = emails[0] ?? emails[1] ?? null;
  if (email === null) throw refusal('email_missing');
  // `email_verified` of one source says nothing about the address of the other.
  if (emails[0] !== null && emails[1] !== null && emails[0] !== emails[1]) throw refusal('emails_differ');
  const verified = [claims, others].map((of) => of['email_verified']).find(isGiven);
  // Some providers, such as Amazon Cognito, send a string.
  const emailVerified = verified === undefined ? trustsMissing : verified === true || verified === 'true';
  return {
    sub: String(claims['sub']),
    email,
    emailVerified,
    refusal: emailVerified ? null : verified === undefined ? 'email_verified_missing' : 'email_unverified',
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

async function readUserInfo(address: string, accessToken: string, subject: unknown): Promise<Claims> {
  const failed = (): never => {
    throw refusal('userinfo_failed');
  };
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(PROVIDER_MS_MAX),
  }).catch(failed);
  if (!response.ok) failed();
  if (/^application\/jwt\b/i.test(response.headers.get('content-type') ?? ''))
    throw refusal('userinfo_signed');
  const claims = await response.json().then(claimsOf).catch(failed);
  // OpenID Connect Core, 5.3.2: with another subject, nothing in it may be used.
  if (claims['sub'] !== subject) throw refusal('userinfo_of_another');
  return claims;
}

const refusal = (code: ProviderRefusal): APIError => new APIError('FORBIDDEN', { code });
