import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeIf, makeCertificates, startProcess } from '@onecode/testing';

const FOLDER = 'deploy/systemd';
const units = readdirSync(FOLDER).filter((name) => name.endsWith('.service'));
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const valuesOf = (name: string, key: string): string[] =>
  [...textOf(name).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
describeIf(hasSystemd)('systemd', () => {
  it.each(units)('finds no fault in %s, with this checkout as /opt/onecode/current', (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'units-'));
    cpSync(FOLDER, folder, { recursive: true });
    const file = join(folder, name.replace('@.', '@3000.'));
    writeFileSync(
      file,
      textOf(name)
        .replaceAll('/usr/bin/node', process.execPath)
        .replaceAll('/opt/onecode/current', process.cwd()),
    );
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    // Other units of this machine may have faults.
    expect(stderr.split('\n').filter((line) => line.includes('onecode'))).toEqual([]);
    expect(status).toBe(0);
  });
});

describe.each(units)('%s', (name) => {
  it('is confined, and has time to stop', () => {
    const text = textOf(name);
    for (const line of [
      'DynamicUser=yes',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'CapabilityBoundingSet=',
    ])
      expect(text).toContain(`\n${line}\n`);
    if (text.includes('Type=oneshot')) return;
    const [seconds] = valuesOf(name, 'TimeoutStopSec');
    const delay = /^SHUTDOWN_DELAY_MS=(\d+)$/m.exec(textOf('onecode.env'))![1];
    expect(Number(seconds)).toBeGreaterThan(name.includes('worker') ? 10 : 10 + Number(delay) / 1_000);
  });

  it('gives its process all required variables, secrets only as files', async () => {
    const [program = ''] = valuesOf(name, 'ExecStart');
    const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
    const values: Record<string, string> = {
      DATABASE_URL: 'postgresql://unknown@127.0.0.1:1/none',
      MIGRATE_DATABASE_URL: 'postgresql://unknown@127.0.0.1:1/none',
      REDIS_URL: 'redis://127.0.0.1:1',
    };
    const key = Buffer.alloc(32, 1).toString('base64');
    for (const credential of valuesOf(name, 'LoadCredential')) {
      const [secret = ''] = credential.split(':');
      expect(credential).toBe(`${secret}:/etc/onecode/secrets/${secret}`);
      writeFileSync(join(folder, secret), `${values[secret] ?? key}\n`);
    }
    const lines = [...textOf('onecode.env').split('\n'), ...valuesOf(name, 'Environment')];
    const env = Object.fromEntries(
      lines
        .filter((line) => /^[A-Z_]+=/.test(line))
        .map((line) => line.replace('%d', folder).replace(/^((?:METRICS_)?PORT)=.*/, '$1=0'))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
    );
    // With one variable wrong on purpose, the process names only that one, so all others are present.
    const wrong = name.includes('migrate') ? {} : { METRICS_PORT: 'none' };
    const started = startProcess(program.replace('/usr/bin/node /opt/onecode/current/', ''), {
      ...env,
      ...wrong,
    });
    const { code } = await started.exited;
    rmSync(folder, { recursive: true });
    expect(code).toBe(1);
    expect(started.stderr()).toMatch(
      name.includes('migrate') ? /^The migration failed: .*ECONNREFUSED/ : /^\w+: METRICS_PORT [^\n]*\n$/,
    );
  });
});

