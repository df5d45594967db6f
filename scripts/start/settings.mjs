import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../refusal.mjs';
import { freePort, isFree } from '../services/ports.mjs';
import { root } from '../setup/npm.mjs';

/** Kept by git ignoring it: databases, secrets, the demonstration's keys. */
export const dataFolder = join(root, '.data');

/** Reads an .env file where there is one. A variable that is set already stays, and an empty one counts as not set. */
export function readEnvFile() {
  const file = join(root, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

/**
 * @typedef {object} Ports
 * @property {number} api
 * @property {number} console
 * @property {number | null} simulator null: WHATSAPP_API_URL names another Cloud API, so none is started
 * @property {Record<'api' | 'worker' | 'console' | 'simulator', number>} metrics
 */

/**
 * The ports that people know, which must be free, and others for metrics.
 * @returns {Promise<Ports>}
 * @throws {Refusal} naming the port that is in use and its variable
 */
export async function choosePorts() {
  const api = await wantedPort('PORT', 3000);
  const console = await wantedPort('CONSOLE_PORT', 3001);
  const simulator = process.env['WHATSAPP_API_URL'] ? null : await wantedPort('SIMULATOR_PORT', 4010);
  if (api === console) throw new Refusal(`PORT and CONSOLE_PORT are both ${api}: they must differ.`);
  if (api === simulator || console === simulator)
    throw new Refusal(`SIMULATOR_PORT is ${simulator}, which another process has: they must differ.`);
  return {
    api,
    console,
    simulator,
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
 * @param {number} usual
 */
async function wantedPort(variable, usual) {
  const text = process.env[variable] || String(usual);
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Refusal(`${variable} must be a port from 1 to 65535, not "${text}".`);
  }
  if (!(await isFree(port))) {
    throw new Refusal(
      `Port ${port} is in use: stop what listens there, or choose another with ${variable}=${port + 1} npm start.`,
    );
  }
  return port;
}

/**
 * The secrets of this installation: made once and kept, except those that the environment gives.
 * @returns {Record<string, string>}
 */
function readSecrets() {
  const file = join(dataFolder, 'secrets.json');
  /** @type {Record<string, string>} */
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  /** @type {Record<string, string>} */
  const made = {
    CODE_PEPPER: randomBytes(32).toString('base64'),
    SECRET_KEY: randomBytes(32).toString('base64'),
    SESSION_SECRET: randomBytes(32).toString('base64'),
    WHATSAPP_APP_SECRET: randomBytes(16).toString('hex'),
    WHATSAPP_VERIFY_TOKEN: randomBytes(16).toString('hex'),
    ...kept,
  };
  if (Object.keys(made).length > Object.keys(kept).length) {
    writeFileSync(file, JSON.stringify(made, null, 2), { mode: 0o600 });
  }
  return Object.fromEntries(Object.entries(made).map(([name, value]) => [name, process.env[name] || value]));
}

/**
 * What each process finds in its environment beside its own ports.
 * @param {Ports} ports
 * @param {import('../services.mjs').Services} services
 * @returns {NodeJS.ProcessEnv}
 */
export function commonEnvironment(ports, { databaseUrl, redisUrl }) {
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return {
    BASE_URL: `http://localhost:${ports.api}`,
    CONSOLE_URL: `http://localhost:${ports.console}`,
    WHATSAPP_API_URL: `http://127.0.0.1:${ports.simulator}/v25.0`, // unless given
    ...given,
    ...readSecrets(),
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  };
}
