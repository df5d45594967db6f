import { changeOf, integer, oneOf, orNull, type Member } from './input.js';
import { graphError, metaError, type MetaError } from './errors.js';

/** What an access token must be allowed to do: read and manage, or send. */
export type Scope = 'whatsapp_business_management' | 'whatsapp_business_messaging';

/** What Meta knows of an access token. */
export interface TokenState {
  /** `false` once it was revoked. */
  valid: boolean;
  scopes: readonly string[];
  /** Unix seconds; 0 never expires. */
  expiresAt: number;
  /** The business accounts that it was given; `null` is every one. */
  wabaIds: readonly string[] | null;
}

export interface Token extends Partial<TokenState> {
  token: string;
}

const DEFAULTS: TokenState = {
  valid: true,
  scopes: ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'],
  expiresAt: 0,
  wabaIds: null,
};

const texts: Member = {
  fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  wanted: 'a list of texts',
};
const MEMBERS: Readonly<Record<keyof TokenState, Member>> = {
  valid: oneOf(true, false),
  scopes: texts,
  expiresAt: integer(0, 10_000_000_000),
  wabaIds: orNull(texts),
};

/** The access tokens: every text is a valid one that may do everything, unless something else was said of it. */
export class Tokens {
  readonly #configured: ReadonlyMap<string, Token>;
  readonly #changes = new Map<string, Partial<TokenState>>();

  constructor(tokens: readonly Token[]) {
    this.#configured = new Map(tokens.map((token) => [token.token, token]));
  }

  describe(value: string): TokenState {
    const { token: _token, ...configured } = this.#configured.get(value) ?? {};
    return { ...DEFAULTS, ...configured, ...this.#changes.get(value) };
  }

  isValid(value: string, now = Date.now()): boolean {
    const { valid, expiresAt } = this.describe(value);
    return valid && (expiresAt === 0 || expiresAt * 1000 > now);
  }

  /** Why this token may not do this with what belongs to a business account; `null` when it may. */
  refusal(value: string, scope: Scope, wabaId: string, unknown: () => MetaError): MetaError | null {
    if (!this.isValid(value)) return this.describe(value).valid ? expired(value, this) : invalidToken();
    const { scopes, wabaIds } = this.describe(value);
    if (!scopes.includes(scope)) return missing(scope);
    return wabaIds === null || wabaIds.includes(wabaId) ? null : unknown();
  }

  /** Changes what is named, which may come from parsed JSON. @throws {InvalidInput} */
  change(value: string, values: unknown): TokenState {
    const change = changeOf<TokenState>(values, MEMBERS);
    this.#changes.set(value, { ...this.#changes.get(value), ...change });
    return this.describe(value);
  }

  reset(): void {
    this.#changes.clear();
  }
}

/** The bearer token of an `Authorization` header, `undefined` without one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

export const noToken = () => graphError(401, 190, 'An access token is required to request this resource.');

export const invalidToken = () =>
  graphError(401, 190, 'Invalid OAuth access token - Cannot parse access token');

function expired(value: string, tokens: Tokens): MetaError {
  const at = new Date(tokens.describe(value).expiresAt * 1000).toUTCString();
  return graphError(
    401,
    190,
    `Error validating access token: Session has expired on ${at}. The current time is ${new Date().toUTCString()}.`,
    { subcode: 463 },
  );
}

function missing(scope: Scope): MetaError {
  if (scope === 'whatsapp_business_messaging')
    return metaError(10, { message: 'Application does not have permission for this action' });
  return graphError(403, 200, `(#200) Requires ${scope} permission to manage the object`);
}
