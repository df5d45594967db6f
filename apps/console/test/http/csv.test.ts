import type { AddressInfo } from 'node:net';
import express from 'express';
import fc from 'fast-check';
import type { Locale } from '@onecode/domain';
import { createLog, observeRequests } from '@onecode/runtime';
import {
  buildCaller,
  buildSender,
  fillHistory,
  refuseRequests,
  TEST_NUMBER_PEPPER,
  type TestCaller,
} from '@onecode/testing';
import { CsvDownload, sendCsv } from '../../src/http/csv.js';
import { useConsole } from '../console.js';
import { daysAgo } from '../pages/daysAgo.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let caller: TestCaller;
let viewer: TestPerson;
const SENDS = 1_500;
const HISTORY_DAYS = 3;

beforeAll(async () => {
  const { database } = server.db;
  caller = await buildCaller(database, 'live');
  viewer = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
  await fillHistory(server.db.url, {
    applications: [caller],
    senderId: (await buildSender(database)).id,
    sends: SENDS,
    numberPepper: TEST_NUMBER_PEPPER,
    days: HISTORY_DAYS,
  });
  await refuseRequests(database, caller, 'invalid_json', [
    { detail: 'It is no "JSON", or so.', fields: ['to', 'code'] },
  ]);
  await server.db.sql(`update applications set name = '=cmd|'' /C calc''!A0' where id = $1`, [
    caller.applicationId,
  ]);
});

const DAY_MS = 86_400_000;
const SPAN = new URLSearchParams({
  from: new Date(Date.now() - 5 * DAY_MS).toISOString(),
  to: new Date().toISOString(),
  bucket: 'day',
  timeZone: 'UTC',
}).toString();
const download = (path: string) => viewer.get<string>(`/accounts/${caller.accountId}/${path}`);
const linesOf = async (path: string): Promise<string[]> => {
  const { status, body, headers } = await download(path);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[a-z0-9-]+\.csv"$/);
  // `text()` removes the byte order mark.
  expect(body.endsWith('\r\n')).toBe(true);
  return body.slice(0, -2).split('\r\n');
};

describe('a download', () => {
  it('contains every matching send once, with a masked number and without formulas', async () => {
    const [head, ...lines] = await linesOf('sends.csv');
    expect(head).toMatch(/^id,created_at,application,mode,status,failure_reason,/);
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(SENDS);
    expect(lines).toHaveLength(SENDS);
    for (const line of lines)
      expect(line).toMatch(/^[0-9a-f-]{36},[^,]+Z,'=cmd[^,]+,live,.*,'\+\d+ ••••• \d{4},/);
    const failed = await server.db.sql(`select id from sends where status = 'failed'`);
    expect(await linesOf('sends.csv?status=failed')).toHaveLength(1 + failed.length);
  });

  it('contains the ledger with its balances, refused requests with their reasons, and the overview', async () => {
    const [, ...ledger] = await linesOf('ledger.csv');
    const [{ count }] = (await server.db.sql<{ count: string }>('select count(*) from ledger_entries')) as [
      { count: string },
    ];
    expect(ledger).toHaveLength(Number(count));
    expect(ledger.filter((line) => line.includes(',reserved,credit,-1,,'))).toHaveLength(SENDS);
    // The history may have begun in the month before.
    const months = [...new Set([HISTORY_DAYS, 0].map((days) => daysAgo(days).slice(0, 7)))];
    const statements = await Promise.all(months.map((month) => linesOf(`statement.csv?month=${month}`)));
    const entries = statements.flatMap(([columns, ...lines]) => {
      expect(columns).toMatch(/^at,entry,free_quota,credits,/);
      return lines.map((line) => line.split(',').slice(1, 4));
    });
    const total = (...names: string[]) =>
      entries.reduce((sum, [name, , credits]) => sum + (names.includes(name!) ? Number(credits) : 0), 0);
    expect([total('reserved'), total('reclaimed'), total('expired')]).toEqual([-SENDS, 0, 0]);
    expect([entries[0], entries.at(-1)]).toEqual([
      ['opening', '0', '0'],
      ['closing', expect.any(String), String(total('granted', 'reserved', 'returned'))],
    ]);
    const requests = await linesOf('refused-requests.csv?hours=1');
    expect(requests[1]).toMatch(/,POST \/v1\/send,422,invalid_json,"It is no ""JSON"", or so\.",to code,1,/);
    const overview = await linesOf(`overview.csv?${SPAN}`);
    expect(overview[1]).toMatch(new RegExp(`^total,,,${SENDS},`));
    expect(overview.filter((line) => line.startsWith('country,'))).toHaveLength(3);
    expect(overview.at(-1)).toMatch(/^failure_reason,rejected_by_provider,,/);
  });

  it('has semicolons between columns, and decimal commas, for a reader of Portuguese', async () => {
    const of = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    await server.db.sql(`update users set language = 'pt-BR' where id = $1`, [of.id]);
    const { body } = await of.get<string>(`/accounts/${caller.accountId}/overview.csv?${SPAN}`);
    const [head, total] = body.split('\r\n');
    expect(head).toMatch(/^by;value;name;sends;/);
    expect(total).toMatch(new RegExp(`^total;;;${SENDS};(?:\\d+;)+(?:\\d+(?:,\\d+)?;?){2}$`));
  });

  it('with an invalid filter is refused like the page', async () => {
    expect((await download('sends.csv?status=lost')).status).toBe(422);
    expect((await download('overview.csv')).status).toBe(422);
  });
});

