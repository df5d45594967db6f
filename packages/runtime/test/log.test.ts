import { killModules, linesOf, startModule } from './moduleProcess.js';

afterEach(killModules);

/** Values that must never appear in a log, in their usual forms. */
const SECRETS = {
  key: 'ak_live_0123456789ABCDEFGHIJabcdefghij012',
  testKey: 'ak_test_zyxwvutsrqponmlkjihgfedcba987654',
  bearer: 'Bearer leaked.bearer-token_1',
  token: 'EAAGm0PX4ZCpsBAplantedTokenOfASender',
  phone: '+5511987654321',
  spacedPhone: '+55 (11) 98765-4321',
  phoneInPath: '/v1/send/%2B5511987654321/status',
  wamid: 'wamid.HBgNNTUxMTk4NzY1NDMyMRUCABEYEjdFRkYz+A/b_c-d==',
  database: 'postgres://onecode:leaked-password@db:5432/onecode',
  redis: 'rediss://:leaked-redis@redis:6379',
};
const NEVER = [
  '0123456789ABCDEFGHIJ',
  'zyxwvutsrq',
  'leaked.bearer',
  'plantedToken',
  '987654321',
  '98765-4321',
  'HBgNNTUx',
  'leaked-password',
  'leaked-redis',
];

/** Returns the output of a process that logs at `trace`. Its variable `secrets` holds the values above. */
async function written(statements: string): Promise<string> {
  const { ended } = startModule(
    `import { createLog } from '@onecode/runtime';
     const secrets = JSON.parse(process.env.SECRETS);
     const log = createLog('test', 'trace');
     ${statements}`,
    { SECRETS: JSON.stringify(SECRETS) },
  );
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

it('the log has one JSON object per line, with level, time, process and message', async () => {
  expect(linesOf(await written(`log.info({ send_id: 'abc' }, 'sent'); log.trace('seen');`))).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      process: 'test',
      pid: expect.any(Number),
      send_id: 'abc',
      msg: 'sent',
    },
    expect.objectContaining({ level: 'trace', msg: 'seen' }),
  ]);
});

it('the log writes every line, in order, before the process exits', async () => {
  // Keeps the single thread for background writes busy.
  const { stdout } = await startModule(
    `import { pbkdf2 } from 'node:crypto';
     import { createLog } from '@onecode/runtime';
     pbkdf2('', '', 300000, 64, 'sha512', () => {});
     const log = createLog('test', 'info');
     for (const message of ['one', 'two', 'three']) log.info(message);
     process.exit(0);`,
    { UV_THREADPOOL_SIZE: '1' },
  ).ended;
  expect(linesOf(stdout).map((line) => line['msg'])).toEqual(['one', 'two', 'three']);
});

/** The places in which a secret is logged, each with the statement that logs it. */
const STATEMENTS: [where: string, statement: string][] = [
  ['a message', `log.trace('before ' + secret + ' after')`],
  ['a field', `log.trace({ field: secret }, 'message')`],
  ['a nested field', `log.debug({ a: { b: [{ c: secret }, secret] } }, 'message')`],
  ['a field’s name', `log.info({ [secret]: 1 }, 'message')`],
  ['a header', `log.info({ req: { headers: { authorization: secret } } }, 'message')`],
  ['a bound field', `log.child({ bound: { secret } }).info('message')`],
  ['an argument', `log.info('%s and %o', secret, { secret })`],
  ['a JSON text in a field', `log.info({ body: JSON.stringify(JSON.stringify({ secret })) }, 'message')`],
  ['an error’s message', `log.error({ err: new Error('before ' + secret) }, 'message')`],
  ['an error’s message under another name', `log.error({ error: new Error(secret) }, 'message')`],
  ['an error’s code and name', `log.error({ err: errorWith({ code: secret, name: secret }) }, 'message')`],
  ['an error’s own fields', `log.error({ err: errorWith({ detail: secret }) }, 'message')`],
  ['an error in a field', `log.error({ failure: errorWith({ detail: secret }, secret) }, 'message')`],
  ['a cause', `log.error({ err: errorWith({ cause: errorWith({ cause: new Error(secret) }) }) }, 'm')`],
  ['a cause that is a text', `log.error({ err: new Error('x', { cause: secret }) }, 'message')`],
  ['an error of several lines', `log.error({ err: new Error('x\\n    at ' + secret) }, 'message')`],
  ['an error alone', `log.fatal(new Error(secret))`],
  ['an error without a message', `log.error({ err: new Error(secret) })`],
  ['a thrown text', `log.error({ err: secret }, 'message')`],
];

