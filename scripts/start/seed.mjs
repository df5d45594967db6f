import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onecode } from './apps.mjs';
import { demoSenders, newAccount } from './demoSenders.mjs';
import { dataFolder } from './settings.mjs';

const file = join(dataFolder, 'demo.json');

/** The history of the demonstration's account, for its charts. */
const HISTORY = { sends: 5_000, days: 45 };

/**
 * @typedef {{ application: string, id: string, key: string }} SeedKey
 * @typedef {{ email: string, password: string }} SignIn
 * @typedef {{ member: SignIn, operator: SignIn, onCall: SignIn }} People
 * @typedef {{ account: string, test: SeedKey, live: SeedKey, people: People }} Seed
 */

/**
 * Returns the demonstration: an account with a history, a test and a live key, senders, and users of the console. It is created at the
 * first start and kept, and created again if the database does not contain it.
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} simulated whether made-up senders work
 * @returns {Promise<Seed>}
 */
export async function seed(env, simulated) {
  if (simulated) await ensureSenders(env);
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  if (kept && (await isComplete(env, kept))) return kept;
  const account = await onecode(env, 'account', 'create', '--name', 'Demonstration', '--free-quota', 1000);
  const [test, live] = await Promise.all([
    createKey(env, account.id, 'test'),
    createKey(env, account.id, 'live'),
  ]);
  if (simulated) await addHistory(env, account.id, { test, live });
  for (const name of ['Padaria Sol Nascente', 'Clínica Vida', 'Northwind Traders'])
    await onecode(env, 'account', 'create', '--name', name);
  const people = await createPeople(env, account.id);
  const made = { account: account.id, test, live, people };
  writeFileSync(file, JSON.stringify(made, null, 2), { mode: 0o600 });
  return made;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Seed} kept
 * @returns {Promise<boolean>} whether the database still holds all of it
 */
async function isComplete(env, { account, test, live, people }) {
  try {
    await onecode(env, 'account', 'show', account);
    const usable = await Promise.all([test, live].map((key) => isUsable(env, key)));
    const emails = await listEmails(env);
    return usable.every(Boolean) && Object.values(people).every(({ email }) => emails.has(email));
  } catch {
    return false;
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {SeedKey} key
 */
async function isUsable(env, { application, id }) {
  const keys = await onecode(env, 'key', 'list', '--application', application);
  return keys.some((/** @type {any} */ key) => key.id === id && !key.revoked_at);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Set<string>>} the addresses of all users
 */
async function listEmails(env) {
  return new Set((await onecode(env, 'user', 'list')).map((/** @type {any} */ user) => user.email));
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} account
 * @param {'test' | 'live'} mode
 * @returns {Promise<SeedKey>}
 */
async function createKey(env, account, mode) {
  const name = `Demonstration (${mode})`;
  const create = ['application', 'create', '--account', account, '--name', name, '--mode', mode];
  const application = await onecode(env, ...create);
  const { id, key } = await onecode(env, 'key', 'create', '--application', application.id);
  return { application: application.id, id, key };
}

/**
 * Gives the simulator, which forgets everything when it stops, the business account for a new sender. After the sender was added, its number
 * stays connected.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} simulator its address
 */
export async function offerNewAccount(env, simulator) {
  const { id, phoneNumberId, number, name } = newAccount;
  const senders = await onecode(env, 'sender', 'list');
  const isAdded = senders.some((/** @type {any} */ sender) => sender.phone_number_id === phoneNumberId);
  const put = (/** @type {string} */ path, /** @type {object} */ body) =>
    fetch(`${simulator}/simulator/${path}?silent=true`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await put(`business-accounts/${id}`, { startsEmpty: !isAdded, subscribed: isAdded });
  await put(`senders/${phoneNumberId}`, {
    wabaId: id,
    displayPhoneNumber: number.slice(1),
    verifiedName: name,
    ...(!isAdded && { status: 'PENDING', registered: false }),
  });
}

/** @param {NodeJS.ProcessEnv} env */
async function ensureSenders(env) {
  const known = await onecode(env, 'sender', 'list');
  if (known.length > 0) return;
  for (const { phoneNumberId, number } of demoSenders) {
    const add = ['sender', 'add', '--phone-number-id', phoneNumberId, '--number', number];
    await onecode(env, ...add, '--token', 'demonstration');
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} accountId
 * @param {{ test: SeedKey, live: SeedKey }} keys
 */
async function addHistory(env, accountId, { test, live }) {
  // They need the build.
  const { fillHistory } = await import('@onecode/testing');
  const { parseKeyring } = await import('@onecode/domain');
  const [sender] = await onecode(env, 'sender', 'list');
  await fillHistory(String(env['DATABASE_URL']), {
    ...HISTORY,
    applications: [
      { applicationId: live.application, accountId, mode: 'live' },
      { applicationId: test.application, accountId, mode: 'test' },
    ],
    senderId: sender.id,
    numberPepper: parseKeyring(String(env['NUMBER_PEPPER'])),
  });
}

/**
 * Creates one member of the account, one operator and one on-call engineer, with pages in the language of the browser. Their addresses
 * have a suffix if the usual ones are taken.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} account
 * @returns {Promise<People>}
 */
async function createPeople(env, account) {
  const taken = await listEmails(env);
  /**
   * @param {string} name
   * @param {string} fullName
   * @param {string[]} role
   */
  const create = async (name, fullName, ...role) => {
    const usual = `${name}@onecode.example`;
    const email = taken.has(usual) ? `${name}.${account.slice(-6)}@onecode.example` : usual;
    const person = ['--email', email, '--name', fullName, '--language', 'browser'];
    const { password } = await onecode(env, 'user', 'create', ...person, ...role);
    return { email, password };
  };
  return {
    member: await create('demo', 'Dora Demonstração', '--account', account, '--role', 'admin'),
    operator: await create('operator', 'Olga Operadora', '--staff', 'operator'),
    onCall: await create('oncall', 'Caio Plantão', '--staff', 'on-call'),
  };
}
