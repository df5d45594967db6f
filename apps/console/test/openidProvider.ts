import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Configuration } from 'oidc-provider';

export const CLIENT = {
  OIDC_CLIENT_ID: 'onecode-console',
  OIDC_CLIENT_SECRET: 'a secret of the tests',
};

/** The user that a provider signs in. */
export interface Identified {
  email: string;
  isVerified: boolean;
}

type ClaimsOf = (who: Identified) => Record<string, unknown>;
type ClientAuthentication = 'client_secret_basic' | 'client_secret_post';

/** The differences of a provider from one that puts both claims into ID tokens, and registers the console for `client_secret_post`. */
export interface ProviderShape {
  idToken?: ClaimsOf;
  /** The claims of UserInfo; null: the provider has no such endpoint. */
  userInfo?: ClaimsOf | null;
  /** Whether UserInfo is a signed JWT. */
  isUserInfoSigned?: true;
  /** Answers requests for UserInfo instead of the provider. */
  answerUserInfo?: (request: IncomingMessage, response: ServerResponse) => void;
  /** The only method of client authentication that it accepts from the console. */
  registered?: ClientAuthentication;
  /** The methods that the provider supports; null: its discovery document does not list them. */
  supported?: ClientAuthentication[] | null;
  /** Whether its issuer ends with a slash, as Auth0's does. */
  hasSlash?: true;
  /** Changes the discovery document. */
  discovery?: (document: Record<string, unknown>) => Record<string, unknown>;
}

/** An OpenID provider on this machine, under another host name than the console's. It signs in without asking. */
export interface OpenidProvider {
  issuer: string;
  /** Sets the user that it signs in; null: it refuses access. */
  signIn(who: Identified | null): void;
  /** The query of every authorization request. */
  asked: URLSearchParams[];
  /** The `Authorization` header of every token request. */
  tokenRequests: (string | null)[];
  /** Opens it, for a client at this address. Until then it answers 503, as an unavailable one. */
  open(redirectUri: string, shape?: ProviderShape): void;
  close(): Promise<void>;
}

const BOTH: ClaimsOf = ({ email, isVerified }) => ({ email, email_verified: isVerified });

export async function startOpenidProvider(): Promise<OpenidProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Identified>();
  const asked: URLSearchParams[] = [];
  const tokenRequests: OpenidProvider['tokenRequests'] = [];
  let subject: string | null = 'no user';
  const open = (redirectUri: string, shape: ProviderShape): Provider => {
    const { idToken = BOTH, userInfo = BOTH, registered = 'client_secret_post', supported } = shape;
    const configuration: Configuration = {
      clients: [
        {
          client_id: CLIENT.OIDC_CLIENT_ID,
          client_secret: CLIENT.OIDC_CLIENT_SECRET,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: registered,
          ...(shape.isUserInfoSigned === true && { userinfo_signed_response_alg: 'RS256' }),
        },
      ],
      ...(supported && { clientAuthMethods: supported }),
      pkce: { required: () => true },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'key' }] },
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
      features: {
        devInteractions: { enabled: false },
        userinfo: { enabled: userInfo !== null },
        jwtUserinfo: { enabled: shape.isUserInfoSigned === true },
      },
      cookies: { keys: ['a key of the tests'] },
      findAccount: (_, accountId) => ({
        accountId,
        claims: (use) => {
          const claims = use === 'id_token' ? idToken : (userInfo ?? BOTH);
          return { sub: accountId, ...claims(people.get(accountId)!) };
        },
      }),
    };
    const provider = new Provider(shape.hasSlash === true ? `${issuer}/` : issuer, configuration);
    provider.use(async (context, next) => {
      await next();
      if (context.path !== '/.well-known/openid-configuration') return;
      const document = context.body as Record<string, unknown>;
      if (supported === null) delete document['token_endpoint_auth_methods_supported'];
      context.body = shape.discovery?.(document) ?? document;
    });
    return provider;
  };
  let opened: { provider: Provider; shape: ProviderShape } | null = null;
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', issuer);
    if (opened === null) return void response.writeHead(503).end();
    const { provider, shape } = opened;
    if (url.pathname === '/auth') asked.push(url.searchParams);
    if (url.pathname === '/token') {
      const { authorization = null } = request.headers;
      tokenRequests.push(authorization);
      // oidc-provider itself accepts both methods from a client that is registered for one.
      if ((authorization !== null) !== (shape.registered === 'client_secret_basic'))
        return void response
          .writeHead(401, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: 'invalid_client' }));
    }
    if (url.pathname === '/me' && shape.answerUserInfo !== undefined)
      return shape.answerUserInfo(request, response);
    if (!url.pathname.startsWith('/interaction/')) return void provider.callback()(request, response);
    void (async () => {
      const { prompt, params } = await provider.interactionDetails(request, response);
      if (subject === null)
        return provider.interactionFinished(request, response, { error: 'access_denied' });
      if (prompt.name === 'login')
        return provider.interactionFinished(request, response, { login: { accountId: subject } });
      const grant = new provider.Grant({ accountId: subject, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid email');
      const grantId = await grant.save();
      return provider.interactionFinished(request, response, { consent: { grantId } });
    })();
  });
  return {
    issuer,
    asked,
    tokenRequests,
    signIn(who) {
      subject = who?.email ?? null;
      if (who !== null) people.set(who.email, who);
    },
    open(redirectUri, shape = {}) {
      opened = { provider: open(redirectUri, shape), shape };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
