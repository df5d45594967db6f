import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROBLEMS } from '@onecode/domain';
import { buildCaller, closedPort, describeIf, type TestCaller } from '@onecode/testing';
import { simulate } from './contractTarget.js';
import { guideBlocks, makeGuideFolder, ROOT, scriptOf } from './guideBlocks.js';
import { startApi, type TestApi } from './testApi.js';

const SERVICE = 'https://api.example.com';
const RUN_MS_MAX = 180_000;

let api: TestApi;
let caller: TestCaller;
let folder: string;
beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test');
  folder = makeGuideFolder();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

/** Returns the code blocks of a page in a language, with this API's address. */
const blocksOf = (page: string, language: string): string[] =>
  guideBlocks(page, language).map((code) => code.replaceAll(SERVICE, api.url));

const has = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Runs a program as a reader would. @returns its standard output. @throws if it fails */
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
  it('sends, follows and verifies a code', async () => {
    const [send = '', follow = '', verify = ''] = blocksOf('quick-start', 'sh').filter((code) =>
      code.includes('/v1/send'),
    );
    const sh = (code: string, variables = {}) => run('sh', ['-c', code], variables);

    const sent = JSON.parse(await sh(send)) as { id: string; verification: string };
    expect(sent.verification).toBe('pending');
    const again = JSON.parse(await sh(send)) as { id: string };
    expect(again.id).not.toBe(sent.id);

    const followed = JSON.parse(await sh(follow, { SEND_ID: sent.id })) as { id: string; mode: string };
    expect(followed).toMatchObject({ id: sent.id, mode: 'test' });

    expect(JSON.parse(await sh(verify, { SEND_ID: sent.id }))).toEqual({
      valid: true,
      verification: 'verified',
      attempts_left: 0,
    });
  });
});

describeIf(has('python3', '--version'))('the quick start with Python', () => {
  it('sends, follows and verifies a code', async () => {
    const [send = '', follow = '', verify = ''] = blocksOf('quick-start', 'python');
    const python = (code: string, variables = {}) => run('python3', [write('step.py', code)], variables);
    await run('sh', ['-c', blocksOf('quick-start', 'sh').find((code) => code.includes('onecode.py')) ?? '']);

    const [id = ''] = (await python(send)).split(' ');
    expect((await statusOf(id)).verification).toBe('pending');
    await simulate(api.db, id);
    expect(await python(follow, { SEND_ID: id })).toBe('read sandbox\n');
    expect(await python(verify, { SEND_ID: id })).toBe('True verified\n');
    await expect(python(send.replace('+5511961234567', '0770'))).rejects.toThrow('invalid_recipient');
  });
});

