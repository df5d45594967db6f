import {
  databaseAddress,
  keyPrefix,
  parsePlainAddress,
  parseRedisAddress,
  readConfig,
} from '@onecode/runtime';

const NOT_ENCODED =
  /^must have user and password percent-encoded .* % as %25, # as %23, \/ as %2F, \? as %3F, @ as %40$/;
const INVISIBLE = /^must not contain white space, control or invisible characters/;
const PORT = 'must have a port from 1 to 65535';
const SERVERS = /^must name each server as host or host:port/;

/** Returns the variable's fault without its name; null without a fault. */
function faultOf(parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    return (error as Error).message.replace(/^URL /, '');
  }
}

/** A refused address and its fault. */
type Refused = [url: string, fault: string | RegExp];

/** Texts that truncate an address if they occur in a user or a password. */
const UNENCODED = [
  'lea%ked',
  'lea%2ked%',
  'leaked%ff',
  'lea#ked',
  'lea/ked',
  'lea?ked',
  'lea@ked',
  '12#leaked',
  '12/leaked',
  '12?leaked',
];

describe('databaseAddress', () => {
  const read = (url: string): string => readConfig({ URL: url }, { URL: databaseAddress() }).URL;

  it.each([
    'postgres://u:p@h/d',
    'postgresql://h',
    'postgresql://u:p%40%2F%25@[::1]:5432/d',
    'postgresql://é:ü@h/ñ',
    'postgresql://a:1,b:2/d',
    // Sockets: Google's form, libpq's form with a port, and libpq's form with the folder as the host.
    'postgresql://u@/d?host=/cloudsql/p:r:i',
    'postgresql:///d?host=/var/run/postgresql&port=5433',
    'postgresql://u@%2Fvar%2Frun:5433/d',
    'postgresql://h/d?options=-c%20geqo%3Doff&unknown=',
    'postgresql://h/d?schema=public&sslmode=no-verify',
  ])('accepts %s', (url) => {
    expect(read(url)).toBe(url);
  });

  it.each<Refused>([
    ...UNENCODED.flatMap((text) => [
      [`postgres://u:${text}@h/d`, NOT_ENCODED] as Refused,
      [`postgres://${text}:p@h/d`, NOT_ENCODED] as Refused,
    ]),
    ['postgres://h/leaked%', NOT_ENCODED],
    ['postgres://h/d?sslrootcert=%ff', NOT_ENCODED],
    ['mysql://leaked', 'must be an address that begins with postgres:// or postgresql://'],
    ['postgres:/leaked', 'must be an address that begins with postgres:// or postgresql://'],
    ['leaked', 'must be an address that begins with postgres:// or postgresql://'],
    ['postgres://u:lea ked@h/d', INVISIBLE],
    ['postgres://u:lea\nked@h/d', INVISIBLE],
    ['postgres://u:lea\u0001ked@h/d', INVISIBLE],
    ['postgres://u:lea\u200bked@h/d', INVISIBLE],
    ['postgres://u:leaked%00@h/d', INVISIBLE],
    ['postgres://', 'must name a host'],
    ['postgres:///leaked', 'must name a host'],
    ['postgres://u:leaked@/d', 'must name a host'],
    ['postgres://:5432/d', 'must name a host'],
    ['postgres://leaked,,b/d', 'must name a host'],
    ['postgres:///d?host=', 'must name a host'],
    ['postgres://leaked:70000/d', PORT],
    ['postgres://leaked:0/d', PORT],
    ['postgres://leaked:/d', PORT],
    ['postgres://leaked:port/d', PORT],
    ['postgres://leaked:1,h:65536/d', PORT],
    ['postgres://[leaked/d', SERVERS],
    ['postgres://leaked^/d', SERVERS],
    ['postgres://h/d?schema=leaked', 'must have public as its schema'],
    ['postgres://h?dbname=leaked', 'must name the database in its path, not as dbname'],
  ])('refuses %j without quoting it', (url, fault) => {
    const found = faultOf(() => read(url));
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/leaked|Invalid URL|malformed/);
  });
});

const SERVERS_TWO = [
  { host: 'a', port: 1 },
  { host: 'b.internal', port: 65_535 },
];

