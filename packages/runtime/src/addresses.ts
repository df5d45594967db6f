/**
 * Parsers of addresses. They throw an Error with a message that completes the sentence "NAME …". The message repeats no part of the
 * address, which may contain a password.
 */

const ADDRESS =
  /^([a-z+]+:\/\/(?:[^\s@/?#]*@)?)([^\s@/?#,]+(?:,[^\s@/?#,]+)*)((?:\/[^\s@?#]*)?(?:\?[^\s@#]*)?)$/;

/** Parses `scheme://user:password@host:port,host:port/path?query`. @returns one URL for each server @throws Error */
function parseServers(text: string, schemes: readonly string[]): [URL, ...URL[]] {
  if (!schemes.some((scheme) => text.startsWith(`${scheme}://`)))
    throw new Error(`must be an address that begins with ${schemes.map((one) => `${one}://`).join(' or ')}`);
  try {
    const [, before, servers, after] = ADDRESS.exec(text) as unknown as [string, string, string, string];
    if (/\p{C}/u.test(decodeURIComponent(text))) throw new Error('invisible characters');
    return servers.split(',').map((server) => new URL(before + server + after)) as [URL, ...URL[]];
  } catch {
    throw new Error(
      'must have a valid host and port, no white space, and user and password percent-encoded: % as %25, # as %23, / as %2F, ? as %3F, @ as %40',
    );
  }
}

/** Parses the address of one server. @throws Error */
export function parseServerAddress(text: string, schemes: readonly string[]): URL {
  const [url, ...others] = parseServers(text, schemes);
  if (others.length > 0) throw new Error('must name one host');
  return url;
}

/** Checks an HTTP address with only a scheme, host, port and path, and returns it without trailing slashes. @throws Error */
export function parsePlainAddress(text: string): string {
  if (/[@?#]/.test(text)) throw new Error('must be an address without @, ? and #');
  parseServerAddress(text, ['http', 'https']);
  return text.replace(/(?<!\/)\/+$/, '');
}

/**
 * Checks a PostgreSQL address. It names one or several servers, or the folder of a socket in the parameter `host`. The driver reads the
 * other parameters, but three are rejected. The driver would ignore `schema`, which Prisma reads, and `dbname`, which libpq reads;
 * `options` would replace the settings of our sessions. `schema=public` is allowed.
 *
 * @returns the same text
 * @throws Error
 */
export function checkDatabaseAddress(text: string): string {
  const withHost = /[?&]host=[^&]/.test(text) ? text.replace(/(\/\/|@)(?=[/?])/, '$1socket') : text;
  const [{ searchParams }] = parseServers(withHost, ['postgres', 'postgresql']);
  if (searchParams.getAll('schema').some((schema) => schema !== 'public'))
    throw new Error('must have public as its schema');
  if (searchParams.has('dbname')) throw new Error('must name the database in its path, not as dbname');
  if (searchParams.has('options'))
    throw new Error('must not have options: set defaults of the role or the database instead');
  return text;
}

const REDIS_SCHEMES = [
  'redis',
  'rediss',
  'redis+sentinel',
  'redis+sentinel+tls',
  'redis+cluster',
  'redis+cluster+tls',
];

/** The pattern of the text after the servers, for each kind of address. */
const REDIS_PATHS = {
  server: /^\/?(?<db>\d*)$/,
  sentinel: /^\/(?<master>[^/?]+)(?:\/(?<db>\d+))?\/?$/,
  cluster: /^\/?$/,
};

/**
 * Parses a Redis address: `redis://` or `rediss://` for one server, `redis+sentinel://` for a master behind sentinels, `redis+cluster://`
 * for a cluster. The last two use TLS as `redis+sentinel+tls://` and `redis+cluster+tls://`.
 *
 * @returns its parts; `master` is the name of the sentinels' master
 * @throws Error
 */
export function parseRedisAddress(text: string) {
  const urls = parseServers(text, REDIS_SCHEMES);
  const { protocol, username, password, pathname, search } = urls[0];
  const kind = (/\+(sentinel|cluster)/.exec(protocol)?.[1] ?? 'server') as keyof typeof REDIS_PATHS;
  const path = REDIS_PATHS[kind].exec(pathname + search);
  if (path === null || (kind === 'server' && urls.length > 1))
    throw new Error(
      'must have the form redis://host:port/1, redis+sentinel://host:port,host:port/MASTER/1 or redis+cluster://host:port,host:port',
    );
  const { master = '', db = '0' } = path.groups ?? {};
  return {
    kind,
    isTls: protocol === 'rediss:' || protocol.endsWith('+tls:'),
    servers: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      ...(port !== '' && { port: Number(port) }),
    })),
    user: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
    master: decodeURIComponent(master),
    db: Number(db),
  };
}