/** Characters that a spreadsheet may read as the beginning of a formula, also in their small and full-width forms. */
const SIGNS = [...'=+-@|−﹢﹣﹦﹫＝＋－＠'];
/** Characters before it that do not change that. */
const BEFORE = [
  '',
  ' ',
  '\u00a0',
  '\u3000',
  '\u200b',
  '\ufeff',
  '\u00ad',
  '\u2066',
  '\u3164',
  '\ufe0f',
  '\x01',
  '"',
  '""',
];
const BEGINS_FORMULA = new RegExp(
  `^[\\s\\p{Cc}\\p{Cf}\\p{DI}"]*[${SIGNS.join('').replace('-', '\\-')}]`,
  'u',
);

/** Any character. fast-check's own unit `binary` is the same, but takes a second of CPU time to build. */
const CHARACTER = fc
  .integer({ min: 0, max: 0x10_ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

describe('a cell of a download', () => {
  const app = express();
  let cells: readonly (string | number)[] = [];
  const pages = async function* () {
    yield cells.map((cell) => [cell]);
  };
  let language: Locale = 'en';
  afterEach(() => (language = 'en'));
  app.get('/', (request, response) =>
    sendCsv(
      request,
      response,
      new CsvDownload('list', ['text'], pages()),
      language,
      createLog('console', 'silent'),
    ),
  );
  const listening = app.listen(0);
  // The server must not close a connection that `fetch` is about to use again.
  listening.keepAliveTimeout = 0;
  afterAll(() => listening.close());
  /** The file of one column of cells, without its head. */
  async function fileOf(of: readonly (string | number)[]): Promise<string> {
    cells = of;
    const answer = await fetch(`http://localhost:${(listening.address() as AddressInfo).port}/`);
    return (await answer.text()).replace(/^text\r\n/, '');
  }
  /** The cells of a file of one column, as RFC 4180 defines them. */
  const cellsOf = (file: string): string[] =>
    [...file.matchAll(/(?:"((?:[^"]|"")*)"|([^"\r\n]*))\r\n/g)].map(
      ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
    );

  it('gets an apostrophe before the sign of a formula', async () => {
    const texts = SIGNS.flatMap((sign) => BEFORE.map((before) => `${before}${sign}1+1`));
    expect(cellsOf(await fileOf(texts))).toEqual(texts.map((text) => `'${text}`));
  });

  it.each([
    ['a;=1+1', "a;'=1+1"],
    ['a,=1+1', "a,'=1+1"],
    ['a; ＝1+1', "a;' ＝1+1"],
    ['a;"=1+1"', `a;'"=1+1"`],
    ['a\t@b', "a\t'@b"],
    ['a\r\n-1', "a\r\n'-1"],
    ['\t1', "'\t1"],
    ['\n1', "'\n1"],
    ["=cmd|'/c calc'!A0", "'=cmd|'/c calc'!A0"],
    ['a=1, b-2; c|d', 'a=1, b-2; c|d'],
    ['ana@example.com', 'ana@example.com'],
    ['', ''],
  ])('with the text %j is written as %j', async (text, written) => {
    expect(cellsOf(await fileOf([text]))).toEqual([written]);
  });

  it('with a number is written as a number', async () => {
    expect(await fileOf([-5, 0, 2.5])).toBe('-5\r\n0\r\n2.5\r\n');
    language = 'pt-BR';
    expect(await fileOf([-5, 0, 2.5])).toBe('-5\r\n0\r\n2,5\r\n');
  });

  it.each(['en', 'pt-BR'] as const)('never begins a formula in any spreadsheet (%s)', async (of) => {
    language = of;
    // A spreadsheet with the file's separator sees the quotes around a cell.
    const separators = of === 'en' ? /[;\t\r\n]/ : /[,\t\r\n]/;
    const piece = fc.oneof(
      fc.constantFrom(...SIGNS, ...BEFORE, ';', '\t', '\r', '\n', ',', "'", 'a', '1'),
      fc.string({ unit: CHARACTER, maxLength: 2 }),
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 50 }), async (texts) => {
        const file = await fileOf(texts);
        const written = cellsOf(file);
        expect(written.map((one) => one.replaceAll("'", ''))).toEqual(
          texts.map((one) => one.replaceAll("'", '')),
        );
        for (const part of [...written, ...file.split(separators)]) expect(part).not.toMatch(BEGINS_FORMULA);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a download that fails', () => {
  const app = express();
  let fail = (): void => {};
  const cut = async function* (pages: number) {
    for (let page = 0; page < pages; page++) yield [['a', page]];
    if (pages > 0) await new Promise<void>((resolve) => (fail = resolve));
    throw new Error('the database is gone');
  };
  const log = createLog('console', 'silent');
  app.use(observeRequests(log, /^$/, ({ url = '' }) => url));
  app.get('/:pages', (request, response) =>
    sendCsv(
      request,
      response,
      new CsvDownload('list', ['name', 'number'], cut(Number(request.params.pages))),
      'en',
      log,
    ),
  );
  const listening = app.listen(0, '127.0.0.1');
  afterAll(() => listening.close());
  const ask = (pages: number) =>
    fetch(`http://localhost:${(listening.address() as AddressInfo).port}/${pages}`);

  it('before its first page returns an error response', async () => {
    expect((await ask(0)).status).toBe(500);
  });

  it('after its first page does not look complete', async () => {
    const answer = await ask(2);
    expect(answer.status).toBe(200);
    fail();
    await expect(answer.text()).rejects.toThrow('terminated');
  });
});
