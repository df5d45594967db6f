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
    ['postgres://u:p@h/d', 'postgres://u:p@h/d'],
    ['postgresql://h', 'postgresql://h/'],
    ['postgresql://h:1/d//', 'postgresql://h:1/d'],
    ['postgresql://u:p%40%2F%25@[::1]:5432/d', 'postgresql://u:p%40%2F%25@[::1]:5432/d'],
    ['postgresql://é:ü@h/ñ', 'postgresql://é:ü@h/%C3%B1'],
    ['postgresql://a:1,b:2/d', 'postgresql://a:1,b:2/d'],
    // Sockets: Google's form, libpq's form with a port, and libpq's form with the folder as the host.
    ['postgresql://u@/d?host=/cloudsql/p:r:i', 'postgresql://u@%2Fcloudsql%2Fp%3Ar%3Ai/d'],
    ['postgresql://u:p@localhost/d?host=/cloudsql/p:r:i', 'postgresql://u:p@%2Fcloudsql%2Fp%3Ar%3Ai/d'],
    ['postgresql:///d?host=/var/run/postgresql&port=5433', 'postgresql://%2Fvar%2Frun%2Fpostgresql:5433/d'],
    ['postgresql://u@?host=/run&user=v', 'postgresql://u@%2Frun/?user=v'],
    ['postgresql://u@%2Fvar%2Frun:5433/d', 'postgresql://u@%2Fvar%2Frun:5433/d'],
    // Parameters of libpq that the driver does not know or misinterprets.
    ['postgresql://a,b:7/d?port=1', 'postgresql://a:1,b:1/d'],
    ['postgresql://h?dbname=d%2Fe&sslmode=require', 'postgresql://h/d/e?sslmode=require'],
    ['postgresql://h/d%2Fe%20f', 'postgresql://h/d/e%20f'],
    [
      'postgresql://h/d?options=-c%20geqo%3Doff&unknown=',
      'postgresql://h/d?options=-c%20geqo%3Doff&unknown=',
    ],
    ['postgresql://h/d?schema=public&sslmode=no-verify', 'postgresql://h/d?schema=public&sslmode=no-verify'],
  ])('reads %s as %s', (url, address) => {
    expect(read(url)).toBe(address);
    expect(read(address)).toBe(address);
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
    ['postgres:///d?host=leaked,', 'must name a host'],
    ['postgres://leaked:70000/d', PORT],
    ['postgres://leaked:0/d', PORT],
    ['postgres://leaked:/d', PORT],
    ['postgres://leaked:port/d', PORT],
    ['postgres://leaked:1,h:65536/d', PORT],
    ['postgres:///d?host=/leaked&port=70000', PORT],
    ['postgres:///d?host=a,b&port=1,2', PORT],
    ['postgres://[leaked/d', SERVERS],
    ['postgres://leaked^/d', SERVERS],
    ['postgres://h/lea%3Fked', 'must name a database without @, ? and #'],
    ['postgres://h/d?sslmode=leaked', /^must have one of disable, .* as its sslmode$/],
    ['postgres://h/d?sslnegotiation=leaked', /as its sslnegotiation$/],
    ['postgres://h/d?target_session_attrs=standby', /as its target_session_attrs$/],
  ])('refuses %j without quoting it', (url, fault) => {
    const found = faultOf(() => read(url));
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/leaked|Invalid URL|malformed/);
  });
});

const NODES = [
  { host: 'a', port: 1 },
  { host: 'b.internal', port: 65_535 },
];

describe('parseRedisAddress', () => {
  it.each([
    ['redis://u:p@h:1/2?family=6', { kind: 'server', isTls: false, url: 'redis://u:p@h:1/2?family=6' }],
    ['rediss://h//', { kind: 'server', isTls: true, url: 'rediss://h' }],
    [
      'redis+sentinel://a:1/main',
      { kind: 'sentinel', isTls: false, nodes: [NODES[0]], master: 'main', db: 0 },
    ],
    [
      'redis+sentinel+tls://app:p%40%3A%2F@a:1,b.internal:65535/my%20main/3',
      {
        kind: 'sentinel',
        isTls: true,
        nodes: NODES,
        username: 'app',
        password: 'p@:/',
        master: 'my main',
        db: 3,
      },
    ],
    ['redis+cluster://a:1,b.internal:65535/', { kind: 'cluster', isTls: false, nodes: NODES }],
    [
      'redis+cluster+tls://:secret@[::1]:7000',
      { kind: 'cluster', isTls: true, nodes: [{ host: '::1', port: 7_000 }], password: 'secret' },
    ],
  ])('parses %s', (text, address) => {
    expect(parseRedisAddress(text)).toEqual(address);
  });

  it('accepts a colon in the password', () => {
    expect(parseRedisAddress('redis+sentinel://u:a:b@h:1/main')).toMatchObject({
      username: 'u',
      password: 'a:b',
    });
  });

  const SCHEME = /^must be an address that begins with redis:\/\/ or rediss:\/\/ or redis\+sentinel:/;
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
    ['redis://leaked/zero', 'must have a number as its database, at the end'],
    ['redis+sentinel://leaked:1/main/first', 'must have a number as its database, at the end'],
    ['redis+sentinel://leaked:1/main/1/2', 'must have a number as its database, at the end'],
    ['redis+sentinel://leaked:1', /^must name a master after the sentinels/],
    ['redis+sentinel://leaked/main', 'must have a port for each host: host:port'],
    ['redis+cluster://leaked', 'must have a port for each host: host:port'],
    ['redis+cluster://leaked:1/0', 'must have nothing after the hosts of a cluster'],
    ['redis+cluster://leaked:1?family=6', /^must have no query/],
    ['redis://leaked@h', 'must have a password for its user: user:password@'],
    ['redis+sentinel://leaked:@h:1/main', 'must have a password for its user: user:password@'],
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
    ['https://h/leaked%', 'must percent-encode a literal % as %25'],
    ['https://h/leaked%ff', 'must percent-encode a literal % as %25'],
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
