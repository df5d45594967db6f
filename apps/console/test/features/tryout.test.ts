import { apiKeyHint } from '@onecode/domain';
import { newTryoutIdempotencyKey } from '@onecode/store/users';
import { newId } from '@onecode/store/client';
import { buildCaller, buildSend, closedPort, startTcpServer, type TestCaller } from '@onecode/testing';
import type { CallView, TryoutSendView, TryoutView } from '../../src/features/tryout/view.js';
import { useConsole } from '../console.js';
import { person, type Answer, type TestPerson } from '../people.js';

/** The requests that arrive at the API's address, and its responses: bytes, or null for a broken connection. */
let arrived = '';
let answer: ((request: string) => string) | null = null;
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
const http = (status: string, body: string, ...headers: string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');

const server = useConsole({ API_URL: `http://127.0.0.1:${port}/inside` });
/** A console with an unreachable API. */
const cutOff = useConsole({ API_URL: `http://127.0.0.1:${await closedPort()}` });
const RECIPIENT = '+5511987654321';
beforeEach(() => {
  answer = null;
});

const pathOf = ({ accountId, applicationId }: TestCaller): string =>
  `/accounts/${accountId}/applications/${applicationId}/tryout`;

interface Tried {
  caller: TestCaller;
  path: string;
  developer: TestPerson;
}
async function application(mode: 'test' | 'live' = 'test', on = server): Promise<Tried> {
  const caller = await buildCaller(on.db.database, mode);
  const developer = await person(on, { accounts: { [caller.accountId]: 'developer' } });
  return { caller, path: pathOf(caller), developer };
}

/** Sends from the page of an application. */
async function trySend(
  { developer, path }: Tried,
  body: object = { to: RECIPIENT },
): Promise<TryoutSendView> {
  const answered = await developer.post<TryoutSendView>(`${path}/sends`, body);
  expect(answered.status).toBe(200);
  return answered.body;
}

/** The audit entries, except sign-ins. */
const entriesOf = ({ accountId }: TestCaller) =>
  server.db.sql<{ action: string; details: object }>(
    `select action, details - 'hint' - 'applicationId' - 'expiresAt' - 'name' as details from audit_entries
     where account_id = $1 and actor_kind = 'user' order by id`,
    [accountId],
  );

describe('the try-out of an application', () => {
  it('is in the audit log: each send with the last digits of its number', async () => {
    const tried = await application();
    await trySend(tried, { to: RECIPIENT, code: '4217' });
    await trySend(tried, { to: 'ana@example.com' });
    expect(await entriesOf(tried.caller)).toEqual([
      { action: 'application.try_send', details: { mode: 'test', recipientEndsWith: '4321' } },
      { action: 'application.try_send', details: { mode: 'test' } },
    ]);
  });

  it.each([
    ['live', { to: RECIPIENT }, { isLive: 'mode' }],
    ['test', { to: RECIPIENT, isLive: true }, { isLive: 'mode' }],
    ['live', { to: RECIPIENT, isLive: true, code: '4217' }, { code: 'mode' }],
  ] as const)('of mode %s refuses %j before anything is sent', async (mode, body, errors) => {
    const { caller, path, developer } = await application(mode);
    expect(await developer.post(`${path}/sends`, body)).toMatchObject({
      status: 422,
      body: { code: 'invalid_input', errors },
    });
    expect(await entriesOf(caller)).toEqual([]);
  });
});

it('only the user who created a send on the page can read and verify it', async () => {
  const { caller, path, developer: ana } = await application();
  const ben = await person(server, { accounts: { [caller.accountId]: 'admin' } });
  const { database } = server.db;
  const send = await buildSend(database, caller, { idempotencyKey: newTryoutIdempotencyKey(ana.id) });
  const other = await buildSend(database, caller);
  const contentOf = ({ status, body }: Answer): string => JSON.stringify([status, body]);
  const unknown = contentOf(await ana.get(`/accounts/${caller.accountId}/applications/${newId()}`));
  const look = (who: TestPerson, id: string) => who.get(`${path}/sends/${id}`);
  const verify = (who: TestPerson, id: string) => who.post(`${path}/sends/${id}/verify`, { code: '000000' });
  for (const call of [look, verify]) {
    expect(await call(ana, send)).toMatchObject({ status: 200, body: { call: { fault: 'unanswered' } } });
    for (const refused of [await call(ben, send), await call(ana, other), await call(ana, newId())])
      expect(contentOf(refused)).toBe(unknown);
  }
});

it('sends on the page are limited to a few per minute for each user, in all applications together', async () => {
  const { path, developer, caller } = await application();
  const { accountId: id } = caller;
  const colleague = await person(server, { accounts: { [id]: 'developer' } });
  const paths = [path];
  for (const _ of [1, 2]) paths.push(pathOf(await buildCaller(server.db.database, 'test', { id })));
  const send = async (who: TestPerson, n: number): Promise<number> =>
    (await who.post(`${paths[n % 3]}/sends`, { to: RECIPIENT })).status;
  const statuses = new Set<number>();
  // If a minute ends in between, a new count starts; the second minute cannot end as well.
  for (let n = 0; n < 14; n++) statuses.add(await send(developer, n));
  expect([...statuses]).toEqual([200, 429]);
  expect(await send(colleague, 0)).toBe(200);
});

describe('a call on the page', () => {
  it('shows the request and the response, without the key and the number', async () => {
    const body = JSON.stringify({
      id: newId(),
      status: 'queued',
      verification: 'pending',
      expires_at: '2030-01-01T00:00:00.000Z',
    });
    answer = () => http('202 Accepted', body, 'Content-Type: application/json', 'X-Request-Id: 7');
    const { call, send } = await trySend(await application(), {
      to: `\u2066${RECIPIENT}\u2069`,
      code: '4217',
      locale: 'en',
    });
    const [head, json] = arrived.split('\r\n\r\n');
    const key = /Bearer (\w+)/.exec(arrived)?.[1] ?? '';
    const [top = '', shownBody] = call.request.split('\n\n');
    const [line, host, ...shown] = top.split('\n');
    expect(line).toBe('POST /v1/send HTTP/1.1');
    expect(head).toMatch(/^POST \/inside\/v1\/send HTTP\/1\.1\r\n/);
    expect(host).toBe('Host: api.example.test');
    expect(shownBody).toBe('{\n  "to": "+55 ••••• 4321",\n  "code": "4217",\n  "locale": "en"\n}');
    expect(json).toBe('{"to":"+5511987654321","code":"4217","locale":"en"}');
    expect(shown).toContain(`Authorization: Bearer ${apiKeyHint(key)}`);
    for (const header of shown.filter((header) => !header.startsWith('Authorization')))
      expect(head?.toLowerCase()).toContain(header.toLowerCase());
    expect(call.answer).toBe(
      `HTTP/1.1 202 Accepted\ncontent-length: ${body.length}\ncontent-type: application/json\nx-request-id: 7\n\n${JSON.stringify(JSON.parse(body), null, 2)}`,
    );
    expect(send).toMatchObject({ code: '4217', mode: 'test', state: { status: 'queued' } });
  });

  it('never contains the key, even if the response repeats it', async () => {
    answer = (request) => http('200 OK', request.replaceAll('\r\n', ' '), 'X-Echo: yes');
    const { call, send } = await trySend(await application());
    const key = /Bearer (\w+)/.exec(arrived)?.[1] ?? '';
    expect(call.answer).toContain(apiKeyHint(key));
    expect(JSON.stringify(call)).not.toContain(key.slice(8, -4));
    expect(send).toBeNull();
  });

  it('shows a problem of the API with its documentation, its fields, and the time to wait', async () => {
    const problem = {
      type: 'https://docs.example.test/errors#rate_limited',
      code: 'rate_limited',
      detail: 'Wait.',
      errors: { to: 'Too many.' },
    };
    answer = () => http('429 Too Many Requests', JSON.stringify(problem), 'Retry-After: 42');
    expect((await trySend(await application())).call.problem).toEqual({
      code: 'rate_limited',
      detail: 'Wait.',
      fields: ['to'],
      retryAfterSeconds: 42,
      docs: 'https://docs.example.test/errors#rate_limited',
    });
  });

  it.each<[string, (() => string) | null, Partial<CallView>]>([
    ['a connection that breaks', null, { answer: null, fault: 'unanswered' }],
    ['a response that is not HTTP', () => 'SSH-2.0-OpenSSH_9.2\r\n', { answer: null, fault: 'unanswered' }],
    [
      'a redirect, which is not followed',
      () => http('302 Found', '<html>', 'Location: http://127.0.0.1:9/'),
      { fault: null, problem: null, answer: expect.stringContaining('HTTP/1.1 302 Found') },
    ],
  ])('shows no send after %s', async (_, answers, call) => {
    answer = answers;
    expect(await trySend(await application())).toMatchObject({ send: null, call });
  });

  it('shows that the API was not reached', async () => {
    const { call } = await trySend(await application('live', cutOff), { to: RECIPIENT, isLive: true });
    expect(call).toMatchObject({ answer: null, fault: 'unreachable' });
    expect(call.request).not.toContain(RECIPIENT);
  });
});

describe('the recipient of an account on trial', () => {
  let developer: TestPerson;
  let accountId: string;
  beforeAll(async () => {
    const caller = await buildCaller(server.db.database, 'live');
    ({ accountId } = caller);
    developer = await person(server, { accounts: { [accountId]: 'developer' } });
    await server.db.sql(
      `update accounts set trial_countries = '{BR,GB,US}', allowed_countries = '{GB,PT,US}' where id = $1`,
      [accountId],
    );
  });

  it('in samples is a number of the first allowed country, from an unassigned range if possible', async () => {
    const { applications } = (await developer.get(`/accounts/${accountId}/applications`)).body;
    const path = `/accounts/${accountId}/applications/${applications[0].id}/tryout`;
    const { recipient, samples } = (await developer.get<TryoutView>(path)).body;
    expect(recipient).toBe('+447700900123');
    for (const { code } of samples[0]?.samples ?? []) expect(code).toContain(recipient);
  });

  it.each<[string, number, object | undefined]>([
    ['00 44 20 7946', 422, { errors: { to: 'number' } }],
    ['ana@example.com', 422, { errors: { to: 'number' } }],
    ['+5511961234567', 422, { errors: { to: 'country' } }],
    ['+1 900 555 0123', 422, { errors: { to: 'country' } }],
    ['tel:+44 7700 900123', 204, undefined],
  ])('is checked before the confirmation of a live send: %s', async (to, status, body) => {
    const answered = await developer.post(`/accounts/${accountId}/tryout/recipient`, { to });
    expect([answered.status, answered.body]).toEqual([status, body && expect.objectContaining(body)]);
  });
});

it('the samples are for the application in the path, in the language of the reader, and contain no key', async () => {
  const { caller, path, developer } = await application('live');
  await developer.put('/profile', { name: 'Ana', language: 'pt-BR' });
  const read = async (query = '') => (await developer.get<TryoutView>(path + query)).body.samples;
  expect(await read()).toHaveLength(1);
  const send = newId();
  const samples = await read(`?send=${send}`);
  expect(samples.map(({ call }) => call)).toEqual(['createSend', 'getSendStatus', 'verifyCode']);
  for (const { call, samples: languages } of samples) {
    expect(languages.map(({ label }) => label)).toEqual(['curl', 'Node', 'Python', 'PHP', 'Go', 'Java']);
    for (const { code } of languages) {
      expect(code).toContain(`ONECODE_API_KEY: uma chave de produção da aplicação ${caller.applicationId}`);
      expect(code).toContain('https://api.example.test');
      expect(code).toContain(call === 'createSend' ? '+5511961234567' : send);
    }
  }
});
