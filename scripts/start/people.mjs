import { onecode } from './onecode.mjs';

/**
 * @typedef {{ email: string, password: string }} SignIn
 * @typedef {{ member: SignIn, operator: SignIn, onCall: SignIn }} People
 */

/**
 * The demonstration's people: one of its account, one operator and one on call. Their addresses are the usual ones unless
 * somebody has them already.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} account
 * @returns {Promise<People>}
 */
export async function makePeople(env, account) {
  const taken = new Set((await onecode(env, 'user', 'list')).map((/** @type {any} */ user) => user.email));
  /**
   * @param {string} name
   * @param {string} full
   * @param {string[]} role
   */
  const make = async (name, full, ...role) => {
    const usual = `${name}@onecode.example`;
    const email = taken.has(usual) ? `${name}.${account.slice(-6)}@onecode.example` : usual;
    const { password } = await onecode(env, 'user', 'create', '--email', email, '--name', full, ...role);
    return { email, password };
  };
  return {
    member: await make('demo', 'Dora Demonstração', '--account', account, '--role', 'admin'),
    operator: await make('operator', 'Olga Operadora', '--staff', 'operator'),
    onCall: await make('oncall', 'Caio Plantão', '--staff', 'on-call'),
  };
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {People | undefined} people
 * @returns {Promise<boolean>} whether all of them still exist
 */
export async function areThere(env, people) {
  if (people === undefined) return false;
  const emails = new Set((await onecode(env, 'user', 'list')).map((/** @type {any} */ user) => user.email));
  return Object.values(people).every(({ email }) => emails.has(email));
}
