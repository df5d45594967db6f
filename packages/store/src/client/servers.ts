import pg from 'pg';

/** The database answers, and must not be used as it is configured. The message is one line for operators, without a value of theirs. */
export class UnusableDatabase extends Error {}

/** The servers that an address names, of which one takes all connections. */
export interface Servers {
  /** The address of each server alone, as the driver takes it. */
  readonly urls: readonly string[];
  /** Start-up options that the address gives. */
  readonly options: string;
  /** Whether only a server will do that takes writes: `target_session_attrs`, which several servers have without being told. */
  readonly isWriter: boolean;
}

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** Those that the driver takes for `verify-full` unless the address says `uselibpqcompat=true`. */
const VERIFYING = new Set(['prefer', 'require', 'verify-ca']);

const HOSTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

/**
 * Reads an address of PostgreSQL, which may name several servers: `postgres://user@one:5432,two:5432/database`.
 *
 * @throws UnusableDatabase when it cannot be read, or a file that it names cannot
 */
export function parseServers(url: string): Servers {
  const [, before = '', hosts = '', after = ''] = HOSTS.exec(url) ?? [];
  const addresses = hosts.split(',').map((host) => before + host + after);
  if (before === '' || !addresses.every((address) => URL.canParse(address)))
    throw new UnusableDatabase('the address of PostgreSQL must begin with postgres:// or postgresql://');
  const parsed = addresses.map((address) => new URL(address));
  const { searchParams } = parsed[0] as URL;
  const attributes = searchParams.get('target_session_attrs') ?? (parsed.length > 1 ? 'read-write' : 'any');
  if (!['any', 'read-write', 'primary'].includes(attributes))
    throw new UnusableDatabase('target_session_attrs must be read-write, primary or any');
  const mode = searchParams.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new UnusableDatabase(`sslmode must be ${SSL_MODES.join(', ')}`);
  const options = searchParams.get('options') ?? '';
  for (const one of parsed) {
    // As the driver takes these without `uselibpqcompat`; of which it would warn at length.
    if (mode !== null && VERIFYING.has(mode) && searchParams.get('uselibpqcompat') !== 'true')
      one.searchParams.set('sslmode', 'verify-full');
    one.searchParams.delete('target_session_attrs');
    one.searchParams.delete('options');
  }
  const urls = parsed.map(({ href }) => href);
  for (const connectionString of urls) readFiles(connectionString);
  return { urls, options, isWriter: attributes !== 'any' };
}

/** The driver reads certificates when it makes a connection; a file that is not there is told at once. */
function readFiles(connectionString: string): void {
  try {
    void new pg.Client({ connectionString });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UnusableDatabase(
      code === undefined
        ? 'the TLS settings in the address of PostgreSQL contradict each other'
        : `a file of sslrootcert, sslcert or sslkey cannot be read (${code})`,
    );
  }
}

const TLS_REASONS: Readonly<Record<string, string>> = {
  'The server does not support SSL connections':
    'PostgreSQL offers no TLS, which sslmode asks for: turn it on there, or leave sslmode away',
  'There was an error establishing an SSL connection': 'PostgreSQL broke the start of TLS off',
  SELF_SIGNED_CERT_IN_CHAIN: 'UNKNOWN_AUTHORITY',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'UNKNOWN_AUTHORITY',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'UNKNOWN_AUTHORITY',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'UNKNOWN_AUTHORITY',
  UNKNOWN_AUTHORITY:
    'nobody whom this process trusts has signed PostgreSQL’s certificate: name its authority’s file with sslrootcert',
  CERT_HAS_EXPIRED: 'PostgreSQL’s certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'PostgreSQL’s certificate is for another host name than the one in the address',
};

/** A refusal of the first steps of a connection as an operator understands it; any other error as it is. */
export function connectionError(error: unknown): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === '08P01' && /unsupported startup parameter/i.test(message))
    return new UnusableDatabase(
      'a pooler refuses our start-up parameters: set DATABASE_POOLER to session or transaction, as its pool_mode is',
    );
  if (code === '28000' && /no encryption|SSL off/.test(message))
    return new UnusableDatabase(
      'PostgreSQL takes no connection without TLS from here: set sslmode in the address',
    );
  const reason = TLS_REASONS[code] ?? TLS_REASONS[message];
  return reason === undefined ? error : new UnusableDatabase(TLS_REASONS[reason] ?? reason);
}
