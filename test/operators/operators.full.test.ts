import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '@onecode/runtime';
import { describeIf } from '@onecode/testing';
import { makeArchive } from '../../scripts/make-archive.mjs';
import { nextVersions } from '../../scripts/make-release.mjs';
import { blocksOf } from '../documentedCommands.js';

const WALK_MS_MAX = 600_000;
const COMMANDS_MS_MAX = 60_000;
const ARCHIVE_MS_MAX = 300_000;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/;

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const isAble =
  process.getuid?.() === 0 &&
  has('unshare', '--mount', '--net', 'ip', 'link', 'set', 'lo', 'up') &&
  has('sh', '-c', 'command -v psql && "$(pg_config --bindir)/initdb" --version && id postgres') &&
  has('sh', '-c', 'command -v redis-server || ls .cache/redis-*/usr/bin/redis-server');

/** A shell on a separate machine. */
class Shell {
  #output = '';
  #count = 0;
  readonly #bash: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown>;

  constructor(releases: string) {
    const { PATH = '' } = process.env;
    this.#bash = spawn(
      'unshare',
      [
        '--mount',
        '--net',
        '--kill-child',
        '--pid',
        '--fork',
        '--mount-proc',
        'bash',
        'test/operators/machine.sh',
      ],
      {
        env: { PATH, USER: 'root', HOME: '/mnt/home', RELEASES: releases },
      },
    );
    this.#exited = new Promise((resolve) => this.#bash.once('exit', resolve));
    for (const stream of [this.#bash.stdout, this.#bash.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#bash.stdin.write(`trap 'echo "FAILED: $BASH_COMMAND"' ERR\n`);
  }

  /** Runs commands in the same shell as earlier ones. @returns their output @throws when one of them fails */
  async run(commands: string): Promise<string> {
    const end = `END ${(this.#count += 1)}`;
    const from = this.#output.length;
    this.#bash.stdin.write(`{\n${commands}\n} < /dev/null\necho; echo '${end}'\n`);
    const output = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#bash.kill('SIGKILL');
        reject(new Error(`no end of\n${commands}\n${this.#output.slice(from)}`));
      }, COMMANDS_MS_MAX);
      const look = (): void => {
        const text = this.#output.slice(from);
        const at = text.indexOf(`\n${end}\n`);
        if (at < 0) return;
        clearTimeout(timer);
        this.#bash.stdout.off('data', look);
        resolve(text.slice(0, at));
      };
      this.#bash.stdout.on('data', look);
      void this.#exited.then(() => reject(new Error(this.#output)));
    });
    if (output.includes('FAILED: ')) throw new Error(`${commands}\n${output}`);
    return output;
  }

  async close(): Promise<void> {
    this.#bash.stdin.end();
    await this.#exited;
  }
}