describeIf(existsSync(join(ROOT, 'packages/client/dist')))('the guides with the SDK', () => {
  const node = (name: string, code: string, variables = {}) =>
    run(process.execPath, [write(name, scriptOf(code))], variables);

  it('send, follow and verify a code', async () => {
    const [send = '', follow = '', verify = ''] = blocksOf('quick-start', 'ts');
    const [id = '', , expiresAt = ''] = (await node('send.mjs', send)).trim().split(' ');
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    expect((await statusOf(id)).verification).toBe('pending');

    // Replaces the worker, which is not running here.
    await simulate(api.db, id);
    expect(await node('follow.mjs', follow, { SEND_ID: id })).toBe('read sandbox\n');
    expect(await node('verify.mjs', verify, { SEND_ID: id })).toBe('true verified\n');
    expect(await node('again.mjs', verify, { SEND_ID: id })).toBe('false verified\n');
  });

  it('install a working SDK from the service', async () => {
    const own = mkdtempSync(join(tmpdir(), 'onecode-install-'));
    try {
      const install = blocksOf('quick-start', 'sh').find((code) => code.includes('npm install')) ?? '';
      const offline = {
        npm_config_offline: 'true',
        npm_config_audit: 'false',
        npm_config_cache: join(own, 'c'),
      };
      await run('sh', ['-c', `cd '${own}' && ${install}`], offline);
      const [send = ''] = blocksOf('quick-start', 'ts');
      writeFileSync(join(own, 'step.mjs'), scriptOf(send));
      expect(await run(process.execPath, [join(own, 'step.mjs')])).toContain(' queued ');
    } finally {
      rmSync(own, { recursive: true });
    }
  });

  it.each(['express', 'nextjs', 'logto-connector'])(
    'offer the %s example with all its files',
    async (name) => {
      const files = await run('sh', ['-c', `curl -sS ${api.url}/docs/examples/${name}.tgz | tar -tz`]);
      const own = spawnSync('git', ['ls-files', '.'], {
        cwd: join(ROOT, 'examples', name),
        encoding: 'utf8',
      });
      const sorted = (text: string): string[] => text.trim().split('\n').toSorted();
      expect(sorted(files.replaceAll(/^package\//gm, ''))).toEqual(sorted(own.stdout));
    },
  );

  it('convert every form of a number to one form', async () => {
    const [code = ''] = blocksOf('phone-numbers', 'ts');
    const forms = [
      ['+5511987654321', '+55 11 8765-4321', '+55 (011) 98765\u20114321'],
      ['+525512345678', '+52 1 55 1234 5678'],
      ['+5491112345678', '+54 11 1234-5678'],
      ['+447700900321', '\u202a+44\u00a0(0)7700 900321\u202c'],
      [undefined, '0770'],
    ];
    const print = `console.log(JSON.stringify(${JSON.stringify(forms.flatMap(([, ...typed]) => typed))}.map((one) => oneForm(one) ?? null)))`;
    const read = JSON.parse(await node('oneForm.mjs', code + print)) as (string | null)[];
    expect(read).toEqual(forms.flatMap(([one, ...typed]) => typed.map(() => one ?? null)));
  });

  it('contain tests that pass with the test double', async () => {
    const [rules = '', , ownTest = ''] = blocksOf('sign-in', 'ts');
    write('signIn.js', scriptOf(rules));
    const tests = [...blocksOf('double', 'ts'), ownTest].filter((code) => code.includes("from 'node:test'"));
    expect(tests).toHaveLength(2);
    for (const [index, code] of tests.entries())
      await run(process.execPath, ['--test', write(`double${index}.test.mjs`, scriptOf(code))]);
  });
});

describeIf(has('python3', '--version'))('the sign-in in Python', () => {
  /** Tries what a reader would try, against the test double, which the program controls over HTTP. */
  const PROGRAM = `
import json, sys, threading, urllib.request
import sign_in
from sign_in import Outcome, SignInSession, finish_sign_in, progress, start_sign_in

PHONE = "+447700900123"

def control(path, **ask):
    request = urllib.request.Request(sys.argv[1] + path, json.dumps(ask).encode(), method="POST")
    return json.load(urllib.request.urlopen(request))

finish = lambda typed: finish_sign_in(session, typed).kind
code = lambda: control("/code", to=PHONE)
sends = lambda: len(control("/sends"))
ended = lambda reason: Outcome("ask-for-a-new-code", reason=reason)
lose = lambda times, **more: control("/script", to=PHONE, outcomes=[{"answer": "lost", "afterWork": True, "times": times, **more}])

def twice(call):
    results = []
    threads = [threading.Thread(target=lambda: results.append(call())) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return results

session = SignInSession()
twice(lambda: start_sign_in(session, PHONE))
assert sends() == 1
assert finish("nonsense") == "wrong-code"
typed = code()
assert twice(lambda: finish(typed)) == ["signed-in", "signed-in"]
assert session.signed_in_as == PHONE

for make_old in (lambda session: control("/advance", seconds=600), lambda session: setattr(session.unfinished, "asked_at", 0), None):
    session, before = SignInSession(), sends()
    lose(2)
    try:
        start_sign_in(session, PHONE)
        raise AssertionError
    except sign_in.ConnectionError:
        pass
    if make_old: make_old(session)
    start_sign_in(session, PHONE)
    assert sends() == before + (2 if make_old else 1)
    assert finish(code()) == "signed-in"

session, codes = SignInSession(), []
for _ in range(3):
    start_sign_in(session, PHONE, pause_seconds=0)
    codes.append(code())
assert finish(codes[0]) == "wrong-code"
assert finish(codes[1]) == "signed-in"

session = SignInSession()
start_sign_in(session, PHONE)
lose(1, on="verify")
assert finish_sign_in(session, code()) == progress(session) == ended("unknown")
assert session.signed_in_as is None

session = SignInSession()
start_sign_in(session, PHONE)
control("/advance", seconds=600)
assert progress(session) == finish_sign_in(session, "123456") == progress(session) == ended("expired")
start_sign_in(session, PHONE)
for _ in range(4):
    finish("nonsense")
assert finish_sign_in(session, "nonsense") == ended("locked")
control("/script", to=PHONE, outcomes=[{"status": "failed", "reason": "rejected_by_provider"}])
start_sign_in(session, PHONE)
assert progress(session) == Outcome("failed", PHONE, failure_reason="rejected_by_provider")
print("all of it")
`;

  it('sends one message for two clicks, accepts the code that arrived first, and returns reasons', async () => {
    const [port, control] = [await closedPort(), await closedPort()];
    const command = join(ROOT, 'packages/client/dist/cjs/testing/command.js');
    const args = [
      command,
      '--port',
      String(port),
      '--control-port',
      String(control),
      '--live-key',
      'ak_live_1',
    ];
    const double = spawn(process.execPath, args, { stdio: 'pipe' });
    try {
      await once(double.stdout, 'data');
      write('onecode.py', readFileSync(join(ROOT, 'clients/python/onecode.py'), 'utf8'));
      write('sign_in.py', blocksOf('sign-in', 'python')[0] ?? '');
      const variables = { ONECODE_URL: `http://127.0.0.1:${port}`, ONECODE_API_KEY: 'ak_live_1' };
      const program = write('try_it.py', PROGRAM);
      expect(await run('python3', [program, `http://127.0.0.1:${control}`], variables)).toBe('all of it\n');
    } finally {
      double.kill();
    }
  });
});

/** The commands that run the samples of the reference, by language. */
const RUNNERS: [language: string, isHere: boolean, start: (code: string) => [string, string[]]][] = [
  ['sh', has('curl', '--version') && has('openssl', 'version'), (code) => ['sh', ['-c', code]]],
  ['python', has('python3', '--version'), (code) => ['python3', [write('sample.py', code)]]],
  ['php', has('php', '--version'), (code) => ['php', [write('sample.php', code)]]],
  ['go', has('go', 'version'), (code) => ['go', ['run', write('sample.go', code)]]],
  ['java', has('java', '-version'), (code) => ['java', [write('Sample.java', code)]]],
];
const SDK_RUNNER: (typeof RUNNERS)[number] = [
  'ts',
  existsSync(join(ROOT, 'packages/client/dist')),
  (code) => [process.execPath, [write('sample.mjs', scriptOf(code))]],
];

describe.each(RUNNERS)('the samples of the reference in %s', (language, isHere, start) => {
  describeIf(isHere)('if the language is installed', () => {
    it(
      'create a send, follow it, verify it, and read the sign-up settings',
      async () => {
        const sample = async (page: string, id = '', code = '004217') => {
          const [block = ''] = blocksOf(`reference/${page}`, language);
          return run(...start(block.replaceAll('004217', code)), { SEND_ID: id });
        };
        const created = await sample('create-send');
        const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(created)?.[0] ?? '';
        expect((await statusOf(id)).verification).toBe('pending');
        expect(await sample('send-status', id)).toContain(id);
        expect(await sample('verify-code', id, '000000')).toContain('verified');
        expect((await statusOf(id)).verification).toBe('verified');
        expect(await sample('signup-settings')).toContain('free_sends');
      },
      RUN_MS_MAX,
    );
  });
});

describe.each([...RUNNERS, SDK_RUNNER])('the samples of the reference in %s', (language, isHere, start) => {
  describeIf(isHere)('if the language is installed', () => {
    it.each(['create-send', 'send-status', 'verify-code'])(
      'print the service’s error for a refused request: %s',
      async (page) => {
        const [code = ''] = blocksOf(`reference/${page}`, language);
        const shown = await run(...start(code), {
          ONECODE_API_KEY: 'ak_test_unknown',
          SEND_ID: 'the-send',
        }).catch(String);
        expect(shown).toContain(PROBLEMS.invalid_api_key.meaning);
      },
      RUN_MS_MAX,
    );
  });
});