it('the log removes secrets from every part of a line, at level trace', async () => {
  const statements = STATEMENTS.map(
    ([, statement]) => `log.info('next'); for (const secret of values) { ${statement}; }`,
  );
  const output = await written(
    `const values = Object.values(secrets);
     const errorWith = (own, message = 'x') => Object.assign(new Error(message), own);
     ${statements.join('\n')}`,
  );
  const [, ...parts] = output.split(/^.*"msg":"next".*\n/m);
  expect(parts).toHaveLength(STATEMENTS.length);
  for (const [n, part] of parts.entries()) {
    const [where] = STATEMENTS[n]!;
    expect([where, linesOf(part).length]).toEqual([where, Object.keys(SECRETS).length]);
    expect([where, NEVER.filter((secret) => part.includes(secret))]).toEqual([where, []]);
  }
});

it('the log keeps the text around a secret', async () => {
  const output = await written(
    `log.info(Object.values(secrets).map((secret) => '< ' + secret + ' >').join(' '))`,
  );
  expect(linesOf(output)[0]?.['msg']).toBe(
    [
      '< ak_live_[removed] > < ak_test_[removed] > < Bearer [removed] > < EAA[removed] > < +[removed] > < +[removed] >',
      '< /v1/send/+[removed]/status > < wamid.[removed] >',
      '< postgres://[removed]@db:5432/onecode > < rediss://[removed]@redis:6379 >',
    ].join(' '),
  );
});

it('the log keeps ids, times, and addresses without a user', async () => {
  const text =
    '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f 2026-11-20T10:31:44+00:00 http://x.test:80/a@b +1 1.5e+21';
  expect(linesOf(await written(`log.info(${JSON.stringify(text)})`))[0]?.['msg']).toBe(text);
});

it('the log contains the type, code and stack of an error, and masks digits in its message, which may be a code', async () => {
  const output = await written(
    `log.error({ err: Object.assign(new TypeError('code 042913 is wrong'), { code: 'P2010' }) }, 'failed');
     log.error({ err: new Error('the code is 0429') });
     log.error(new Error('the code is 9021384756'));
     log.error({ err: new Error('x', { cause: new Error('its code is 5550') }) }, 'failed');
     log.error({ err: new Error('x\\n    at code is 7312') }, 'failed');`,
  );
  expect(linesOf(output)[0]?.['err']).toEqual({
    type: 'TypeError',
    code: 'P2010',
    message: 'code [digits] is wrong',
    at: expect.arrayContaining([expect.stringMatching(/^at /)]),
  });
  for (const code of ['042913', '0429', '9021384756', '5550', '7312'])
    expect(output).not.toContain(`code is ${code}`);
  expect(output).not.toContain('042913');
});

it('the log truncates a long error, and accepts an error that is its own cause', async () => {
  const output = await written(
    `log.error({ err: new Error('x'.repeat(100000)) }, 'long');
     const circle = new Error('circle'); circle.cause = circle;
     log.error({ err: circle }, 'round');`,
  );
  expect(output.length).toBeLessThan(10_000);
  expect(linesOf(output).map((line) => line['msg'])).toEqual(['long', 'round']);
});

it('the log writes lines that are expensive to search in less than five seconds', async () => {
  // A search that restarts at each letter would take minutes for these lines.
  const output = await written(
    `const started = performance.now();
     for (const part of ['a', 'Bearer ', '+1', 'ak_live_', 'wamid.', '://', '+1 ', 'x://y'])
       log.info(part.repeat(400000 / part.length));
     log.info({ ms: performance.now() - started }, 'done');`,
  );
  expect(linesOf(output).at(-1)?.['ms']).toBeLessThan(5_000);
});
