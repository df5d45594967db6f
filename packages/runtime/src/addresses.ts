/**
 * Parsers of addresses. They throw an Error with a message that completes the sentence "NAME …". The message repeats no part of the
 * address, which may contain a password.
 */

/** The parts of the address of one or several servers. */
export interface Address {
  scheme: string;
  user: { username?: string; password?: string };
  /** Empty if the parameter `host` names the server, as in `postgresql:///onecode?host=/var/run/postgresql`. */
  servers: Server[];
  /** Still percent-encoded, like the query. */
  path: string;
  query: string;
}

/** A server, without the brackets of an IPv6 address. */
interface Server {
  host: string;
  port?: number;
}

const PARTS = /^[a-z+]+:\/\/(?:([^@/?#]*)@)?([^@/?#]*)((?:\/[^@?#]*)?)(?:\?([^@#]*))?$/;
const SERVER = /^(?:\[([0-9a-f:.]+)\]|([^@:[\]]*))(?::(.*))?$/i;
const PORT_MAX = 65_535;

/** Parses an address of the form `scheme://user:password@host:port,host:port/path?query`. @throws Error */
export function parseAddress(text: string, schemes: readonly string[]): Address {
  const scheme = schemes.find((one) => text.startsWith(`${one}://`));
  if (scheme === undefined)
    throw new Error(`must be an address that begins with ${schemes.map((one) => `${one}://`).join(' or ')}`);
  if (/[\s\p{Cc}\p{Cf}]|%[01][0-9a-f]|%7f/iu.test(text))
    throw new Error('must not contain white space, control or invisible characters; write % itself as %25');
  const parts = PARTS.exec(text);
  if (parts === null || !isPercentEncoded(text))
    throw new Error(
      'must have user and password percent-encoded in UTF-8, and any other %, # and @: % as %25, # as %23, / as %2F, ? as %3F, @ as %40',
    );
  const [, user = '', hosts = '', path = '', query = ''] = parts;
  const [username = '', ...rest] = user.split(':').map(decodeURIComponent);
  const password = rest.join(':');
  return {
    scheme,
    user: { ...(username !== '' && { username }), ...(password !== '' && { password }) },
    servers: hosts === '' && /(?:^|&)host=[^&]/.test(query) ? [] : hosts.split(',').map(parseServer),
    path,
    query,
  };
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Parses `host` or `host:port`. @throws Error */
function parseServer(text: string): Server {
  const [, v6, name, digits] = SERVER.exec(text) ?? [];
  const host = v6 ?? name;
  if (host === '') throw new Error('must name a host');
  if (host === undefined || !URL.canParse(`any://${v6 === undefined ? host : `[${v6}]`}`))
    throw new Error('must name each server as host or host:port, with an IPv6 address in square brackets');
  if (digits === undefined) return { host };
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > PORT_MAX) throw new Error(`must have a port from 1 to ${PORT_MAX}`);
  return { host, port };
}

/** Parses the address of one server. @throws Error */
export function parseServerAddress(text: string, schemes: readonly string[]): Address {
  const parsed = parseAddress(text, schemes);
  if (parsed.servers.length !== 1) throw new Error('must name one host');
  return parsed;
}

/** Checks an address with only a scheme, host, port and path, and returns it without trailing slashes. @throws Error */
export function parsePlainAddress(text: string, schemes: readonly string[]): string {
  if (/[@?#]/.test(text)) throw new Error('must be an address without @, ? and #');
  parseServerAddress(text, schemes);
  if (!URL.canParse(text)) throw new Error('must name a valid host');
  return text.replace(/(?<!\/)\/+$/, '');
}

/**
 * Checks a PostgreSQL address, which may name several servers, or the folder of a socket in the parameter `host`. The driver reads the
 * other parameters, but would ignore a schema, which Prisma's addresses may name, and `dbname`, which libpq's may.
 *
 * @returns the same text
 * @throws Error
 */
export function checkDatabaseAddress(text: string): string {
  const { query } = parseAddress(text, ['postgres', 'postgresql']);
  const parameters = new URLSearchParams(query);
  if (parameters.getAll('schema').some((schema) => schema !== 'public'))
    throw new Error('must have public as its schema');
  if (parameters.has('dbname')) throw new Error('must name the database in its path, not as dbname');
  return text;
}