describeIf(isAble)('the commands of docs/deploy.md, docs/operations.md and docs/backup.md', () => {
  const releases = mkdtempSync(join(tmpdir(), 'onecode-releases-'));
  const nextVersion = nextVersions(VERSION)[0]!;
  let shell: Shell;
  beforeAll(() => {
    const archive = makeArchive(releases);
    const next = `onecode-${nextVersion}.tar.gz`;
    copyFileSync(archive, join(releases, next));
    const checksum = createHash('sha256').update(readFileSync(archive)).digest('hex');
    writeFileSync(join(releases, `${next}.sha256`), `${checksum}  ${next}\n`);
    shell = new Shell(releases);
  }, ARCHIVE_MS_MAX);
  afterAll(async () => {
    await shell.close();
    rmSync(releases, { recursive: true });
  });

  const deploy = blocksOf('deploy');
  const operations = blocksOf('operations');
  const backup = blocksOf('backup');
  /** Runs the blocks below a heading unchanged except for placeholders. */
  async function runBlocks(
    blocks: typeof deploy,
    heading: string,
    values: Record<string, string> = {},
  ): Promise<string> {
    const own = blocks.filter((block) => block.heading === heading);
    expect(own).not.toEqual([]);
    let output = '';
    for (const { text } of own)
      output += await shell.run(text.replaceAll(/\b[A-Z]+_ID\b|\bID\b/g, (name) => values[name] ?? name));
    return output;
  }
  const idIn = (output: string): string => UUID.exec(output)![0];

  it(
    'lead to a verified deployment, to the next release and back, to a backup and a restore',
    async () => {
      await shell.run('git clone --quiet /mnt/repository.git /mnt/compose && cd /mnt/compose');
      expect(await runBlocks(deploy, 'One machine with compose')).toContain('docker compose up');
      expect(await shell.run('onecode sender token ID --token - < .env')).toContain(' -T -e');
      await shell.run('grep --quiet "^CODE_PEPPER=.\\{44\\}$" .env && unset -f onecode && cd /mnt/home');

      await runBlocks(deploy, 'Plain servers with systemd');
      await runBlocks(deploy, 'The database');
      await runBlocks(deploy, 'The processes');
      await shell.run('until curl --silent --fail http://127.0.0.1:3000/readyz; do sleep 1; done');

      const after = deploy
        .filter(({ heading }) => heading === 'After: the first live send')
        .flatMap(({ text }) =>
          text
            .replaceAll('\\\n', ' ')
            .split('\n')
            .filter((line) => line.trim() !== ''),
        );
      const values: Record<string, string> = { BUSINESS_ACCOUNT_ID: '300000000000001' };
      let key = '';
      for (const line of after) {
        const command = line.replaceAll(
          /\b(?:BUSINESS_ACCOUNT|ACCOUNT|APPLICATION|SENDER|SEND)_ID\b/g,
          (name) => values[name]!,
        );
        const output = await shell.run(command.replace('$KEY', key));
        const made = /^onecode (sender setup|account create|application create)/
          .exec(line)?.[1]
          ?.split(' ')[0];
        if (made !== undefined) values[`${made.toUpperCase()}_ID`] = idIn(output);
        if (line.startsWith('curl')) values['SEND_ID'] = idIn(output);
        key = /ak_live_\w+/.exec(output)?.[0] ?? key;
      }
      await shell.run(
        `until onecode send show ${values['SEND_ID']} | grep --quiet '^status  *delivered'; do sleep 1; done`,
      );

      await runBlocks(operations, 'Installing');
      await runBlocks(operations, 'Addresses');
      await runBlocks(operations, 'Redis');

      await runBlocks(operations, 'A second API and worker');
      await shell.run(`until curl --silent --fail http://127.0.0.1:3010/readyz; do sleep 1; done
        systemctl stop onecode-api@3010 onecode-worker@9475`);

      // The next release and rollback.
      await shell.run('PREVIOUS=$(readlink /opt/onecode/current)');
      const release = deploy.find(({ heading }) => heading === 'Plain servers with systemd')!;
      expect(release.text).toContain(`RELEASE=${VERSION}\n`);
      await shell.run(release.text.replace(VERSION, nextVersion));
      await runBlocks(deploy, 'The next release and rollback');
      expect(
        await shell.run(`test "$(readlink /opt/onecode/current)" = "$PREVIOUS"
          until onecode doctor > doctor.txt; do sleep 1; done; cat doctor.txt`),
      ).toContain('The health page has no findings');

      await runBlocks(backup, 'What else to keep');
      await runBlocks(backup, 'A dump');
      await runBlocks(backup, 'Restoring');
      await shell.run(`psql --host db.example.com --user postgres --command 'drop database onecode' \
        --command 'drop role onecode_owner' --command 'drop role onecode_service'`);
      await runBlocks(deploy, 'The database');
      await runBlocks(backup, 'From a dump');
      await runBlocks(backup, 'Before processes start');
      const processes = JSON.parse(await shell.run('onecode release list --json')) as {
        kind: string;
        state: string;
      }[];
      // The backup also has the processes from before the restore, which are not running.
      const running = processes.filter(({ state }) => state === 'running').map(({ kind }) => kind);
      expect(running.toSorted()).toEqual(['api', 'console', 'worker']);
      await shell.run('until onecode doctor > doctor.txt; do sleep 1; done; cat doctor.txt');

      for (const [, statement] of readFileSync('docs/runbooks.md', 'utf8').matchAll(/`(select\s[^`]+)`/g))
        await shell.run(
          `psql --host db.example.com --user postgres --dbname onecode --command "${statement!.replace('PID', '0')}"`,
        );
    },
    WALK_MS_MAX,
  );
});