describe('parseRedisAddress', () => {
  it.each([
    ['redis://u:p@h:1/2?family=6', { kind: 'server', isTls: false, url: 'redis://u:p@h:1/2?family=6' }],
    ['rediss://h/', { kind: 'server', isTls: true, url: 'rediss://h/' }],
    [
      'redis+sentinel://a/main',
      { kind: 'sentinel', isTls: false, servers: [{ host: 'a' }], user: {}, master: 'main', db: 0 },
    ],
    [
      'redis+sentinel+tls://app:p%40%3A%2F@a:1,b.internal:65535/my%20main/3',
      {
        kind: 'sentinel',
        isTls: true,
        servers: SERVERS_TWO,
        user: { username: 'app', password: 'p@:/' },
        master: 'my main',
        db: 3,
      },
    ],
    [
      'redis+cluster://a:1,b.internal:65535/',
      { kind: 'cluster', isTls: false, servers: SERVERS_TWO, user: {} },
    ],
    [
      'redis+cluster+tls://:secret@[::1]:7000',
      {
        kind: 'cluster',
        isTls: true,
        servers: [{ host: '::1', port: 7_000 }],
        user: { password: 'secret' },
      },
    ],
  ])('parses %s', (text, address) => {
    expect(parseRedisAddress(text)).toEqual(address);
  });

  it('accepts a colon in the password', () => {
    expect(parseRedisAddress('redis+sentinel://u:a:b@h:1/main')).toMatchObject({
      user: { username: 'u', password: 'a:b' },
    });
  });

  const SCHEME = /^must be an address that begins with redis:\/\/ or rediss:\/\/ or redis\+sentinel:/;
  const MASTER = /^must end with the name of the master, and may add the number of a database/;
  it.each<Refused>([
    ...UNENCODED.flatMap((text) =>
      ['redis://:TEXT@h', 'redis+sentinel://TEXT:p@h:1/main', 'redis+cluster+tls://u:TEXT@h:1'].map(
        (url) => [url.replace('TEXT', text), NOT_ENCODED] as Refused,
      ),
    ),
    ['redis://:50%pass@host:6379', NOT_ENCODED],
    ['', SCHEME],
    ['http://leaked', SCHEME],
    ['redis:/leaked', SCHEME],
    ['rediss+sentinel://leaked:1/main', SCHEME],
    ['redis://:lea ked@h', INVISIBLE],
    ['redis+sentinel://lea\tked:1/main', INVISIBLE],
    ['redis://', 'must name a host'],
    ['redis://:leaked@/0', 'must name a host'],
    ['redis+sentinel://leaked:1,,leaked:2/main', 'must name a host'],
    ['redis://leaked:70000', PORT],
    ['redis+sentinel://leaked:65536/main', PORT],
    ['redis://leaked:1,leaked:2', /^must name one server: redis\+sentinel:/],
    ['redis://leaked/zero', 'must have nothing but the number of a database at its end'],
    ['redis+sentinel://leaked:1/main/first', MASTER],
    ['redis+sentinel://leaked:1/main/1/2', MASTER],
    ['redis+sentinel://leaked:1', MASTER],
    ['redis+cluster://leaked:1/0', 'must have nothing after the hosts of a cluster'],
    ['redis+cluster://leaked:1?family=6', /^must have no query/],
  ])('refuses %j without quoting it', (url, fault) => {
    const found = faultOf(() => parseRedisAddress(url));
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/leaked|pass@|Invalid URL|malformed/);
  });
});

describe('parsePlainAddress', () => {
  const SCHEMES = ['http', 'https'];

  it.each([
    ['https://x.test/v25.0//', 'https://x.test/v25.0'],
    ['http://[::1]:1', 'http://[::1]:1'],
    ['https://ü.test/%C3%BC', 'https://ü.test/%C3%BC'],
  ])('reads %s as %s', (url, address) => {
    expect(parsePlainAddress(url, SCHEMES)).toBe(address);
  });

  const SCHEME = 'must be an address that begins with http:// or https://';
  it.each([
    ['leaked', SCHEME],
    ['leaked:3000', SCHEME],
    ['https:/leaked', SCHEME],
    ['ftp://leaked', SCHEME],
    ['https://lea ked', INVISIBLE],
    ['https://', 'must name a host'],
    ['https:///leaked', 'must name a host'],
    ['https://:443', 'must name a host'],
    ['https://leaked:70000', PORT],
    ['https://leaked:port', PORT],
    ['https://user:leaked@h', 'must be an address without @, ? and #'],
    ['https://h/?leaked', 'must be an address without @, ? and #'],
    ['https://h/#leaked', 'must be an address without @, ? and #'],
    ['https://h/leaked%', NOT_ENCODED],
    ['https://h/leaked%ff', NOT_ENCODED],
    ['https://leaked.1.2.3.4.5', 'must name a valid host'],
    ['https://lea<ked', SERVERS],
  ])('refuses %j without quoting it', (url, fault) => {
    const found = faultOf(() => parsePlainAddress(url, SCHEMES));
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/leaked|Invalid URL|malformed/);
  });
});

it.each([
  ['redis://h', 'onecode', 'onecode'],
  ['redis+sentinel://h:1/main', 'onecode', 'onecode'],
  ['redis+cluster://h:1', 'onecode', '{onecode}'],
  ['redis+cluster+tls://h:1', 'a{b}c', 'a{b}c'],
  ['redis+cluster://h:1', '{}', '{{}}'],
])('keyPrefix for %s with QUEUE_PREFIX=%s returns %s', (url, prefix, keys) => {
  expect(keyPrefix(url, prefix)).toBe(keys);
});
