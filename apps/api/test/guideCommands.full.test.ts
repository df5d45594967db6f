import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCaller, closedPort, until, type TestCaller } from '@onecode/testing';
import { guideBlocks } from './guideBlocks.js';
import { startApi, type TestApi } from './testApi.js';

/** The time for npm to install from the registry and for Next.js to build. */
const RUN_MS_MAX = 600_000;
const SERVICE = 'https://api.example.com';

let api: TestApi;
let caller: TestCaller;
/** An empty folder for each test. */
let folder: string;
beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test');
});
afterAll(() => api.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-commands-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The blocks of a guide, with the address and the key that a reader would insert. */
const blocksOf = (page: string, language: string): string[] => guideBlocks(page, language).map(forReader);
const forReader = (text: string): string =>
  text
    .replaceAll(SERVICE, api.url)
    .replaceAll('http://localhost:3000', api.url)
    .replaceAll(/'?ak_test_…'?/g, caller.key);
const blockWith = (page: string, part: string): string => {
  const block = blocksOf(page, 'sh').find((code) => code.includes(part));
  if (block === undefined) throw new Error(`${page} has no commands with ${part}`);
  return block;
};

interface Started {
  output: () => string;
  exited: Promise<number | null>;
  stop: () => void;
}

/** Starts commands as a reader types them: each must succeed. Their processes are one group, which is stopped together. */
function start(commands: string, variables: Record<string, string> = {}, cwd = folder): Started {
  const { PATH = '', HOME = tmpdir() } = process.env;
  const child = spawn('sh', ['-ec', commands], {
    cwd,
    env: { PATH, HOME, ONECODE_API_KEY: caller.key, npm_config_fund: 'false', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stop = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  };
  return { output: () => output, exited, stop };
}

async function run(commands: string, variables?: Record<string, string>, cwd?: string): Promise<string> {
  const started = start(commands, variables, cwd);
  const code = await started.exited;
  if (code !== 0) throw new Error(`${commands}\nended with ${code}: ${started.output()}`);
  return started.output();
}

/** Starts commands that run a server, and calls `work` when their output contains `line`. */
async function whileServing(
  commands: string,
  line: string,
  work: () => Promise<void>,
  { variables = {}, cwd = folder }: { variables?: Record<string, string>; cwd?: string } = {},
): Promise<void> {
  const started = start(commands, variables, cwd);
  let hasEnded = false;
  void started.exited.then(() => (hasEnded = true));
  try {
    await until('output, or an end', () => started.output().includes(line) || hasEnded, RUN_MS_MAX);
    if (!started.output().includes(line)) throw new Error(`${commands}\nended: ${started.output()}`);
    await work();
  } finally {
    started.stop();
  }
}

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

it(
  'the quick start installs the SDK, and its programs run',
  async () => {
    await run(blockWith('quick-start', 'npm install'));
    write('step.mjs', blocksOf('quick-start', 'ts')[0] ?? '');
    expect(await run('node step.mjs')).toContain(' queued ');
  },
  RUN_MS_MAX,
);

it(
  'the project of the sign-in guide installs, type checks and passes its tests',
  async () => {
    const [rules = '', inTurn = '', test = ''] = blocksOf('sign-in', 'ts');
    await run(`npm init --yes && curl -sSO ${api.url}/docs/onecode-client.tgz`);
    await run(blockWith('events', 'standardwebhooks'));
    for (const [index, name] of ['events', 'signEvent'].entries())
      write(`${name}.ts`, blocksOf('events', 'ts')[index] ?? '');
    write('signIn.ts', rules);
    write('inTurn.ts', inTurn);
    write('signIn.test.ts', test);
    // The other pages' files compile in the same project.
    const pages = [
      'index',
      'quick-start',
      'resend',
      'polling',
      'showing-errors',
      'phone-numbers',
      'testing',
      'double',
    ];
    for (const page of pages)
      for (const [index, code] of blocksOf(page, 'ts').entries()) write(`${page}-${index}.ts`, code);
    expect(await run(blockWith('sign-in', 'npx tsx'))).toMatch(/# pass 4\n|ℹ pass 4\n/);
    const variables = { PORT: String(await closedPort()) };
    expect(await run(blockWith('events', 'signEvent'), variables)).toBe('99\n204\n');
  },
  RUN_MS_MAX,
);

it(
  'npx onecode-double starts the test double',
  async () => {
    await run(`npm init --yes && curl -sSO ${api.url}/docs/onecode-client.tgz`);
    // Ports that no other test uses.
    const [port, control] = [await closedPort(), await closedPort()];
    const commands = `${blockWith('double', 'npx onecode-double').trimEnd()} --port ${port} --control-port ${control}`;
    await whileServing(commands, 'is ready', async () => {
      const keys = await fetch(`http://127.0.0.1:${control}/keys`, { method: 'POST' });
      expect(await keys.json()).toMatchObject({ live: expect.stringMatching(/^ak_live_/) });
    });
  },
  RUN_MS_MAX,
);

it(
  'the container recipe of the test double runs, and its client needs testHosts to call it',
  async () => {
    const [recipe = ''] = blocksOf('double', 'dockerfile');
    const instructions = [...recipe.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name, rest]) => [name, rest!]);
    expect(instructions.map(([name]) => name)).toEqual([
      'FROM',
      'WORKDIR',
      'ADD',
      'RUN',
      'EXPOSE',
      'ENTRYPOINT',
    ]);
    const of = (wanted: string): string => instructions.find(([name]) => name === wanted)![1]!;
    const [address = ''] = of('ADD').split(' ');
    await run(`curl -sSO ${address}`);
    await run(of('RUN'));
    const [port, control] = [await closedPort(), await closedPort()];
    const entry = (JSON.parse(of('ENTRYPOINT')) as string[]).join(' ');
    const [compose = ''] = blocksOf('double', 'yaml');
    const [, command = ''] = /command: (.*)/.exec(compose)!;
    const commands = `exec ${entry} ${command} --port ${port} --control-port ${control}`;
    const client = blocksOf('double', 'ts').find((code) => code.includes('testHosts')) ?? '';
    // Replaces the container's name, which this machine does not know.
    const send = `${client.replace("'onecode'", "'onecode', '0.0.0.0'")}
console.log((await onecode.send({ to: '+447700900123' })).status);`;
    write('send.mjs', send);
    await whileServing(commands, 'is ready', async () => {
      const variables = { ONECODE_URL: `http://0.0.0.0:${port}`, ONECODE_API_KEY: 'ak_live_double' };
      expect(await run('node send.mjs', variables)).toBe('queued\n');
      write('refused.mjs', send.replace(/ *testHosts.*\n/, ''));
      await expect(run('node refused.mjs', variables)).rejects.toThrow('is not https');
    });
  },
  RUN_MS_MAX,
);

it(
  'the commands on the page about examples start the Express example',
  async () => {
    const port = String(await closedPort());
    const commands = blockWith('examples', 'npm start');
    const url = `http://127.0.0.1:${port}`;
    await whileServing(commands, url, () => expectSignIn(url), { variables: { PORT: port } });
  },
  RUN_MS_MAX,
);

it.each(['express', 'nextjs'])(
  'the commands in the README of the %s example start it',
  async (name) => {
    const own = join(folder, name);
    mkdirSync(own);
    await run(`curl -sS ${api.url}/docs/examples/${name}.tgz | tar -xz --strip-components 1`, {}, own);
    const readme = readFileSync(join(own, 'README.md'), 'utf8');
    const [, block = ''] = /^```sh\n([^]*?)^```$/m.exec(readme)!;
    const port = String(await closedPort());
    const commands = forReader(block)
      .replace('8000', port)
      .replaceAll(/ +# .*$/gm, '');
    const url = `http://127.0.0.1:${port}`;
    await whileServing(commands, url, () => expectSignIn(url), { cwd: own });
  },
  RUN_MS_MAX,
);

async function expectSignIn(url: string): Promise<void> {
  const page = await until('the page', () =>
    fetch(url).then(
      async (one) => one.ok && one.text(),
      () => false,
    ),
  );
  expect(page).toContain('Send code');
}

it('every block of commands in the guides is run by a test', () => {
  const pages = [
    'index',
    'quick-start',
    'sign-in',
    'resend',
    'double',
    'testing',
    'sdk',
    'polling',
    'examples',
    'events',
  ];
  const known = [/^curl -sS \S+\/v1\/send/m, /npm install/, /npm start/, /onecode\.py/, /^export /];
  const blocks = pages.flatMap((page) => guideBlocks(page, 'sh'));
  expect(blocks.filter((code) => !known.some((pattern) => pattern.test(code)))).toEqual([]);
});
