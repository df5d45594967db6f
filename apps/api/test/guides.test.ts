import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import { buildCaller, describeIf, type TestCaller } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { simulateDelivery } from './deliveries.js';
import { startApi, type TestApi } from './testApi.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SITE = join(ROOT, 'apps/docs/dist');
const SERVICE = 'https://api.example.com';
const RUN_MS_MAX = 180_000;

let api: TestApi;
let caller: TestCaller;
let folder: string;
beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test');
  // Inside the repository, so that a program finds the SDK as an installed package.
  mkdirSync(join(ROOT, '.data'), { recursive: true });
  folder = mkdtempSync(join(ROOT, '.data/guides-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

/** The blocks of a page in a language, with this API's address in them. */
function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(SITE, `${page}.md`), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\b.*\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code.replaceAll(SERVICE, api.url),
  );
}

const has = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Runs a program as a reader would. @returns its standard output @throws unless it ends with 0 */
async function run(command: string, args: string[], variables: Record<string, string> = {}): Promise<string> {
  const { PATH = '', HOME = tmpdir() } = process.env;
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH, HOME, ONECODE_API_KEY: caller.key, ...variables },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part: Buffer) => (stdout += part.toString()));
  child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}: ${stderr}`);
  return stdout;
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const statusOf = async (id: string): Promise<{ status: string; verification: string }> =>
  (await api.status(caller, id).expect(200)).body as { status: string; verification: string };

describeIf(has('curl', '--version'))('the quick start with curl', () => {
  it('goes from nothing to a verified code', async () => {
    const [, send = '', follow = '', verify = ''] = blocksOf('quick-start', 'sh');
    const sh = (code: string, variables = {}) => run('sh', ['-c', code], variables);

    const sent = JSON.parse(await sh(send)) as { id: string; verification: string };
    expect(sent.verification).toBe('pending');
    const again = JSON.parse(await sh(send)) as { id: string };
    expect(again.id).toBe(sent.id);

    const followed = JSON.parse(await sh(follow, { SEND_ID: sent.id })) as { id: string; mode: string };
    expect(followed).toMatchObject({ id: sent.id, mode: 'test' });

    expect(JSON.parse(await sh(verify, { SEND_ID: sent.id }))).toEqual({
      valid: true,
      verification: 'verified',
      attempts_left: 0,
    });
  });
});

describeIf(existsSync(join(ROOT, 'packages/client/dist')))('the quick start with the SDK', () => {
  it('goes from nothing to a verified code', async () => {
    const [send = '', follow = '', verify = ''] = blocksOf('quick-start', 'ts');
    const node = (name: string, code: string, variables = {}) => {
      const { code: script } = transformSync(code, {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
      });
      return run(process.execPath, [write(name, script)], variables);
    };
    const [id = '', , expiresAt = ''] = (await node('send.mjs', send)).trim().split(' ');
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    expect((await statusOf(id)).verification).toBe('pending');

    // The worker's part; none runs here.
    await simulateDelivery(api.db, id);
    expect(await node('follow.mjs', follow, { SEND_ID: id })).toBe('read sandbox\n');
    expect(await node('verify.mjs', verify, { SEND_ID: id })).toBe('true verified\n');
    expect(await node('again.mjs', verify, { SEND_ID: id })).toBe('false verified\n');
  });
});

/** How a sample of the reference is run, by the language of its block. */
const RUNNERS: [language: string, isHere: boolean, start: (code: string) => [string, string[]]][] = [
  ['sh', has('curl', '--version') && has('openssl', 'version'), (code) => ['sh', ['-c', code]]],
  ['python', has('python3', '--version'), (code) => ['python3', [write('sample.py', code)]]],
  ['php', has('php', '--version'), (code) => ['php', [write('sample.php', code)]]],
  ['go', has('go', 'version'), (code) => ['go', ['run', write('sample.go', code)]]],
  ['java', has('java', '-version'), (code) => ['java', [write('Sample.java', code)]]],
];

describe.each(RUNNERS)('the samples of the reference in %s', (language, isHere, start) => {
  (isHere ? it : it.skip)(
    'create a send, follow it, and read the offer',
    async () => {
      const [create = ''] = blocksOf('reference/create-send', language);
      const created = await run(...start(create));
      const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(created)?.[0] ?? '';
      expect((await statusOf(id)).verification).toBe('pending');

      const [follow = ''] = blocksOf('reference/send-status', language);
      const example = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';
      expect(await run(...start(follow.replaceAll(example, id)))).toContain(id);

      const [verify = ''] = blocksOf('reference/verify-code', language);
      expect(await run(...start(verify.replaceAll(example, id).replaceAll('004217', '000000')))).toContain(
        'verified',
      );
      expect((await statusOf(id)).verification).toBe('verified');

      const [offer = ''] = blocksOf('reference/signup-settings', language);
      expect(await run(...start(offer))).toContain('free_sends');
    },
    RUN_MS_MAX,
  );
});

describe('the requests on the page of errors', () => {
  /** Those that take an outage, a slow client, a flood, or more bytes than a page shows; the tests of their subjects have them. */
  const ELSEWHERE = new Set([
    'request_timeout',
    'headers_too_large',
    'payload_too_large',
    'too_busy',
    'internal_error',
  ]);
  const page = readFileSync(join(SITE, 'errors.md'), 'utf8');
  const sections = [...page.matchAll(/^### (\w+) · (\d+)\n[\s\S]*?^```http\n([\s\S]*?)^```$/gm)].filter(
    ([, code = '']) => !ELSEWHERE.has(code),
  );

  it.each(sections.map(([, code = '', status = '', request = '']) => ({ code, status, request })))(
    'are answered as it says: $code',
    async ({ code, status, request }) => {
      const mode = await buildCaller(api.db.database, 'live', {
        ratePerMinute: code === 'rate_limited' ? 1 : 600,
        freeQuota: code === 'insufficient_credits' ? 0 : 5,
      });
      const [head = '', body] = request.trimEnd().split('\n\n');
      const [line = '', ...lines] = head.replaceAll('ak_live_…', mode.key).split('\n');
      const [method = '', path = ''] = line.split(' ');
      const headers = lines.map((one) => one.split(': ') as [string, string]);
      const send = (content = body) => rawRequest(api.port, method, path, headers, content);
      if (code === 'rate_limited') await send();
      if (code === 'idempotency_key_reused') await send('{"to":"+447700900123"}');
      const { status: got, json } = await send();
      expect([got, json.code]).toEqual([Number(status), code]);
    },
  );
});
