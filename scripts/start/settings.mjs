import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { root } from '../checkout.mjs';
import { freePort, isFree } from '../services/ports.mjs';
import { UserError } from '../user-error.mjs';

/** The folder for databases, secrets, logs and the demonstration's keys. Git ignores it, and restarts keep it. */
export const dataFolder = join(root, '.data');

/** The file with which the command line finds the running Onecode, see apps/cli/src/environment.ts. */
const environmentFile = join(dataFolder, 'environment.json');

/** Reads an .env file if there is one. Variables that are already set keep their values. */
export function readEnvFile(file = join(root, '.env')) {
  if (!existsSync(file)) return;
  // An editor may have written a byte order mark before the first name.
  const variables = parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
}

/**
 * @typedef {object} Ports
 * @property {number} api
 * @property {number} console
 * @property {number | null} simulator null: WHATSAPP_API_URL names another Cloud API, so none is started
 * @property {number | null} mailbox null: SMTP_URL names another server, so no mail is caught
 * @property {Record<'api' | 'worker' | 'console' | 'simulator', number>} metrics
 */

/**
 * Returns the documented ports, which must be free, and free ports for metrics.
 * @returns {Promise<Ports>}
 * @throws {UserError} naming the port that is in use and its variable
 */
export async function choosePorts() {
  const api = await portOf('PORT', 3000);
  const console = await portOf('CONSOLE_PORT', 3001);
  const simulator = process.env['WHATSAPP_API_URL'] ? null : await portOf('SIMULATOR_PORT', 4010);
  const mailbox = process.env['SMTP_URL'] ? null : await portOf('MAILBOX_PORT', 4020);
  if (api === console) throw new UserError(`PORT and CONSOLE_PORT are both ${api}: they must differ.`);
  if (api === simulator || console === simulator)
    throw new UserError(`SIMULATOR_PORT is ${simulator}, which another process uses: they must differ.`);
  if (mailbox !== null && [api, console, simulator].includes(mailbox))
    throw new UserError(`MAILBOX_PORT is ${mailbox}, which another process uses: they must differ.`);
  return {
    api,
    console,
    simulator,
    mailbox,
    metrics: {
      api: await freePort(),
      worker: await freePort(),
      console: await freePort(),
      simulator: await freePort(),
    },
  };
}

/**
 * @param {string} variable
 * @param {number} initial
 */
async function portOf(variable, initial) {
  const text = process.env[variable] || String(initial);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new UserError(`${variable} must be a port from 1 to 65535, not "${text}".`);
  }
  if (!(await isFree(port))) {
    throw new UserError(
      `Port ${port} is in use: stop what listens there, or choose another with ${variable}=${port + 1} npm start.`,
    );
  }
  return port;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Returns whether only programs on this machine can reach a listener at an address.
 * @param {string | undefined} host
 */
export function isLoopback(host = '') {
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/**
 * Returns the host for URLs with which programs on this machine reach a listener at an address.
 * @param {string | undefined} host
 */
export function reachedAt(host = '127.0.0.1') {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIPv6(host) ? `[${host}]` : host;
}

/**
 * Returns the secrets of this installation, which are generated once and kept; the environment overrides them.
 * @returns {Record<string, string>}
 */
function readSecrets() {
  const file = join(dataFolder, 'secrets.json');
  /** @type {Record<string, string>} */
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  /** @type {Record<string, string>} */
  const secrets = {
    CODE_PEPPER: randomBytes(32).toString('base64'),
    NUMBER_PEPPER: randomBytes(32).toString('base64'),
    SECRET_KEY: randomBytes(32).toString('base64'),
    SESSION_SECRET: randomBytes(32).toString('base64'),
    WHATSAPP_APP_SECRET: randomBytes(16).toString('hex'),
    WHATSAPP_VERIFY_TOKEN: randomBytes(16).toString('hex'),
    ...kept,
  };
  if (Object.keys(secrets).length > Object.keys(kept).length) {
    writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  }
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, process.env[name] || value]),
  );
}

/**
 * Returns where the processes listen and reach each other. By default, they listen on this machine only. Webhooks may go to any address
 * only while no other machine can reach the console, where any visitor can sign up and choose the address.
 * @param {Ports} ports
 * @param {NodeJS.ProcessEnv} given
 */
export function addresses(ports, { HOST = '127.0.0.1' }) {
  const server = reachedAt(HOST);
  const name = server === '127.0.0.1' ? 'localhost' : server;
  return {
    HOST,
    METRICS_HOST: '127.0.0.1',
    BASE_URL: `http://${name}:${ports.api}`,
    CONSOLE_URL: `http://${name}:${ports.console}`,
    API_URL: `http://${server}:${ports.api}`,
    WHATSAPP_API_URL: `http://127.0.0.1:${ports.simulator}/v25.0`,
    EVENT_ADDRESSES: isLoopback(HOST) ? 'any' : 'public',
  };
}

/**
 * Returns the environment shared by all processes, without their ports.
 * @param {Ports} ports
 * @param {import('../services/services.mjs').Services} services
 * @param {string | null} smtpUrl of the mailbox
 * @returns {NodeJS.ProcessEnv}
 */
export function commonEnvironment(ports, { databaseUrl, redisUrl }, smtpUrl) {
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return {
    ...addresses(ports, given),
    ...(smtpUrl !== null && { SMTP_URL: smtpUrl, MAIL_FROM: 'Onecode <codes@onecode.example>' }),
    ...given,
    ...readSecrets(),
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  };
}

/** The variables that the command line needs to use the running Onecode. */
export const COMMAND_LINE_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_POOLER',
  'REDIS_URL',
  'QUEUE_PREFIX',
  'BASE_URL',
  'NUMBER_PEPPER',
  'SECRET_KEY',
  'WHATSAPP_API_URL',
  'HTTPS_PROXY',
  'NO_PROXY',
];

/**
 * Writes these variables for the command line.
 * @param {NodeJS.ProcessEnv} env
 */
export function recordEnvironment(env) {
  removeEnvironment(); // an older file keeps its mode
  const recorded = Object.fromEntries(COMMAND_LINE_VARIABLES.map((name) => [name, env[name]]));
  writeFileSync(environmentFile, JSON.stringify(recorded, null, 2), { mode: 0o600 });
}

/** Removes the variables when no process that the command line could reach is running any more. */
export function removeEnvironment() {
  rmSync(environmentFile, { force: true });
}
