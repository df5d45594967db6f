import { readFileSync } from 'node:fs';
import { readEnvironment } from '../packages/simulator/src/settings.js';
import { parse } from 'yaml';
import { readApiConfig } from '../apps/api/src/config.js';
import { readConsoleConfig } from '../apps/console/src/config.js';
import { readWorkerConfig } from '../apps/worker/src/config.js';

const fileOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const compose = fileOf('docker-compose.yml');
const { services } = parse(compose, { merge: true }) as {
  services: Record<string, { environment?: Record<string, string> }>;
};

const SECRET = Buffer.alloc(32).toString('base64');
/** A value for every variable, whoever reads it. */
const WHOLE = {
  DATABASE_URL: 'postgresql://onecode@postgres/onecode',
  REDIS_URL: 'redis://redis',
  BASE_URL: 'http://localhost:3000',
  CONSOLE_URL: 'http://localhost:3001',
  WHATSAPP_API_URL: 'http://simulator:4010/v25.0',
  WEBHOOK_URL: 'http://api:3000/webhooks/whatsapp',
  CODE_PEPPER: SECRET,
  SECRET_KEY: SECRET,
  SESSION_SECRET: SECRET,
  WHATSAPP_APP_SECRET: 'secret',
  WHATSAPP_VERIFY_TOKEN: 'token',
};
/** The image says these of every process. */
const OF_IMAGE = new Set(['METRICS_PORT', 'METRICS_HOST']);
/** The Redis of this file speaks no TLS, nothing distributes requests among several processes, and a container is reached by one address. */
const UNUSED = new Set(['REDIS_CA_FILE', 'SHUTDOWN_DELAY_MS', 'HOST']);
/** Left to the simulator's own choice, and the image's. */
const OF_SIMULATOR = new Set([
  'HOST',
  'PORT',
  'SENT_DELAY_MS',
  'DELIVERED_DELAY_MS',
  'READ_DELAY_MS',
  'KEEP_MESSAGES',
  'DISPLAY_PHONE_NUMBERS',
]);

/** The variables that a process's configuration has. */
const readBy = (read: (environment: NodeJS.ProcessEnv) => object): string[] => Object.keys(read(WHOLE));

/** The variables that the simulator asks for. */
function readBySimulator(): string[] {
  const asked = new Set<string>();
  readEnvironment(
    new Proxy<NodeJS.ProcessEnv>(WHOLE, {
      get(variables, name: string) {
        asked.add(name);
        return variables[name];
      },
    }),
  );
  return [...asked].filter((name) => !OF_SIMULATOR.has(name));
}

const READS: Record<string, () => string[]> = {
  api: () => readBy(readApiConfig),
  worker: () => readBy(readWorkerConfig),
  console: () => readBy(readConsoleConfig),
  simulator: readBySimulator,
  migrate: () => ['DATABASE_URL', 'MIGRATE_DATABASE_URL'],
  operator: () => [
    'DATABASE_URL',
    'REDIS_URL',
    'QUEUE_PREFIX',
    'BASE_URL',
    'SECRET_KEY',
    'NUMBER_PEPPER',
    'ONECODE_ACTOR',
  ],
};

describe('docker compose', () => {
  it('runs these processes of ours, besides the services that they need', () => {
    expect(Object.keys(services).toSorted()).toEqual([...Object.keys(READS), 'postgres', 'redis'].toSorted());
  });

  it.each(Object.keys(READS))('gives %s what it reads and nothing else', (process) => {
    const reads = READS[process]!().filter((name) => !OF_IMAGE.has(name) && !UNUSED.has(name));
    expect(Object.keys(services[process]!.environment!).toSorted()).toEqual(reads.toSorted());
  });

  it('takes no variable from .env that .env.example does not explain', () => {
    const explained = new Set(fileOf('.env.example').match(/^[A-Z_]+(?==)/gm));
    const taken = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);
    expect(taken.filter((name) => !explained.has(name))).toEqual([]);
    const read = Object.entries(READS).flatMap(([process, names]) =>
      process === 'simulator' ? [] : names(),
    );
    expect(read.filter((name) => !explained.has(name))).toEqual([]);
  });
});