describe('certificates of a private authority', () => {
  const folder = mkdtempSync(join(tmpdir(), 'etc-onecode-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Returns a file's content, or the code of the error, as a user other than root reads it, as with DynamicUser. */
  function readAsUser(path: string): string | undefined {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid!(65_534);
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    } finally {
      if (isRoot) process.seteuid!(0);
    }
  }

  it('are readable where docs/deploy.md puts them', () => {
    chmodSync(folder, 0o755);
    const { caFile } = makeCertificates(folder);
    const commands = [textOf('install'), readFileSync('docs/deploy.md', 'utf8')]
      .flatMap((text) => text.match(/^install .* \/etc\/onecode(?:\/ca\.pem)?(?=$| &&)/gm) ?? [])
      .map((command) =>
        command.replaceAll('/etc/onecode', `${folder}/onecode`).replace(' ca.pem ', ` ${caFile} `),
      );
    expect(commands).toHaveLength(2);
    for (const command of commands) expect(spawnSync('sh', ['-c', command]).status).toBe(0);
    const content = readFileSync(caFile, 'utf8');
    chmodSync(caFile, 0);
    expect(readAsUser(caFile)).toBe('EACCES');
    expect(readAsUser(`${folder}/onecode/ca.pem`)).toBe(content);
  });
});

describe('deploy/systemd/onecode', () => {
  it('runs the command line from any folder, with the settings and secrets of the units', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'onecode-'));
    writeFileSync(
      join(folder, 'onecode.env'),
      textOf('onecode.env').replace(/^BASE_URL=.*/m, 'BASE_URL=http://127.0.0.1:1'),
    );
    mkdirSync(join(folder, 'secrets'));
    writeFileSync(join(folder, 'secrets/DATABASE_URL'), 'postgresql://unknown@127.0.0.1:1/none\n');
    for (const name of ['SECRET_KEY', 'NUMBER_PEPPER'])
      writeFileSync(join(folder, 'secrets', name), `${Buffer.alloc(32, 1).toString('base64')}\n`);
    writeFileSync(join(folder, 'secrets/REDIS_URL'), 'redis://127.0.0.1:1\n');
    const script = textOf('onecode')
      .replaceAll('/etc/onecode', folder)
      .replaceAll('/usr/bin/node', process.execPath)
      .replaceAll('/opt/onecode/current', process.cwd());
    const run = (...words: string[]) =>
      spawnSync('sh', ['-c', script, 'onecode', ...words], {
        cwd: '/',
        env: { SUDO_USER: 'ana' },
        encoding: 'utf8',
      });
    const { stdout } = run('doctor', '--json');
    const checks = JSON.parse(stdout) as { check: string; ok: boolean | null; detail: string }[];
    expect(checks.map(({ check, ok }) => [check, ok])).toEqual([
      ['database', false],
      ['redis', false],
      ['webhook', false],
    ]);
    expect(run('hold', 'set', 'live', '--reason', 'x').stderr).toMatch(
      /^onecode: the database cannot be used \(connect ECONNREFUSED .*\)\n$/,
    );
    // The pooler's entry for console and command line.
    writeFileSync(join(folder, 'secrets/CONSOLE_DATABASE_URL'), 'mysql://host/none\n');
    expect(run('hold', 'list').stderr).toMatch(/^onecode: DATABASE_URL must /);
    rmSync(folder, { recursive: true });
  });
});

describe('instances of onecode-api and onecode-worker', () => {
  it('are documented with ports that no other process of the machine has', () => {
    const text = ['docs/deploy.md', 'docs/operations.md']
      .map((page) => readFileSync(page, 'utf8'))
      .join('\n');
    const instances = new Set(text.match(/onecode-(?:api|worker)@\d+/g));
    const ports = [...instances].flatMap((unit) => {
      const [name = '', instance = ''] = unit.split('@');
      return valuesOf(`${name}@.service`, 'Environment').flatMap(
        (line) => /^(?:METRICS_)?PORT=(.*)$/.exec(line)?.[1]!.replace('%i', instance) ?? [],
      );
    });
    const ofConsole = valuesOf('onecode-console.service', 'Environment').flatMap(
      (line) => /^(?:METRICS_)?PORT=(\d+)$/.exec(line)?.[1] ?? [],
    );
    expect(instances.size).toBe(4);
    expect(new Set([...ports, ...ofConsole]).size).toBe(ports.length + ofConsole.length);
    const sample = readFileSync('deploy/nginx/onecode.conf', 'utf8');
    expect(sample.match(/(?<=server 127\.0\.0\.1:)\d+/g)).toEqual(['3000', '3010', ofConsole[0]]);
  });
});
