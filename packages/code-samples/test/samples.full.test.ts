import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samplesOf, type SampleRequest } from '@onecode/code-samples';
import { goText, javaText, jsText, phpText, shellText } from '../src/literals.js';

const ID = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';
/** Quotes of every language, the end tag of PHP, shell commands, and a line break. */
const HOSTILE = `'"\`\\ \${HOME} $(id) $x ?> %s {} é\n*/ #`;

const requests: Record<string, SampleRequest> = {
  createSend: {
    method: 'POST',
    path: '/v1/send',
    needsKey: true,
    isCreation: true,
    body: { to: '+447700900123', code: '004217', locale: 'pt-BR' },
  },
  getSendStatus: {
    method: 'GET',
    path: `/v1/send/${ID}/status`,
    needsKey: true,
    isCreation: false,
    body: null,
  },
  verifyCode: {
    method: 'POST',
    path: '/v1/send/{id}/verify',
    needsKey: true,
    isCreation: false,
    body: { code: HOSTILE },
  },
  getSignupSettings: {
    method: 'GET',
    path: '/v1/signup-settings',
    needsKey: false,
    isCreation: false,
    body: null,
  },
};
const SERVICE = { baseUrl: 'https://api.example.test/codes', keyComment: 'a test key' };
const operations = Object.keys(requests);

const sampleIn = (label: string, operation: string): string =>
  samplesOf(operation, requests[operation]!, SERVICE).find((sample) => sample.label === label)!.code;

/** The checks of each language's own tools. Go and Java are compiled, which finds unused imports. */
const CHECKS: Record<string, { file: string; tool: string; arguments: string[] }> = {
  curl: { file: 'sample.sh', tool: 'sh', arguments: ['-n', 'sample.sh'] },
  Node: { file: 'sample.mjs', tool: process.execPath, arguments: ['--check', 'sample.mjs'] },
  Python: {
    file: 'sample.py',
    tool: 'python3',
    arguments: ['-c', 'compile(open("sample.py").read(), "sample.py", "exec")'],
  },
  PHP: { file: 'sample.php', tool: 'php', arguments: ['-l', 'sample.php'] },
  Go: { file: 'sample.go', tool: 'go', arguments: ['build', '-o', 'sample', 'sample.go'] },
  Java: { file: 'Sample.java', tool: 'javac', arguments: ['-d', 'classes', 'Sample.java'] },
};

const isThere = (tool: string): boolean =>
  tool === process.execPath || spawnSync('which', [tool]).status === 0;

const folder = mkdtempSync(join(tmpdir(), 'onecode-samples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (tool: string, args: readonly string[], input = ''): string =>
  execFileSync(tool, args, { cwd: folder, encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'pipe'] });

/** The first build with Go compiles its HTTP client. */
const COMPILE_MS_MAX = 240_000;

describe.each(Object.entries(CHECKS))('the samples in %s', (label, check) => {
  const testIf = isThere(check.tool) ? it : it.skip;
  const without = isThere(check.tool) ? '' : `, not tested: ${check.tool} is not on the path`;

  testIf.each(operations)(
    `are valid code for %s, with any text in the body${without}`,
    (operation) => {
      writeFileSync(join(folder, check.file), sampleIn(label, operation));
      run(check.tool, check.arguments);
    },
    COMPILE_MS_MAX,
  );

  it.each(operations)(
    'describe the key in a comment, and read it from the environment only if %s needs it',
    (operation) => {
      const code = sampleIn(label, operation);
      expect(code.includes('ONECODE_API_KEY: a test key')).toBe(true);
      if (label !== 'Node')
        expect(code.replace(/ONECODE_API_KEY: .*/, '').includes('ONECODE_API_KEY')).toBe(
          requests[operation]!.needsKey,
        );
    },
  );

  it.each(operations.filter((operation) => operation !== 'verifyCode'))(
    'contain the address and every field of the body of %s',
    (operation) => {
      const code = sampleIn(label, operation);
      const { path, body } = requests[operation]!;
      expect(code).toContain(label === 'Node' ? SERVICE.baseUrl : SERVICE.baseUrl + path);
      for (const [name, value] of Object.entries(body ?? {})) {
        expect(code).toContain(name);
        expect(code).toContain(value);
      }
    },
  );
});

describe('string literals', () => {
  it.each(['', 'plain', HOSTILE, '\\', "\\'", '\u2028'])(
    'evaluate to the original text in every language: %j',
    (text) => {
      expect(run(process.execPath, ['-e', `process.stdout.write(${jsText(text)})`])).toBe(text);
      expect(run('sh', ['-c', `printf %s ${shellText(text)}`])).toBe(text);
      if (isThere('php')) expect(run('php', [], `<?php echo ${phpText(text)};`)).toBe(text);
      if (isThere('python3'))
        expect(run('python3', ['-c', `print(${JSON.stringify(text)}, end="")`])).toBe(text);
    },
  );

  it('are raw strings in Go if possible, and JSON strings otherwise', () => {
    expect(goText('{"to":"+44"}')).toBe('`{"to":"+44"}`');
    expect(goText('a`b')).toBe('"a`b"');
    expect(goText('a\nb')).toBe('"a\\nb"');
  });

  it('escape quotes and backslashes in Java', () => {
    expect(javaText('{"to":"\\u0001"}')).toBe('"{\\"to\\":\\"\\\\u0001\\"}"');
  });
});

it('samplesOf throws for an operation that the contract does not have', () => {
  expect(() => samplesOf('deleteSend', requests['createSend']!, SERVICE)).toThrow('deleteSend');
});
