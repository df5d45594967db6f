import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describeIf } from '@onecode/testing';
import { startOnecode, type OnecodeServer } from '@onecode/client/testing';
import { CONTRACT } from './contract.js';

const ROOT = resolve(import.meta.dirname, '../..');
const COMPILE_MS_MAX = 180_000;
const PHONE = '+5511961234567';

/** The files of the guide, by their names. */
const FILES = [
  ...readFileSync(join(ROOT, 'apps/docs/pages/integrate/keycloak.md'), 'utf8').matchAll(
    /^```\w+ \[(.*)\]\n([^]*?)^```$/gm,
  ),
].map(([, name = '', text = '']) => [name, text] as const);
const textOf = (part: string): string => FILES.find(([name]) => name.includes(part))![1];

/** Returns the keys and texts of a language. */
const messagesIn = (language: string): Map<string, string> =>
  new Map(
    textOf(`messages_${language}`)
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s) as [string, string]),
  );

it('the messages for Keycloak have the keys that its files use, the same in both languages', () => {
  const keys = [...messagesIn('en').keys()];
  expect([...messagesIn('pt_BR').keys()]).toEqual(keys);
  const named = FILES.filter(([name]) => /\.(?:java|ftl)$/.test(name)).flatMap(
    ([, text]) => text.match(/(?<=")onecode[A-Z]\w+(?=")/g) ?? [],
  );
  expect(new Set(named)).toEqual(new Set(keys.filter((key) => !key.includes('-'))));
});

describeIf(spawnSync('javac', ['-version']).status === 0)('the authenticator for Keycloak', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-keycloak-'));
  let server: OnecodeServer;
  let driver: ChildProcess;
  let lines: AsyncIterator<string>;
  beforeAll(async () => {
    server = await startOnecode();
    const sources = [...CONTRACT, ...FILES].map(([name, text]) => {
      const file = join(folder, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    });
    cpSync(join(ROOT, 'clients/java/Onecode.java'), join(folder, 'onecode/Onecode.java'));
    const java = [...sources.filter((file) => file.endsWith('.java')), join(folder, 'onecode/Onecode.java')];
    const program = join(ROOT, 'test/keycloak/Driver.java');
    execFileSync('javac', ['-Xlint:all', '-Werror', '-d', folder, ...java, program], { stdio: 'pipe' });
    driver = spawn('java', ['-cp', folder, 'Driver'], {
      env: { ...process.env, ONECODE_URL: server.baseUrl, ONECODE_API_KEY: server.keys.live },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    lines = createInterface({ input: driver.stdout! })[Symbol.asyncIterator]();
  }, COMPILE_MS_MAX);
  afterAll(async () => {
    driver?.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await server?.close();
  });

  /** Calls the authenticator. @returns how it ended, with the page that it shows */
  async function call(...words: string[]): Promise<string> {
    driver.stdin!.write(`${words.join(' ')}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the driver ended');
    return value.trim();
  }
  const authenticate = () => call('authenticate');
  const type = (code: string) => call('code', code);
  const resend = async () => {
    await call('wait');
    return call('resend', '1');
  };
  const PAGE = 'login-onecode.ftl phoneEnd=4567';
  const SHOWN = `challenge ${PAGE}`;
  const code = () => server.lastCode(PHONE);
  const sendCount = () => server.sends.length;

  beforeEach(() => call('user', PHONE, 'pt-BR'));

  it('is configured for a user with a number in E.164', async () => {
    expect(await call('user', PHONE, 'pt-BR')).toBe('onecode true');
  });

  it('sends a code in the page’s language, and succeeds with it once', async () => {
    expect(await authenticate()).toBe(SHOWN);
    expect(server.sends.at(-1)).toMatchObject({ to: PHONE, locale: 'pt-BR' });
    const typed = code();
    expect(await type(typed)).toBe('success');
    expect(await type(typed)).toBe(`${SHOWN} error=onecodeAskAgain`);
  });

  it.each([
    ['en-US', 'en'],
    ['de', null],
  ])('maps the page language %s to the locale %s of the send', async (language, locale) => {
    await call('user', PHONE, language);
    await authenticate();
    expect(server.sends.at(-1)).toMatchObject({ locale });
  });

  it.each(['11961234567', 'unknown', '+0123456'])('is not configured for %s', async (phone) => {
    expect(await call('user', phone, 'en')).toBe('onecode false');
  });

  it('reports a wrong code to Keycloak, and refuses the right code after five', async () => {
    await authenticate();
    for (let count = 0; count < 4; count++)
      expect(await type('nonsense')).toBe(`INVALID_CREDENTIALS ${PAGE} error=onecodeWrong`);
    expect(await type('nonsense')).toBe(`${SHOWN} error=onecodeAskAgain`);
    expect(await type(code())).toBe(`${SHOWN} error=onecodeAskAgain`);
    expect(await resend()).toBe(SHOWN);
    expect(await type(code())).toBe('success');
  });

  it('sends one code for a reloaded page and for a resend within the pause', async () => {
    const before = sendCount();
    await authenticate();
    expect(await authenticate()).toBe(SHOWN);
    expect(await call('resend', '1')).toBe(`${SHOWN} error=onecodeWait`);
    expect(sendCount()).toBe(before + 1);
  });

  it('accepts the code of the send before the latest one, and no older code', async () => {
    await authenticate();
    const codes = [code()];
    for (let count = 0; count < 2; count++) {
      await resend();
      codes.push(code());
    }
    expect(await type(codes[0]!)).toContain('onecodeWrong');
    expect(await type(codes[1]!)).toBe('success');
  });

  it('continues with the same send after lost responses', async () => {
    const before = sendCount();
    server.script(PHONE, { answer: 'lost', afterWork: true, times: 2 });
    expect(await authenticate()).toBe(`${SHOWN} error=onecodeNotSent`);
    expect(await authenticate()).toBe(SHOWN);
    expect(sendCount()).toBe(before + 1);
    expect(await type(code())).toBe('success');
  });

  it('sends a new code when the send without a response has expired', async () => {
    const before = sendCount();
    server.script(PHONE, { answer: 'lost', afterWork: true, times: 2 });
    expect(await authenticate()).toBe(`${SHOWN} error=onecodeNotSent`);
    server.advance(600);
    expect(await authenticate()).toBe(SHOWN);
    expect(sendCount()).toBe(before + 2);
    expect(await type(code())).toBe('success');
  });

  it('does not succeed when the response to a verification is lost', async () => {
    await authenticate();
    server.script(PHONE, { answer: 'lost', on: 'verify', afterWork: true });
    const typed = code();
    expect(await type(typed)).toBe(`${SHOWN} error=onecodeAskAgain`);
    expect(await type(typed)).toBe(`${SHOWN} error=onecodeAskAgain`);
  });

  it('shows that no code was sent when a limit is reached', async () => {
    server.script(PHONE, { answer: 'rate_limited', retryAfterSeconds: 60 });
    expect(await authenticate()).toBe(`${SHOWN} error=onecodeNotSent`);
    expect(await type('123456')).toBe(`${SHOWN} error=onecodeAskAgain`);
  });

  it('does not start without its settings', () => {
    const { status, stderr } = spawnSync('java', ['-cp', folder, 'Driver'], {
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    expect(status).not.toBe(0);
    expect(stderr).toContain('ONECODE_URL is not set');
  });
});
