import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeRelease, NAMING_FILES, nextVersions, moveUnreleasedLines } from '../scripts/make-release.mjs';

const DATE = '2027-01-31';
const LINK = '[unreleased]: ../../compare/v1.0.0...HEAD\n[1.0.0]: ../../releases/tag/v1.0.0\n';
const CHANGELOG = `# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [1.0.0] - 2026-11-23\n\nThe first release.\n\n${LINK}`;
const FILES = {
  'package.json': { name: 'onecode', version: '1.0.0', workspaces: ['packages/*', 'apps/*'] },
  'apps/api/package.json': {
    name: '@onecode/api',
    version: '1.0.0',
    dependencies: { '@onecode/store': '1.0.0', express: '1.0.0' },
  },
  'packages/store/package.json': { name: '@onecode/store', version: '1.0.0' },
  'package-lock.json': {
    name: 'onecode',
    version: '1.0.0',
    packages: {
      '': { name: 'onecode', version: '1.0.0' },
      'apps/api': { version: '1.0.0', dependencies: { '@onecode/store': '1.0.0', express: '1.0.0' } },
      'node_modules/express': { version: '1.0.0' },
      'packages/store': { version: '1.0.0' },
    },
  },
  'examples/express/package.json': { dependencies: { '@onecode/client': '1.0.0', express: '1.0.0' } },
  ...Object.fromEntries(NAMING_FILES.map((file) => [file, 'of version 1.0.0'])),
  'test/rolling/previous-release.json': { version: '0.9.0', commit: '0' },
};

let folder: string;
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');
const jsonOf = (file: string): unknown => JSON.parse(textOf(file));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-make-release-'));
  for (const [file, content] of Object.entries({ ...FILES, 'CHANGELOG.md': CHANGELOG })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content));
  }
  git('init', '--quiet');
  git('config', 'user.name', 'Ana');
  git('config', 'user.email', 'ana@example.com');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'All of it');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a release', () => {
  it('sets its version everywhere, moves its lines in the changelog, and makes a tag', () => {
    expect(makeRelease(folder, '1.1.0', DATE)).toBe('v1.1.0');
    expect(jsonOf('package.json')).toMatchObject({ version: '1.1.0' });
    expect(jsonOf('apps/api/package.json')).toEqual({
      name: '@onecode/api',
      version: '1.1.0',
      dependencies: { '@onecode/store': '1.1.0', express: '1.0.0' },
    });
    expect(jsonOf('examples/express/package.json')).toEqual({
      dependencies: { '@onecode/client': '1.1.0', express: '1.0.0' },
    });
    for (const file of NAMING_FILES) expect([file, textOf(file)]).toEqual([file, 'of version 1.1.0']);
    expect(jsonOf('package-lock.json')).toEqual({
      name: 'onecode',
      version: '1.1.0',
      packages: {
        '': { name: 'onecode', version: '1.1.0' },
        'apps/api': { version: '1.1.0', dependencies: { '@onecode/store': '1.1.0', express: '1.0.0' } },
        'node_modules/express': { version: '1.0.0' },
        'packages/store': { version: '1.1.0' },
      },
    });
    expect(textOf('CHANGELOG.md')).toBe(
      CHANGELOG.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [1.1.0] - ${DATE}\n`).replace(
        LINK,
        '[unreleased]: ../../compare/v1.1.0...HEAD\n[1.1.0]: ../../compare/v1.0.0...v1.1.0\n[1.0.0]: ../../releases/tag/v1.0.0\n',
      ),
    );
    expect(git('tag', '--list')).toBe('v1.1.0');
    expect(git('log', '--format=%s', '-1', 'v1.1.0')).toBe('chore: release 1.1.0');
    expect(git('status', '--porcelain')).toBe('');
  });

  it('becomes the previous release of the rolling upgrade tests', () => {
    makeRelease(folder, '1.0.1', DATE);
    expect(jsonOf('test/rolling/previous-release.json')).toEqual({
      version: '1.0.1',
      commit: git('rev-parse', 'v1.0.1^{commit}'),
    });
    expect(() => makeRelease(folder, '1.0.2', DATE)).toThrow('says nothing under "Unreleased"');
  });

  it.each<[string, string | undefined, () => void, string | RegExp]>([
    ['no version', undefined, () => {}, /^After 1\.0\.0 comes 1\.0\.1, 1\.1\.0 or 2\.0\.0/],
    ['a version that is not the next', '1.2.0', () => {}, /^After 1\.0\.0 comes/],
    ['the current version', '1.0.0', () => {}, /^After 1\.0\.0 comes/],
    [
      'uncommitted changes',
      '1.1.0',
      (): void => writeFileSync(join(folder, 'new'), ''),
      'uncommitted changes',
    ],
    ['an existing tag', '1.1.0', (): void => void git('tag', 'v1.1.0'), 'The tag v1.1.0 already exists'],
    [
      'no lines in the changelog',
      '1.1.0',
      () => {
        writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG.replace('- A thing.\n', ''));
        git('commit', '--quiet', '--all', '--message', 'Nothing');
      },
      'says nothing under "Unreleased"',
    ],
  ])('is refused, and changes nothing, with %s', (_, version, prepare, reason) => {
    prepare();
    const state = (): string[] => [
      git('rev-parse', 'HEAD'),
      git('status', '--porcelain'),
      git('tag', '--list'),
    ];
    const before = state();
    expect((): string => makeRelease(folder, version, DATE)).toThrow(reason);
    expect(state()).toEqual(before);
  });

  it('can be made from the current repository', () => {
    for (const file of ['CHANGELOG.md', 'package.json', 'package-lock.json'])
      cpSync(file, join(folder, file));
    const { version } = jsonOf('package.json') as { version: string };
    for (const file of NAMING_FILES)
      expect([file, readFileSync(file, 'utf8')]).toEqual([file, expect.stringContaining(version)]);
    const next = nextVersions(version)[1]!;
    const changelog = moveUnreleasedLines(textOf('CHANGELOG.md'), next, version, DATE);
    // Null just after a release.
    if (changelog !== null) {
      expect(changelog).toContain(`## [Unreleased]\n\n## [${next}] - ${DATE}\n`);
      expect(changelog).toContain(`\n[${next}]: ../../compare/v${version}...v${next}\n`);
    }
  });
});
