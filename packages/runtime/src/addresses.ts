/**
 * Parsers of addresses. They throw an Error with a message that completes the sentence "NAME …". The message repeats no part of the
 * address, which may contain a password.
 */

/** The parts of an address, still percent-encoded. */
interface AddressParts {
  scheme: string;
  /** `user:password`, or empty. */
  user: string;
  /** `host:port`, or several with commas between them. */
  hosts: string;
  path: string;
  query: string;
}

const PARTS = /^[a-z+]+:\/\/(?:([^@/?#]*)@)?([^@/?#]*)((?:\/[^@?#]*)?)(?:\?([^@#]*))?$/;
const SERVER = /^(\[[0-9a-f:.]+\]|[^@:[\]]*)(?::(.*))?$/i;
const PORT_MAX = 65_535;

/** Splits the address of a server, which may contain a user and a password. @throws Error */
export function splitAddress(text: string, schemes: readonly string[]): AddressParts {
  const scheme = readScheme(text, schemes);
  const parts = PARTS.exec(text);
  if (parts === null || !isPercentEncoded(text))
    throw new Error(
      'must have user and password percent-encoded in UTF-8, and any other %, # and @: % as %25, # as %23, / as %2F, ? as %3F, @ as %40',
    );
  const [, user = '', hosts = '', path = '', query = ''] = parts;
  return { scheme, user, hosts, path, query };
}

/** Parses an address with only a scheme, host, port and path, and returns it without trailing slashes. @throws Error */
export function parsePlainAddress(text: string, schemes: readonly string[]): string {
  readScheme(text, schemes);
  if (/[@?#]/.test(text)) throw new Error('must be an address without @, ? and #');
  if (!isPercentEncoded(text)) throw new Error('must percent-encode a literal % as %25');
  splitServer(/^[a-z+]+:\/\/([^/]*)/.exec(text)?.[1] ?? '');
  if (!URL.canParse(text)) throw new Error('must name a valid host');
  return text.replace(/(?<!\/)\/+$/, '');
}

function readScheme(text: string, schemes: readonly string[]): string {
  const scheme = schemes.find((one) => text.startsWith(`${one}://`));
  if (scheme === undefined)
    throw new Error(`must be an address that begins with ${schemes.map((one) => `${one}://`).join(' or ')}`);
  if (/[\s\p{Cc}\p{Cf}]|%[01][0-9a-f]|%7f/iu.test(text))
    throw new Error('must not contain white space, control or invisible characters; write % itself as %25');
  return scheme;
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Splits `host` or `host:port`. @throws Error */
export function splitServer(server: string): { host: string; port: number | null } {
  const [, host, digits] = SERVER.exec(server) ?? [];
  if (host === '') throw new Error('must name a host');
  if (host === undefined || !URL.canParse(`any://${host}`))
    throw new Error('must name each server as host or host:port, with an IPv6 address in square brackets');
  if (digits === undefined) return { host, port: null };
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > PORT_MAX) throw new Error(`must have a port from 1 to ${PORT_MAX}`);
  return { host, port };
}

/** The values that PostgreSQL's driver knows for these parameters. It silently misinterprets other values. */
const DATABASE_WORDS: Readonly<Record<string, readonly string[]>> = {
  target_session_attrs: ['read-write', 'primary', 'any'],
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  sslnegotiation: ['postgres', 'direct'],
};

/**
 * Parses a PostgreSQL address, and returns it in the form that the driver accepts: as in libpq, the parameters `host`, `port` and
 * `dbname` replace the URL's own, and `host` may be the folder of a socket.
 *
 * @throws Error
 */
export function parseDatabaseAddress(text: string): string {
  const { scheme, user, hosts, path, query } = splitAddress(text, ['postgres', 'postgresql']);
  const given = query.split('&').filter((parameter) => parameter !== '');
  const valueOf = (name: string): string | undefined => {
    const value = given.findLast((parameter) => parameter.startsWith(`${name}=`));
    return value && decodeURIComponent(value.slice(name.length + 1));
  };
  const servers = (valueOf('host') || hosts).split(',').map((host) => readServer(host, valueOf('port')));
  const name = valueOf('dbname') ?? decodeURIComponent(path).replace(/^\/|(?<!\/)\/+$/g, '');
  if (/[@?#]/.test(name)) throw new Error('must name a database without @, ? and #');
  for (const [parameter, words] of Object.entries(DATABASE_WORDS))
    if (!words.includes(valueOf(parameter) ?? words[0]!))
      throw new Error(`must have one of ${words.join(', ')} as its ${parameter}`);
  if (given.some((parameter) => parameter.startsWith('schema=') && parameter !== 'schema=public'))
    throw new Error('must not name a schema other than public, which contains all tables');
  const others = given.filter((parameter) => !/^(?:host|port|dbname)=/.test(parameter)).join('&');
  return `${scheme}://${user && `${user}@`}${servers.join(',')}/${encodeURI(name)}${others && `?${others}`}`;
}

/** Returns a server as `host:port`, with the folder of a socket percent-encoded. @param givenPort replaces the server's own */
function readServer(server: string, givenPort?: string): string {
  const { host, port } = splitServer(server.startsWith('/') ? encodeURIComponent(server) : server);
  const used = givenPort ? splitServer(`h:${givenPort}`).port : port;
  return used === null ? host : `${host}:${used}`;
}
