import { apiKeyHint } from '@onecode/domain';
import { newId } from '@onecode/store';
import { buildCaller, closedPort, startTcpServer, tableContents } from '@onecode/testing';
import type { ExchangeView, MessageView, TryoutSendView } from '../../../src/features/tryout/view.js';
import { startConsole, type StartedConsole } from '../../console.js';
import { person } from '../../people.js';

const RECIPIENT = '+5511987654321';

/** What arrives at the API's address, and what that answers: bytes, or null for a connection that breaks. */
let arrived = '';
let answer: ((request: string) => string) | null = null;
let server: StartedConsole;
beforeAll(async () => {
  const port = await startTcpServer((socket) => {
    arrived = '';
    socket.on('data', (bytes) => {
      arrived += bytes.toString('latin1');
      const length = Number(/content-length: (\d+)/i.exec(arrived)?.[1] ?? 0);
      if (arrived.length - arrived.indexOf('\r\n\r\n') - 4 < length) return;
      if (answer === null) socket.destroy();
      else socket.end(answer(arrived));
    });
  });
  server = await startConsole({ API_URL: `http://127.0.0.1:${port}/inside` });
});
afterAll(() => server.close());

const bytesOf = ({ line, headers, body }: MessageView): string =>
  [line, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body ?? ''].join('\r\n');

/** Sends from the page of a new test application, as its developer. */
async function trySend(body: object = { to: RECIPIENT }) {
  const { accountId, applicationId } = await buildCaller(server.db.database, 'test');
  const developer = await person(server, { accounts: { [accountId]: 'developer' } });
  const path = `/accounts/${accountId}/applications/${applicationId}/tryout/send`;
  const { status, body: view } = await developer.post<TryoutSendView>(path, body);
  expect(status).toBe(200);
  return { view, applicationId };
}

const send = () => ({
  id: newId(),
  status: 'queued',
  verification: 'pending',
  expires_at: '2030-01-01T00:00:00.000Z',
});
const http = (status: string, body: string, ...headers: string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');

describe('what the page shows of a call', () => {
  it('is what went over the wire, byte for byte, but for the key and the number', async () => {
    const body = JSON.stringify(send());
    const written = http('202 Accepted', body, 'Content-Type: application/json', 'X-Odd-CASE: e');
    answer = () => written;
    const { view } = await trySend({ to: RECIPIENT, code: '4217', locale: 'en' });

    const key = /Authorization: Bearer (ak_test_\w+)/.exec(arrived)?.[1] ?? '';
    expect(key).toHaveLength(41);
    expect(bytesOf(view.exchange.request)).toBe(
      arrived.replace(key, apiKeyHint(key)).replace(RECIPIENT, view.hiddenRecipient),
    );
    expect(arrived).toMatch(/^POST \/inside\/v1\/send HTTP\/1\.1\r\nHost: api\.example\.test\r\n/);
    expect(arrived).toContain('\r\n\r\n{"to":"+5511987654321","code":"4217","locale":"en"}');
    expect(view.hiddenRecipient).toBe('+55 ••••• 4321');
    expect(bytesOf(view.exchange.answer!)).toBe(written);
    expect(view.send).toMatchObject({ code: '4217', mode: 'test', state: { status: 'queued' } });
  });

  it('has neither key nor number in an answer that repeats them', async () => {
    answer = (request) => http('200 OK', request.replaceAll('\r\n', ' '), 'X-Echo: yes');
    const { view } = await trySend({ to: '+55 (11) 98765-4321' });
    const key = /Bearer (\w+)/.exec(arrived)?.[1] ?? '';
    const text = JSON.stringify(view);
    expect(text).toContain(apiKeyHint(key));
    expect(text).not.toContain(key.slice(8, -4));
    expect(text).not.toContain('98765');
    expect(view).toMatchObject({ send: null, problem: null });
    expect([...(await tableContents(server.db)).values()].join('\n')).not.toMatch(/98765-?4321/);
  });

  it('is a problem of the API with its page, and how long to wait', async () => {
    const problem = {
      type: 'https://docs.example.test/errors#rate_limited',
      code: 'rate_limited',
      detail: 'Wait.',
    };
    answer = () => http('429 Too Many Requests', JSON.stringify(problem), 'Retry-After: 42');
    const { view } = await trySend();
    expect(view.problem).toEqual({
      code: 'rate_limited',
      detail: 'Wait.',
      fields: [],
      retryAfterSeconds: 42,
      docs: 'https://docs.example.test/errors#rate_limited',
    });
  });

  it('names the fields of the page that the API refused, and no other member', async () => {
    const problem = {
      code: 'invalid_recipient',
      errors: { to: 'Must be one.', code: 'Must be.', [RECIPIENT]: '' },
    };
    answer = () => http('422 Unprocessable Content', JSON.stringify(problem));
    expect((await trySend()).view.problem?.fields).toEqual(['to', 'code']);
    answer = () => http('422 Unprocessable Content', JSON.stringify({ ...problem, errors: 'to' }));
    expect((await trySend()).view.problem?.fields).toEqual([]);
  });

  it('leads to our own page of the error where the type is no web address', async () => {
    const type = 'javascript:alert(1)';
    answer = () => http('422 Unprocessable Content', JSON.stringify({ type, code: 'invalid_recipient' }));
    const { view } = await trySend({ to: 'nobody' });
    expect(view.problem?.docs).toBe('https://api.example.test/docs/errors#invalid_recipient');
  });

  it.each<[string, ((request: string) => string) | null, ExchangeView['fault']]>([
    ['breaks', null, 'broken'],
    ['is endless', () => http('200 OK', 'x'.repeat(70_000)), 'too_large'],
    ['is no HTTP', () => 'SSH-2.0-OpenSSH_9.2\r\n', 'broken'],
  ])('is no answer when that %s', async (_, answers, fault) => {
    answer = answers;
    const { view } = await trySend();
    expect(view).toMatchObject({ exchange: { answer: null, fault }, send: null, problem: null });
  });

  it('is an answer without a send where something else than the API answers', async () => {
    answer = () => http('302 Found', '<html>', 'Location: https://elsewhere.example/');
    const { view } = await trySend();
    expect(view).toMatchObject({ send: null, problem: null, exchange: { fault: null } });
    expect(view.exchange.answer?.line).toBe('HTTP/1.1 302 Found');
  });

  it('says that the API was not reached', async () => {
    const other = await startConsole({ API_URL: `http://127.0.0.1:${await closedPort()}` });
    try {
      const { accountId, applicationId } = await buildCaller(other.db.database, 'test');
      const developer = await person(other, { accounts: { [accountId]: 'developer' } });
      const path = `/accounts/${accountId}/applications/${applicationId}/tryout/send`;
      const { body } = await developer.post<TryoutSendView>(path, { to: RECIPIENT });
      expect(body.exchange).toMatchObject({ answer: null, fault: 'unreachable' });
      const keys = await other.db.sql(`select from api_keys where purpose is not null`);
      expect(keys).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
