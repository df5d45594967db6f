import {
  databaseAddress,
  keyPrefix,
  parsePlainAddress,
  parseRedisAddress,
  readConfig,
} from '@onecode/runtime';

const MALFORMED = /^must have a valid host and port, .* % as %25, # as %23, \/ as %2F, \? as %3F, @ as %40$/;

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
    'postgresql://h/d?target_session_attrs=read-write&unknown=',
    'postgresql://h/d?schema=public&sslmode=no-verify',
  ])('accepts %s', (url) => {
    expect(read(url)).toBe(url);
  });

  it.each<Refused>([
    ...UNENCODED.flatMap((text) => [
      [`postgres://u:${text}@h/d`, MALFORMED] as Refused,
      [`postgres://${text}:p@h/d`, MALFORMED] as Refused,
    ]),
    ['postgres://h/leaked%', MALFORMED],
    ['postgres://h/d?sslrootcert=%ff', MALFORMED],
    ['mysql://leaked', 'must be an address that begins with postgres:// or postgresql://'],
    ['postgres:/leaked', 'must be an address that begins with postgres:// or postgresql://'],
    ['leaked', 'must be an address that begins with postgres:// or postgresql://'],
    ['postgres://u:lea ked@h/d', MALFORMED],
    ['postgres://u:lea\nked@h/d', MALFORMED],
    ['postgres://u:lea\u0001ked@h/d', MALFORMED],
    ['postgres://u:lea\u200bked@h/d', MALFORMED],
    ['postgres://u:leaked%00@h/d', MALFORMED],
    ['postgres://', MALFORMED],
    ['postgres:///leaked', MALFORMED],
    ['postgres://u:leaked@/d', MALFORMED],
    ['postgres://:5432/d', MALFORMED],
    ['postgres://leaked,,b/d', MALFORMED],
    ['postgres:///d?host=', MALFORMED],
    ['postgres://leaked:70000/d', MALFORMED],
    ['postgres://leaked:port/d', MALFORMED],
    ['postgres://leaked:1,h:65536/d', MALFORMED],
    ['postgres://[leaked/d', MALFORMED],
    ['postgres://leaked^/d', MALFORMED],
    ['postgres://h/d?schema=leaked', 'must have public as its schema'],
    ['postgres://h?dbname=leaked', 'must name the database in its path, not as dbname'],
    ['postgres://h/d?options=-c%20leaked%3Doff', 'must not have options'],
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
  const DEFAULTS = { kind: 'server', isTls: false, user: { username: '', password: '' }, master: '', db: 0 };
  it.each([
    [
      'redis://u:p%40%3A%2F@h:1/2',
      { servers: [{ host: 'h', port: 1 }], user: { username: 'u', password: 'p@:/' }, db: 2 },
    ],
    ['rediss://h/', { isTls: true, servers: [{ host: 'h' }] }],
    ['redis+sentinel://a/main', { kind: 'sentinel', servers: [{ host: 'a' }], master: 'main' }],
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
    ['redis+cluster://a:1,b.internal:65535/', { kind: 'cluster', servers: SERVERS_TWO }],
    [
      'redis+cluster+tls://:secret@[::1]:7000',
      {
        kind: 'cluster',
        isTls: true,
        servers: [{ host: '::1', port: 7_000 }],
        user: { username: '', password: 'secret' },
      },
    ],
  ])('parses %s', (text, address) => {
    expect(parseRedisAddress(text)).toEqual({ ...DEFAULTS, ...address });
  });

  it('accepts a colon in the password', () => {
    expect(parseRedisAddress('redis+sentinel://u:a:b@h:1/main')).toMatchObject({
      user: { username: 'u', password: 'a:b' },
    });
  });

  const SCHEME = /^must be an address that begins with redis:\/\/ or rediss:\/\/ or redis\+sentinel:/;
  const FORM = /^must have the form redis:\/\/host:port\/1, /;
  it.each<Refused>([
    ...UNENCODED.flatMap((text) =>
      ['redis://:TEXT@h', 'redis+sentinel://TEXT:p@h:1/main', 'redis+cluster+tls://u:TEXT@h:1'].map(
        (url) => [url.replace('TEXT', text), MALFORMED] as Refused,
      ),
    ),
    ['redis://:50%pass@host:6379', MALFORMED],
    ['', SCHEME],
    ['http://leaked', SCHEME],
    ['redis:/leaked', SCHEME],
    ['rediss+sentinel://leaked:1/main', SCHEME],
    ['redis://:lea ked@h', MALFORMED],
    ['redis+sentinel://lea\tked:1/main', MALFORMED],
    ['redis://', MALFORMED],
    ['redis://:leaked@/0', MALFORMED],
    ['redis+sentinel://leaked:1,,leaked:2/main', MALFORMED],
    ['redis://leaked:70000', MALFORMED],
    ['redis+sentinel://leaked:65536/main', MALFORMED],
    ['redis://leaked:1,leaked:2', FORM],
    ['redis://leaked/zero', FORM],
    ['redis://leaked?family=6', FORM],
    ['redis+sentinel://leaked:1/main/first', FORM],
    ['redis+sentinel://leaked:1/main/1/2', FORM],
    ['redis+sentinel://leaked:1', FORM],
    ['redis+cluster://leaked:1/0', FORM],
    ['redis+cluster://leaked:1?family=6', FORM],
    ['redis+sentinel://leaked:1/main?family=6', FORM],
  ])('refuses %j without quoting it', (url, fault) => {
    const found = faultOf(() => parseRedisAddress(url));
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/leaked|pass@|Invalid URL|malformed/);
  });
});

describe('parsePlainAddress', () => {
  it.each([
    ['https://x.test/v25.0//', 'https://x.test/v25.0'],
    ['http://[::1]:1', 'http://[::1]:1'],
    ['https://ü.test/%C3%BC', 'https://ü.test/%C3%BC'],
  ])('reads %s as %s', (url, address) => {
    expect(parsePlainAddress(url)).toBe(address);
  });

  const SCHEME = 'must be an address that begins with http:// or https://';
  it.each([
    ['leaked', SCHEME],
    ['leaked:3000', SCHEME],
    ['https:/leaked', SCHEME],
    ['ftp://leaked', SCHEME],
    ['https://lea ked', MALFORMED],
    ['https://', MALFORMED],
    ['https:///leaked', MALFORMED],
    ['https://:443', MALFORMED],
    ['https://leaked:70000', MALFORMED],
    ['https://leaked:port', MALFORMED],
    ['https://user:leaked@h', 'must be an address without @, ? and #'],
    ['https://h/?leaked', 'must be an address without @, ? and #'],
    ['https://h/#leaked', 'must be an address without @, ? and #'],
    ['https://h/leaked%', MALFORMED],
    ['https://h/leaked%ff', MALFORMED],
    ['https://leaked.1.2.3.4.5', MALFORMED],
    ['https://lea<ked', MALFORMED],
  ])('refuses %j without quoting it', (url, fault) => {
    const found = faultOf(() => parsePlainAddress(url));
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/leaked|Invalid URL|malformed/);
  });
});

it.each([
  ['redis://h', 'onecode', 'onecode'],
  ['redis+sentinel://h:1/main', 'onecode', 'onecode'],
  ['redis+cluster://h:1', 'onecode', '{onecode}'],
  ['redis+cluster+tls://h:1', 'other', '{other}'],
])('keyPrefix for %s with QUEUE_PREFIX=%s returns %s', (url, prefix, keys) => {
  expect(keyPrefix({ REDIS_URL: url, QUEUE_PREFIX: prefix })).toBe(keys);
});
