import { newId } from '@onecode/store/client';
import { listAuditEntries } from '@onecode/store/operations';
import { buildCaller, buildSend, findSecrets, until, type Secret } from '@onecode/testing';
import { useConsole } from '../console.js';
import { openTestQueues, type TestQueues } from '../queues.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let jobs: TestQueues;
let onCall: TestPerson;
let operator: TestPerson;
let member: TestPerson;
beforeAll(async () => {
  jobs = await openTestQueues(server.prefix);
  [onCall, operator, member] = [
    await person(server, { staff: 'on_call' }),
    await person(server, { staff: 'operator' }),
    await person(server),
  ];
  await until(
    'a console that sees Redis',
    async () => (await ask(onCall, 'GET', '/api/queues')).status === 200,
  );
});
afterAll(async () => {
  await jobs.close();
});

/** Calls the board like one of its pages, with the token that the page left in a cookie. */
async function ask(
  who: TestPerson | null,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${server.url}/board${path}`, {
    method,
    redirect: 'manual',
    headers: {
      origin: server.url,
      ...(who !== null && { cookie: who.cookie, 'x-xsrf-token': who.csrfToken }),
      ...headers,
    },
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Paths of every kind that the board serves. */
const PAGES = ['', '/', '/queue/deliver', '/queue/deliver/1', '/job-schedulers', '/metrics-history'];
const FILES = ['/static/images/logo.svg', '/static/locales/en-US/messages.json'];
const READS = [
  '/api/queues?activeQueue=deliver&status=failed&page=1&jobsPerPage=10',
  '/api/queues/deliver/1',
  '/api/queues/deliver/1/logs',
  '/api/queues/deliver/1/flow',
  '/api/queues/deliver/workers',
  '/api/queues/deliver/metrics',
  '/api/queues/deliver/rate-limit',
  '/api/queues/deliver/default-job-options',
  '/api/queues/deliver/job-data-schema',
  '/api/job-schedulers',
  '/api/redis/stats',
];
const CHANGES: [method: string, path: string][] = [
  ['PUT', '/api/queues/deliver/1/clean'],
  ['PUT', '/api/queues/deliver/clean/failed'],
  ['PUT', '/api/queues/deliver/resume'],
  ['PUT', '/api/queues/resume'],
];
/** Changes that would retry jobs, block deliveries without a hold, or write user input into Redis. */
const REFUSED: [method: string, path: string][] = [
  ['PUT', '/api/queues/deliver/1/retry'],
  ['PUT', '/api/queues/deliver/retry/failed'],
  ['PUT', '/api/queues/deliver/retry/completed'],
  ['PUT', '/api/queues/deliver/1/promote'],
  ['PUT', '/api/queues/deliver/promote'],
  ['PUT', '/api/queues/pause'],
  ['PUT', '/api/queues/deliver/pause'],
  ['PUT', '/api/queues/deliver/empty'],
  ['PUT', '/api/queues/deliver/obliterate'],
  ['PUT', '/api/queues/deliver/concurrency'],
  ['PUT', '/api/queues/deliver/rate-limit'],
  ['PUT', '/api/queues/deliver/clean/wait'],
  ['POST', '/api/queues/deliver/add'],
  ['PATCH', '/api/queues/deliver/1/update-data'],
  ['PATCH', '/api/queues/deliver/1/delay'],
  ['DELETE', '/api/queues/deliver'],
];

describe('the queue board', () => {
  it('redirects users who are not signed in to sign-in, and shows them nothing', async () => {
    for (const page of PAGES) {
      const { status, headers } = await ask(null, 'GET', page);
      expect([page, status, headers.get('location')]).toEqual([page, 302, '/sign-in']);
    }
    for (const path of [...FILES, ...READS])
      expect([path, (await ask(null, 'GET', path)).status]).toEqual([path, 401]);
    for (const [method, path] of [...CHANGES, ...REFUSED])
      expect([path, (await ask(null, method, path)).status]).toEqual([path, 401]);
  });

  it('returns 404 to users who are not staff', async () => {
    for (const path of [...PAGES, ...FILES, ...READS])
      expect([path, (await ask(member, 'GET', path)).status]).toEqual([path, 404]);
    for (const [method, path] of [...CHANGES, ...REFUSED])
      expect([path, (await ask(member, method, path)).status]).toEqual([path, 404]);
  });

  it('shows on-call staff everything and lets them change nothing', async () => {
    const id = await jobs.failedJob();
    for (const path of [...PAGES, ...FILES, ...READS]) {
      const { status, text } = await ask(onCall, 'GET', path.replace('/1', `/${id}`));
      // A bull-board response without selected fields is empty.
      expect([path, status, text === '{}']).toEqual([path, 200, false]);
    }
    for (const [method, path] of [...CHANGES, ...REFUSED])
      expect([path, (await ask(onCall, method, path.replace('/1/', `/${id}/`))).status]).toEqual([path, 403]);
    expect(await jobs.stateOf(id)).toBe('failed');
    const { queues: shown } = JSON.parse((await ask(onCall, 'GET', READS[0] as string)).text);
    expect(shown.map((one: { readOnlyMode: boolean }) => one.readOnlyMode)).toEqual([true, true, true]);
  });

  const auditEntries = (action: string) =>
    server.db.sql('select actor_name, subject, details from audit_entries where action = $1 order by id', [
      action,
    ]);

  it('lets an operator remove finished jobs, and records it in the audit log', async () => {
    const [one, other] = [await jobs.failedJob(), await jobs.failedJob()];
    expect((await ask(operator, 'PUT', `/api/queues/deliver/${one}/clean`)).status).toBe(204);
    expect(await jobs.queues.of('deliver').getJob(one)).toBeUndefined();
    expect((await ask(operator, 'PUT', '/api/queues/deliver/clean/failed')).status).toBe(200);
    expect(await jobs.queues.of('deliver').getJob(other)).toBeUndefined();
    expect(await auditEntries('board.clean')).toEqual([
      { actor_name: operator.email, subject: 'deliver', details: { job: one } },
      { actor_name: operator.email, subject: 'deliver', details: { state: 'failed' } },
    ]);
  });

  it('lets an operator resume a paused queue, and records it in the audit log', async () => {
    await jobs.queues.of('simulate').pause();
    expect((await ask(operator, 'PUT', '/api/queues/simulate/resume')).status).toBe(200);
    expect(await jobs.queues.of('simulate').isPaused()).toBe(false);
    expect(await auditEntries('board.resume')).toEqual([
      { actor_name: operator.email, subject: 'simulate', details: {} },
    ]);
  });

  it('refuses to retry jobs, and to pause, empty or write into a queue', async () => {
    const { id } = await jobs.queues.of('deliver').add('deliver', { sendId: newId() });
    const failed = await jobs.failedJob();
    for (const [method, path] of REFUSED)
      for (const job of [id, failed]) {
        const { status } = await ask(operator, method, path.replace('/1/', `/${job}/`));
        expect([path, status]).toEqual([path, 405]);
      }
    expect(await jobs.queues.of('deliver').isPaused()).toBe(false);
    expect(await jobs.stateOf(id as string)).toBe('waiting');
    expect(await jobs.stateOf(failed)).toBe('failed');
    const { queues: shown } = JSON.parse((await ask(operator, 'GET', READS[0] as string)).text);
    expect(shown.map((one: { allowRetries: boolean }) => one.allowRetries)).toEqual([false, false, false]);
  });

  it('refuses an operator’s change from another site, or without the token of its page', async () => {
    const id = await jobs.failedJob();
    const path = `/api/queues/deliver/${id}/clean`;
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'x-xsrf-token': '' },
      { 'x-xsrf-token': member.csrfToken },
    ])
      expect((await ask(operator, 'PUT', path, headers)).status).toBe(403);
    expect(await jobs.stateOf(id)).toBe('failed');
    expect((await ask(operator, 'GET', '')).headers.getSetCookie()).toEqual([
      `XSRF-TOKEN=${operator.csrfToken}; Path=/board; Secure; SameSite=Strict`,
    ]);
  });

  it('allows no external and no inline content', async () => {
    const { text, headers } = await ask(onCall, 'GET', '/');
    expect(text).not.toMatch(/https?:|<style|style=|<script>| on\w+=/);
    const files = [...text.matchAll(/"(static\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThan(2);
    for (const path of files)
      expect([path, (await ask(onCall, 'GET', `/${path}`)).status]).toEqual([path, 200]);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
  });
});

describe('an unexpected text in a job', () => {
  const secrets: Secret[] = [
    { name: 'code', value: '90817263' },
    { name: 'short code', value: '4711' },
    { name: 'phone', value: '5511987660077' },
    { name: 'key', value: 'ak_live_0f3kQ9vJ2mX7cR5tB8nW1yL4' },
    { name: 'token', value: 'EAAGplantedtoken7f3bQQ' },
    { name: 'message id', value: 'HBgNNTUxMTk4NzY2MDA3NxUCABEYEjdGM0I' },
  ];
  const values = [
    ...secrets.map(({ value }) => value),
    '+5511987660077',
    'wamid.HBgNNTUxMTk4NzY2MDA3NxUCABEYEjdGM0I',
  ];
  /** Every secret in every usual encoding, as one text. */
  const leak = values
    .flatMap((value) => [
      value,
      Buffer.from(value).toString('hex'),
      ...['', 'x', 'xx'].map((before) => Buffer.from(before + value).toString('base64')),
      Buffer.from(`x${value}`).toString('base64url'),
      encodeURIComponent(value),
    ])
    .join(' ');

  it('is shown on no page of the board', async () => {
    const sendId = newId();
    const id = await jobs.failedJob(sendId, leak);
    const key = `${server.prefix}:deliver:${id}`;
    await jobs.redis.hset(key, {
      name: leak,
      data: JSON.stringify({ sendId, code: 90_817_263, to: leak, [leak]: leak }),
      opts: JSON.stringify({ attempts: 5, note: leak, parent: { id: leak, queue: leak } }),
      progress: JSON.stringify({ leak }),
      returnvalue: JSON.stringify({ outcome: leak, [leak]: leak }),
      stacktrace: JSON.stringify([`Error: ${leak}\n    at ${leak} (file.js:1:1)`]),
      deid: leak,
      pb: leak,
      defa: leak,
    });
    await jobs.redis.rpush(`${key}:logs`, leak);
    await jobs.redis.client('SETNAME', `${server.prefix}:deliver:w:${values[3]}`);
    const second = await jobs.failedJob(newId(), `Error ECONNREFUSED ${leak}`);

    const answers: string[] = [];
    for (const who of [onCall, operator])
      for (const path of [...PAGES, ...READS, `/api/queues/deliver/${second}`, `/api/queues/deliver/${leak}`])
        answers.push((await ask(who, 'GET', path.replace('/1', `/${id}`))).text);
    // The error about a missing job quotes its id.
    await jobs.redis.del(key);
    answers.push((await ask(operator, 'PUT', `/api/queues/deliver/${id}/clean`)).text);

    expect(answers.join('\n')).toContain(sendId);
    expect(answers.join('\n')).toContain('[removed]');
    expect(findSecrets(answers.join('\n'), secrets)).toEqual([]);
  });

  it.each([
    'job stalled more than allowable limit',
    'StatementError SQLSTATE_23514',
    'PrismaClientKnownRequestError P2010',
    'Error ECONNREFUSED',
  ])('does not include a reason that workers or BullMQ write, which the board shows: %s', async (reason) => {
    const id = await jobs.failedJob(newId(), reason);
    expect(JSON.parse((await ask(onCall, 'GET', `/api/queues/deliver/${id}`)).text).job.failedReason).toBe(
      reason,
    );
  });
});

describe('a job of a send', () => {
  const jobOf = async (id: string, reader = onCall) =>
    JSON.parse((await ask(reader, 'GET', `/api/queues/deliver/${id}`)).text).job;
  const finishedJob = async (returnValue: unknown, sendId = newId()): Promise<string> => {
    const id = await jobs.failedJob(sendId);
    await jobs.redis.hset(`${server.prefix}:deliver:${id}`, { returnvalue: JSON.stringify(returnValue) });
    return id;
  };

  it('shows its outcome and links to its send', async () => {
    const sendId = newId();
    expect(await jobOf(await finishedJob({ outcome: 'waiting' }, sendId))).toMatchObject({
      data: { sendId },
      returnValue: { outcome: 'waiting' },
      externalUrl: { href: `/staff/sends/${sendId}`, displayText: 'Open the send' },
    });
  });

  it('links to its send in the reader’s language', async () => {
    const brazilian = await person(server, { staff: 'on_call' });
    await server.db.sql("update users set language = 'pt-BR' where id = $1", [brazilian.id]);
    const { externalUrl } = await jobOf(await jobs.failedJob(), brazilian);
    expect(externalUrl.displayText).toBe('Abrir o envio');
  });

  it.each([
    ['a text', 'accepted'],
    ['an outcome that no worker writes', { outcome: '+5511987660077' }],
    ['an outcome that is not a text', { outcome: ['accepted'] }],
  ])('hides a result that is %s', async (_, returnValue) => {
    expect((await jobOf(await finishedJob(returnValue))).returnValue).toBeNull();
  });

  it('hides the other fields of a result', async () => {
    const id = await finishedJob({ outcome: 'accepted', to: '+5511987660077' });
    expect((await jobOf(id)).returnValue).toEqual({ outcome: 'accepted' });
  });
});

describe('a view of sends on the board', () => {
  const readAudit = async (who: TestPerson) =>
    (await listAuditEntries(server.db.database, { limit: 100 }))
      .filter(({ actor, action }) => actor.id === who.id && action !== 'user.sign_in')
      .map(({ action, subject, accountId }) => [action, subject, accountId]);

  it('is recorded in the audit log: a job under its send for any spelling of the URL, and lists once an hour', async () => {
    const reader = await person(server, { staff: 'on_call' });
    const caller = await buildCaller(server.db.database, 'live', { credits: 2 });
    const sends = [await buildSend(server.db.database, caller), await buildSend(server.db.database, caller)];
    const ids = [await jobs.failedJob(sends[0]), await jobs.failedJob(sends[1])];
    for (let poll = 0; poll < 3; poll += 1)
      await ask(reader, 'GET', '/api/queues?activeQueue=deliver&status=failed');
    expect(await readAudit(reader)).toEqual([['board.read', 'jobs', null]]);
    for (let poll = 0; poll < 3; poll += 1) await ask(reader, 'GET', `/api/queues/deliver/${ids[0]}`);
    const unusual = `/api/Queues/%64eliver/${ids[1]!.replace(/./, (digit) => `%3${digit}`)}/`;
    expect((await ask(reader, 'GET', unusual)).text).toContain(sends[1]);
    expect(await readAudit(reader)).toEqual([
      ['send.read', sends[1], caller.accountId],
      ['send.read', sends[0], caller.accountId],
      ['board.read', 'jobs', null],
    ]);
  });

  it('is not shown when it cannot be logged', async () => {
    const reader = await person(server, { staff: 'operator' });
    const send = newId();
    const id = await jobs.failedJob(send);
    await server.db.sql(
      "alter table audit_entries add constraint full_up check (action not in ('send.read', 'board.read')) not valid",
    );
    const answers = [
      await ask(reader, 'GET', `/api/queues/deliver/${id}`),
      await ask(reader, 'GET', '/api/queues?activeQueue=deliver&status=failed'),
    ];
    await server.db.sql('alter table audit_entries drop constraint full_up');
    for (const { status, text } of answers) {
      expect(status).toBe(500);
      expect(text).not.toContain(send);
    }
  });
});
