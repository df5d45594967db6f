import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onecode } from './onecode.mjs';
import { areThere, makePeople } from './people.mjs';
import { dataFolder } from './settings.mjs';

const file = join(dataFolder, 'demo.json');

const senders = [
  { phoneNumberId: '106540352242922', number: '+15550783881' },
  { phoneNumberId: '106540352242923', number: '+15550783882' },
];

/** How much past the demonstration's account is given, so that its charts have something to show. */
const PAST = { sends: 5_000, days: 45 };

/**
 * @typedef {{ application: string, id: string, key: string }} DemoKey
 * @typedef {import('./people.mjs').People} People
 * @typedef {{ account: string, test: DemoKey, live: DemoKey, people: People }} Demonstration
 */

/**
 * The demonstration's account with a past, a test and a live key, senders, and people who sign in to the console: made the
 * first time and kept, and made anew when this database does not hold it (any more).
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} simulated whether the sender may be a made-up one
 * @returns {Promise<Demonstration>}
 */
export async function demonstration(env, simulated) {
  if (simulated) await ensureSenders(env);
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  if (kept && (await stillThere(env, kept))) return kept;
  const account = await onecode(env, 'account', 'create', '--name', 'Demonstration', '--free-quota', 1000);
  const [test, live] = await Promise.all([
    makeKey(env, account.id, 'test'),
    makeKey(env, account.id, 'live'),
  ]);
  if (simulated) await givePast(env, account.id, { test, live });
  for (const name of ['Padaria Sol Nascente', 'Clínica Vida', 'Northwind Traders'])
    await onecode(env, 'account', 'create', '--name', name);
  const people = await makePeople(env, account.id);
  const made = { account: account.id, test, live, people };
  writeFileSync(file, JSON.stringify(made, null, 2), { mode: 0o600 });
  return made;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Demonstration} kept
 */
async function stillThere(env, { account, test, live, people }) {
  try {
    await onecode(env, 'account', 'show', account);
    const usable = await Promise.all([test, live].map((one) => isUsable(env, one)));
    return usable.every(Boolean) && (await areThere(env, people));
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
async function ensureSenders(env) {
  const known = await onecode(env, 'sender', 'list');
  if (known.length > 0) return;
  for (const { phoneNumberId, number } of senders) {
    const add = ['sender', 'add', '--phone-number-id', phoneNumberId, '--number', number];
    await onecode(env, ...add, '--token', 'demonstration');
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} accountId
 * @param {{ test: DemoKey, live: DemoKey }} keys
 */
async function givePast(env, accountId, { test, live }) {
  const { fillHistory } = await import('@onecode/store/testing'); // needs the build
  const [sender] = await onecode(env, 'sender', 'list');
  await fillHistory(String(env['DATABASE_URL']), {
    ...PAST,
    accountId,
    applications: [
      { id: live.application, mode: 'live' },
      { id: test.application, mode: 'test' },
    ],
    senderId: sender.id,
  });
}
