import { randomBytes, randomUUID } from 'node:crypto';
import { isApiKey } from '@onecode/domain';
import {
  buildCaller,
  closedPort,
  startProcess,
  tableContents,
  testRedisUrl,
  untilReady,
} from '@onecode/testing';
import type { NewKeyView } from '../../src/features/applications/view.js';
import { useConsole } from '../console.js';
import { inSession, person, type TestPerson } from '../people.js';

const server = useConsole();

it('a key appears only in the response to its creation, and a searched text only in its request', async () => {
  const { accountId, applicationId } = await buildCaller(server.db.database, 'live');
  const url = `http://localhost:${await closedPort()}`;
  // The built console, which logs everything, on the same database and with the same sessions.
  const loud = startProcess('apps/console/dist/main.js', {
    DATABASE_URL: server.db.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: server.prefix,
    PORT: new URL(url).port,
    METRICS_PORT: '0',
    BASE_URL: 'https://api.example.test',
    CONSOLE_URL: url,
    SESSION_SECRET: server.sessionSecret,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'trace',
  });
  await untilReady(loud);
  const { db, prefix, sessionSecret } = server;
  const there = (who: TestPerson): TestPerson => inSession({ url, db, prefix, sessionSecret }, who, who);
  const developer = there(await person(server, { accounts: { [accountId]: 'developer' } }));
  const onCall = there(await person(server, { staff: 'on_call' }));

  const account = `/accounts/${accountId}`;
  const keys = `${account}/applications/${applicationId}/keys`;
  const made = await developer.post<NewKeyView>(keys, { label: 'Server' });
  const { id, key } = made.body;
  expect(isApiKey(key)).toBe(true);
  expect(made.headers.get('cache-control')).toBe('no-store');
  const text = `order of +55 11 98765-4321 ${randomUUID()}`;
  const refused = `${account}/refused-requests/search`;
  const later = [
    await developer.get(keys),
    await developer.get(`${account}/applications`),
    await developer.post(`${keys}/${id}/revoke`),
    await developer.get(keys),
    await developer.post(`${account}/search`, { text }),
    await onCall.post('/staff/search', { text }),
    await developer.post(refused, { text }),
    await developer.post(refused, { text, before: 'no id' }),
    await developer.post(refused, { text: text.repeat(9) }),
    await onCall.post(`/staff${refused}`, { text }),
    await onCall.post(refused, { text }),
  ];
  await loud.stop();

  expect(later.map(({ status }) => status)).toEqual([200, 200, 204, 200, 200, 200, 200, 422, 422, 200, 404]);
  const answers = JSON.stringify(later.map(({ body }) => body));
  const kept = [loud.output(), ...(await tableContents(server.db)).values(), answers].join('\n');
  for (const seen of [id, '/applications/:application/keys', '/staff/search']) expect(kept).toContain(seen);
  // A hint shows the ends of a key; the part between them would be enough to guess the rest.
  for (const secret of [key.slice('ak_live_'.length + 4, -4), text.slice(-36)])
    expect(kept).not.toContain(secret);
});
