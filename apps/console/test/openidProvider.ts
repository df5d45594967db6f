import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT = {
  OIDC_CLIENT_ID: 'onecode-console',
  OIDC_CLIENT_SECRET: 'a secret of the tests',
};

/** Whom a provider signs in. */
export interface Identified {
  email: string;
  isVerified: boolean;
}

/** An OpenID provider on this machine, by another site's name than the console's, which asks nobody anything. */
export interface OpenidProvider {
  issuer: string;
  /** Whom it signs in from now on. */
  signIn(who: Identified): void;
  /** The query of every authorization that it was asked for. */
  asked: URLSearchParams[];
  /** Opens it, for a client at this address. Until then it answers 503, as one that is down. */
  open(redirectUri: string): void;
  close(): Promise<void>;
}

export async function startOpenidProvider(): Promise<OpenidProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Identified>();
  const asked: URLSearchParams[] = [];
  let subject = 'nobody';
  const open = (redirectUri: string): Provider =>
    new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.OIDC_CLIENT_ID,
          client_secret: CLIENT.OIDC_CLIENT_SECRET,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      pkce: { required: () => true },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'key' }] },
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
      features: { devInteractions: { enabled: false } },
      cookies: { keys: ['a key of the tests'] },
      findAccount: (_, accountId) => ({
        accountId,
        claims: () => {
          const { email, isVerified } = people.get(accountId)!;
          return { sub: accountId, email, email_verified: isVerified };
        },
      }),
    });
  let provider: Provider | null = null;
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', issuer);
    const opened = provider;
    if (opened === null) return void response.writeHead(503).end();
    if (url.pathname === '/auth') asked.push(url.searchParams);
    if (!url.pathname.startsWith('/interaction/')) return void opened.callback()(request, response);
    void (async () => {
      const { prompt, params } = await opened.interactionDetails(request, response);
      if (prompt.name === 'login')
        return opened.interactionFinished(request, response, { login: { accountId: subject } });
      const grant = new opened.Grant({ accountId: subject, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid email');
      const grantId = await grant.save();
      return opened.interactionFinished(request, response, { consent: { grantId } });
    })();
  });
  return {
    issuer,
    asked,
    signIn(who) {
      subject = who.email;
      people.set(subject, who);
    },
    open(redirectUri) {
      provider = open(redirectUri);
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
