import { keyPrefix, parseRedisAddress } from '@onecode/runtime';

const NODES = [
  { host: 'a', port: 1 },
  { host: 'b.internal', port: 65_535 },
];

describe('an address of Redis', () => {
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
  ])('%s', (text, address) => {
    expect(parseRedisAddress(text)).toEqual(address);
  });

  it.each([
    '',
    'leaked:6379',
    'http://leaked',
    'redis://leaked:1,leaked:2',
    'redis+tls://leaked:1',
    'rediss+sentinel://leaked:1/main',
    'redis+sentinel://lea ked:1/main',
    'redis+sentinel://leaked:1',
    'redis+sentinel://leaked:1//0',
    'redis+sentinel://leaked:1/main/first',
    'redis+sentinel://leaked:1/main/0/1',
    'redis+sentinel://leaked/main',
    'redis+sentinel://leaked:1,,leaked:2/main',
    'redis+sentinel://leaked:0/main',
    'redis+sentinel://leaked:65536/main',
    'redis+sentinel://leaked@h:1/main',
    'redis+sentinel://leaked:@h:1/main',
    'redis+sentinel://leaked:a:b@h:1/main',
    'redis+sentinel://leaked:%zz@h:1/main',
    'redis+cluster://leaked:1/0',
    'redis+cluster://',
    'redis+cluster://leaked',
  ])('cannot be %j, and the fault does not repeat it', (text) => {
    const parse = (): unknown => parseRedisAddress(text);
    expect(parse).toThrow(/^must be redis:\/\/… or rediss:/);
    expect(parse).not.toThrow('leaked');
  });
});

it.each([
  ['redis://h', 'onecode', 'onecode'],
  ['redis+sentinel://h:1/main', 'onecode', 'onecode'],
  ['redis+cluster://h:1', 'onecode', '{onecode}'],
  ['redis+cluster+tls://h:1', 'a{b}c', 'a{b}c'],
  ['redis+cluster://h:1', '{}', '{{}}'],
])('with %s, the prefix of QUEUE_PREFIX=%s is %s', (url, prefix, keys) => {
  expect(keyPrefix(url, prefix)).toBe(keys);
});
