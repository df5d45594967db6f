import { pickFrom } from './request.js';

/** A change of a valid request's bytes (as latin1) after which it is not valid HTTP. */
export interface Malformation {
  rule: string;
  apply: (bytes: string, pick: number) => string;
  /** Whether only the body is malformed. */
  isInBody?: boolean;
}

const line = (rule: string, change: (line: string, pick: number) => string): Malformation => ({
  rule,
  apply: (bytes, pick) => bytes.replace(/^[^\r]*/, (found) => change(found, pick)),
});
const header = (rule: string, ...lines: string[]): Malformation => ({
  rule,
  apply: (bytes, pick) => bytes.replace('\r\n', () => `\r\n${pickFrom(lines, pick)}\r\n`),
});
/** Frames the body incorrectly. */
const framing = (rule: string, lines: string, body: string): Malformation => ({
  rule,
  apply: (bytes) => {
    const head = bytes
      .slice(0, bytes.indexOf('\r\n\r\n'))
      .replaceAll(/\r\n(?:content-length|transfer-encoding):[^\r]*/gi, '');
    return `${head}\r\n${lines}\r\n\r\n${body}`;
  },
});
const whole = (rule: string, ...all: string[]): Malformation => ({
  rule,
  apply: (_bytes, pick) => pickFrom(all, pick),
});

const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';

export const MALFORMATIONS: readonly Malformation[] = [
  line('a request line without a target', (text) => text.replace(/ \S+ /, ' ')),
  line('a wrong version', (text, pick) =>
    text.replace(
      /HTTP\/1\.1/,
      pickFrom(['HTTP/9.9', 'http/1.1', 'HTTP/1', 'HTTP/1.1x', 'HTTP/', 'FTP/1.1'], pick),
    ),
  ),
  line('an invalid method', (text, pick) =>
    text.replace(/^\S+/, pickFrom(['FOO', 'post', 'G\0T', 'GE T', '(', ''], pick)),
  ),
  line('an invalid byte in the target', (text, pick) =>
    text.replace(/ \//, ` /${pickFrom(['\0', '\x7f', '\xff', ' ', '\t', '\x01', '\xf0\x9f\x98\x80'], pick)}`),
  ),
  line('a lone carriage return', (text) => `${text}\rX: y`),
  { rule: 'lines that end in LF', apply: (bytes) => bytes.replaceAll('\r\n', '\n') },
  { rule: 'a line that ends in LF', apply: (bytes) => bytes.replace('\r\n', '\n') },
  header('a folded header', 'X: a\r\n b', 'X: a\r\n\tb', ' X: a'),
  header('a control byte in a header', 'X: a\0b', 'X: a\x07b', 'X: a\rb', 'X: a\nb', 'X: \x7f'),
  header('an invalid header name', 'X : a', 'X Y: a', ': a', 'X', 'X\0: a', '(X): a', 'Ä: a'),
  header('two framings', `Content-Length: 2\r\n${CHUNKED}`, `${CHUNKED}\r\nContent-Length: 2`),
  header(
    'two lengths',
    'Content-Length: 2\r\nContent-Length: 3',
    'Content-Length: 2\r\ncontent-length: 2',
    'Content-Length: 2, 2',
  ),
  ...['-1', '+2', '0x2', '', '1e3', '2 2', '9'.repeat(30), '18446744073709551617'].map((length) =>
    framing(`the length ${length || 'left empty'}`, `Content-Length: ${length}`, '{}'),
  ),
  framing('an unknown coding', 'Transfer-Encoding: xchunked', CHUNKS),
  framing('chunked not as the last coding', 'Transfer-Encoding: chunked, gzip', CHUNKS),
  framing('chunked twice', `${CHUNKED}\r\n${CHUNKED}`, CHUNKS),
  ...[
    'ffffffffffffffff\r\n{}',
    '10000000000000002\r\n{}\r\n0\r\n\r\n',
    '-2\r\n{}\r\n0\r\n\r\n',
    '0x2\r\n{}\r\n0\r\n\r\n',
    'zz\r\n{}',
    '3\r\n{}\r\n0\r\n\r\n',
    '1\r\n{}\r\n0\r\n\r\n',
    '2\n{}\n0\n\n',
    `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    `2\r\n{}\r\n0\r\nX: a\0\r\n\r\n`,
  ].map((body, index) => ({ ...framing(`broken chunks (${index + 1})`, CHUNKED, body), isInBody: true })),
  whole(
    'a TLS handshake',
    '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03',
    '\x15\x03\x03\x00\x02\x02\x46',
    '\x80\x2e\x01\x00\x02',
  ),
  whole('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  whole(
    'another protocol',
    'SSH-2.0-x\r\n',
    'EHLO x\r\n',
    '*1\r\n$4\r\nPING\r\n',
    '\x00\x00\x00\x08\x04\xd2\x16\x2f',
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  ),
];

/** Random changes, some of which leave valid requests. */
export const MUTATIONS: readonly Malformation[] = [
  { rule: 'some bytes changed', apply: (bytes, pick) => atRandomPlaces(bytes, pick, (_old, byte) => byte) },
  {
    rule: 'some bytes added',
    apply: (bytes, pick) => atRandomPlaces(bytes, pick, (old, byte) => old + byte),
  },
  { rule: 'some bytes removed', apply: (bytes, pick) => atRandomPlaces(bytes, pick, () => '') },
  { rule: 'the end cut off', apply: (bytes, pick) => bytes.slice(0, pick % bytes.length) },
  { rule: 'the beginning cut off', apply: (bytes, pick) => bytes.slice(pick % bytes.length) },
  {
    rule: 'a piece repeated',
    apply: (bytes, pick) => {
      const at = pick % bytes.length;
      return bytes.slice(0, at + ((pick >> 8) % 40)) + bytes.slice(at);
    },
  },
];

function atRandomPlaces(bytes: string, pick: number, change: (old: string, byte: string) => string): string {
  const characters = bytes.split('');
  let state = pick;
  for (let left = 1 + (pick % 4); left > 0; left--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const at = state % characters.length;
    characters[at] = change(characters[at] ?? '', String.fromCharCode((state >>> 16) & 0xff));
  }
  return characters.join('');
}
