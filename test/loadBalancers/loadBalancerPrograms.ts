import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificates } from '@onecode/testing';
import { waitForAnswer } from '../../scripts/services/answer.mjs';
import { fetchPackages } from '../../scripts/services/packages.mjs';
import { freePort } from '../../scripts/services/ports.mjs';
import type { Processes } from '../../scripts/processes/processes.mjs';

/** A kind of load balancer, as its sample in `deploy` configures it. */
export interface LoadBalancerKind {
  name: string;
  /** Returns the program from the path, or from Debian's package unpacked into .cache; null if this machine can have neither. */
  find(): string | null;
  /** Whether this version also passes a POST to another process if the first one refuses the connection. */
  passesRefusedPosts(program: string): boolean;
  /** Writes the sample with these addresses into a folder. @returns the arguments of the program */
  configure(folder: string, options: Configuration): string[];
}

interface Configuration {
  port: number;
  upstreams: readonly number[];
  certificates: Certificates;
}

const findProgram = (name: string, path: string, version: string): string | null => {
  const folder = join(process.cwd(), '.cache', `${name}-${process.arch}`);
  const runs = (program: string): boolean => spawnSync(program, [version]).status === 0;
  const unpacked = join(folder, path);
  for (const program of [name, unpacked]) if (runs(program)) return program;
  return fetchPackages(folder, name) && runs(unpacked) ? unpacked : null;
};

/** Replaces a text of a sample. @throws if the sample lacks it */
function replaced(sample: string, text: string, by: string): string {
  if (!sample.includes(text)) throw new Error(`the sample has no ${text}`);
  return sample.replaceAll(text, by);
}

export const NGINX: LoadBalancerKind = {
  name: 'nginx',
  find: () => findProgram('nginx', 'usr/sbin/nginx', '-v'),
  passesRefusedPosts: () => true,
  configure(folder, { port, upstreams, certificates }) {
    let sample = readFileSync('deploy/nginx/onecode.conf', 'utf8');
    for (const [at, own] of [
      ['127.0.0.1:3000', `127.0.0.1:${upstreams[0]}`],
      ['127.0.0.1:3010', `127.0.0.1:${upstreams[1]}`],
      // The console.
      ['127.0.0.1:3001', `127.0.0.1:${upstreams[0]}`],
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['server_name api.example.com', 'server_name localhost'],
      ['/etc/nginx/tls/api.example.com.pem', certificates.certificate],
      ['/etc/nginx/tls/api.example.com.key', certificates.key],
      ['/etc/nginx/tls/console.example.com.pem', certificates.certificate],
      ['/etc/nginx/tls/console.example.com.key', certificates.key],
      ['/var/log/nginx', folder],
    ] as const)
      sample = replaced(sample, at, own);
    writeFileSync(join(folder, 'onecode.conf'), sample);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    const main = [
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'daemon off;',
      `pid ${join(folder, 'pid')};`,
      'worker_processes 2;',
      'events {}',
      `http { ${temporary.join(' ')} include ${join(folder, 'onecode.conf')}; }`,
    ];
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, `${main.join('\n')}\n`);
    return ['-e', 'stderr', '-c', file];
  },
};

export const CADDY: LoadBalancerKind = {
  name: 'Caddy',
  find: () => findProgram('caddy', 'usr/bin/caddy', 'version'),
  // https://github.com/caddyserver/caddy/pull/7547
  passesRefusedPosts(program) {
    const { stdout } = spawnSync(program, ['version'], { encoding: 'utf8' });
    const [, major = 0, minor = 0, patch = 0] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? [];
    return major > 2 || (major === 2 && (minor > 11 || (minor === 11 && patch > 2)));
  },
  configure(folder, { port, upstreams, certificates }) {
    let sample = readFileSync('deploy/caddy/Caddyfile', 'utf8');
    for (const [at, own] of [
      ['127.0.0.1:3000', `127.0.0.1:${upstreams[0]}`],
      ['127.0.0.1:3010', `127.0.0.1:${upstreams[1]}`],
      // The console.
      ['127.0.0.1:3001', `127.0.0.1:${upstreams[0]}`],
      ['{\n\tservers', '{\n\tadmin off\n\tauto_https off\n\tservers'],
      [
        'api.example.com {',
        `https://localhost:${port} {\n\ttls ${certificates.certificate} ${certificates.key}`,
      ],
      [
        'console.example.com {',
        `https://console.example.com:${port} {\n\ttls ${certificates.certificate} ${certificates.key}`,
      ],
    ] as const)
      sample = replaced(sample, at, own);
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, sample);
    return ['run', '--adapter', 'caddyfile', '--config', file];
  },
};

/** Starts a load balancer in front of two processes. @returns its port */
export async function startLoadBalancer(
  kind: LoadBalancerKind,
  program: string,
  { processes, upstreams, certificates }: Omit<Configuration, 'port'> & { processes: Processes },
): Promise<number> {
  const folder = mkdtempSync(join(processes.folder, `${kind.name}-`));
  mkdirSync(join(folder, 'home'));
  const port = await freePort();
  const started = await processes.start({
    name: `${kind.name}-${port}`,
    command: program,
    args: kind.configure(folder, { port, upstreams, certificates }),
    env: { PATH: process.env['PATH'], HOME: join(folder, 'home'), XDG_DATA_HOME: join(folder, 'home') },
    output: processes.logs.open(`${kind.name}-${port}`),
    stage: 2,
    stop: [
      ['SIGTERM', 3_000],
      ['SIGKILL', 300],
    ],
  });
  await waitForAnswer(kind.name, started, processes.logs, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}`).catch((error: Error) => error);
    // Plain HTTP gets 400 on a port with TLS.
    return answer instanceof Response ? null : answer.message;
  });
  return port;
}
