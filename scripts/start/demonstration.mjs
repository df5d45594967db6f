import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onecode } from './onecode.mjs';
import { dataFolder } from './settings.mjs';

const file = join(dataFolder, 'demo.json');

const sender = { phoneNumberId: '106540352242922', number: '+15550783881', token: 'demonstration' };

/**
 * @typedef {{ application: string, id: string, key: string }} DemoKey
 * @typedef {{ account: string, test: DemoKey, live: DemoKey }} Demonstration
 */

/**
 * The demonstration's account with a test and a live key, and a sender: made the first time and kept, and made anew when
 * this database does not hold it (any more).
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} simulated whether the sender may be a made-up one
 * @returns {Promise<Demonstration>}
 */
export async function demonstration(env, simulated) {
  if (simulated) await ensureSender(env);
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  if (kept && (await stillThere(env, kept))) return kept;
  const account = await onecode(env, 'account', 'create', '--name', 'Demonstration', '--free-quota', 1000);
  const [test, live] = await Promise.all([
    makeKey(env, account.id, 'test'),
    makeKey(env, account.id, 'live'),
  ]);
  const made = { account: account.id, test, live };
  writeFileSync(file, JSON.stringify(made, null, 2), { mode: 0o600 });
  return made;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Demonstration} kept
 */
async function stillThere(env, { account, test, live }) {
  try {
    await onecode(env, 'account', 'show', account);
    return (await Promise.all([test, live].map((one) => isUsable(env, one)))).every(Boolean);
  } catch {
    return false;
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {DemoKey} key
 */
async function isUsable(env, { application, id }) {
  const keys = await onecode(env, 'key', 'list', '--application', application);
  return keys.some((/** @type {any} */ one) => one.id === id && !one.revoked_at);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} account
 * @param {'test' | 'live'} mode
 * @returns {Promise<DemoKey>}
 */
async function makeKey(env, account, mode) {
  const name = `Demonstration (${mode})`;
  const create = ['application', 'create', '--account', account, '--name', name, '--mode', mode];
  const application = await onecode(env, ...create);
  const { id, key } = await onecode(env, 'key', 'create', '--application', application.id);
  return { application: application.id, id, key };
}

/** @param {NodeJS.ProcessEnv} env */
async function ensureSender(env) {
  const known = await onecode(env, 'sender', 'list');
  if (known.length > 0) return;
  const { phoneNumberId, number, token } = sender;
  const add = ['sender', 'add', '--phone-number-id', phoneNumberId, '--number', number, '--token', token];
  await onecode(env, ...add);
}
