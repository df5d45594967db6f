import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { PROCESS_VARIABLES, READERS } from './processVariables.js';

const fileOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const compose = fileOf('docker-compose.yml');
const { services } = parse(compose, { merge: true }) as {
  services: Record<
    string,
    { environment?: Record<string, string>; ports?: (string | { host_ip: string })[] }
  >;
};

/** Variables that OpenTelemetry's SDK reads in each process. */
const OF_SDK = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'];
/** Variables that the image sets for every process. */
const OF_IMAGE = new Set(['METRICS_PORT', 'METRICS_HOST']);
/**
 * The PostgreSQL of this file has no pooler, nothing distributes requests among several processes, and a container is reached by one
 * address.
 */
const UNUSED = new Set(['DATABASE_POOLER', 'SHUTDOWN_DELAY_MS', 'HOST']);

const READS: Record<string, string[]> = {
  ...Object.fromEntries(
    Object.entries(READERS).map(([name, read]) => [
      name,
      [...Object.keys(read(PROCESS_VARIABLES)), ...OF_SDK],
    ]),
  ),
  // The simulator's other variables keep their defaults.
  simulator: ['WEBHOOK_URL', 'WHATSAPP_APP_SECRET', 'WHATSAPP_VERIFY_TOKEN'],
  migrate: ['DATABASE_URL', 'MIGRATE_DATABASE_URL'],
  operator: [
    'DATABASE_URL',
    'REDIS_URL',
    'QUEUE_PREFIX',
    'BASE_URL',
    'WHATSAPP_API_URL',
    'HTTPS_PROXY',
    'NO_PROXY',
    'SECRET_KEY',
    'NUMBER_PEPPER',
    'ONECODE_ACTOR',
  ],
};

describe('docker compose', () => {
  it("runs Onecode's processes and the services that they need", () => {
    expect(Object.keys(services).toSorted()).toEqual([...Object.keys(READS), 'postgres', 'redis'].toSorted());
  });

  it.each(Object.keys(READS))('gives %s exactly the variables that it reads', (process) => {
    const reads = READS[process]!.filter((name) => !OF_IMAGE.has(name) && !UNUSED.has(name));
    expect(Object.keys(services[process]!.environment!).toSorted()).toEqual(reads.toSorted());
  });

  it('publishes API and console only at the address HOST, so that clients cannot bypass a proxy on the machine', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, typeof port === 'string' ? port.split(':')[0] : port.host_ip]),
    );
    expect(published).toEqual([
      ['api', '${HOST:-}'],
      ['console', '${HOST:-}'],
      ['simulator', '127.0.0.1'],
    ]);
  });

  it('reads only variables from .env that .env.example explains', () => {
    const explained = new Set(fileOf('.env.example').match(/^[A-Z_]+(?==)/gm));
    const taken = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);
    expect(taken.filter((name) => !explained.has(name))).toEqual([]);
  });
});
