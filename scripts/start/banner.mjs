import { newAccount } from './demoSenders.mjs';
import { isLoopback, reachedAt } from './settings.mjs';

/**
 * Returns a warning about other machines that can reach this Onecode; nothing if there are none.
 * @param {NodeJS.ProcessEnv} env
 */
function network({ HOST, EVENT_ADDRESSES }) {
  if (isLoopback(HOST)) return '';
  const listening = `\n  Network      HOST=${HOST}: other machines can reach the API and the console.`;
  if (EVENT_ADDRESSES !== 'any') return listening;
  return `${listening}
  Warning      EVENT_ADDRESSES=any: everyone who can reach the console can make the worker send requests to this machine and its network.`;
}

/**
 * Returns the text about a running Onecode: addresses, sign-ins, keys, and requests to paste.
 * @param {import('./settings.mjs').Ports} ports
 * @param {NodeJS.ProcessEnv} env with the public addresses of API and console
 * @param {import('./seed.mjs').Seed} seed
 * @param {{ tookMs: number, logFolder: string | null, workerPid: number | undefined }} start logFolder: null when the logs are
 *   on the screen
 * @returns {string}
 */
export function banner(
  { simulator, mailbox, metrics },
  env,
  { test, live, people },
  { tookMs, logFolder, workerPid },
) {
  const { BASE_URL: base, CONSOLE_URL: console } = env;
  const metricsOf = (/** @type {number} */ port) =>
    `http://${reachedAt(env['METRICS_HOST'])}:${port}/metrics`;
  const signIn = (/** @type {import('./seed.mjs').SignIn} */ { email, password }) => `${email}  ${password}`;
  const phone =
    simulator === null
      ? 'none: WHATSAPP_API_URL names another Cloud API'
      : `http://localhost:${simulator} (your messages, and example traffic for twenty minutes)`;
  const newSender = `\n  New sender   business account ${newAccount.id}, for Add sender in the console: any token and PIN`;
  const mails =
    mailbox === null
      ? 'none: SMTP_URL names another server'
      : `http://localhost:${mailbox} (every mail that the workers send)`;
  const logs =
    logFolder === null ? '' : `\n  Logs         ${logFolder} (npm start -- --logs shows them here)`;
  const create = (/** @type {string} */ key) =>
    `curl -s ${base}/v1/send -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -H "Idempotency-Key: $(openssl rand -hex 16)" -d '{"to":"+5511987654321"}'`;
  const code =
    simulator === null
      ? ''
      : `\n  curl -sG http://localhost:${simulator}/simulator/messages -d limit=1 --data-urlencode 'recipient=+5511987654321'`;
  return `
Onecode is running, ${(tookMs / 1000).toFixed(1)} s after the command.

  API          ${base}
  Docs         ${base}/docs (to build your own sign-in, start at ${base}/docs/quick-start)
  Console      ${console}
  Phone page   ${phone}
  Mailbox      ${mails}${simulator === null ? '' : newSender}
  Metrics      ${metricsOf(metrics.api)} (API), ${metricsOf(metrics.worker)} (worker)${logs}${network(env)}

  Sign-ins to the console, each with its password:
    a customer   ${signIn(people.member)}
    an operator  ${signIn(people.operator)}
    on call      ${signIn(people.onCall)}

  Test key     ${test.key}
  Live key     ${live.key}

A test send (nothing is sent, its code is 000000):
  ${create(test.key)}

A live send (its code arrives on ${simulator === null ? 'that phone' : 'the phone page; the second command prints it'}):
  ${create(live.key)}${code}

Its status and its verification (put the id of the answer above for ID, and the code for CODE):
  curl -s ${base}/v1/send/ID/status -H "Authorization: Bearer ${live.key}"
  curl -s ${base}/v1/send/ID/verify -H "Authorization: Bearer ${live.key}" -H 'Content-Type: application/json' -d '{"code":"CODE"}'

What a new sign-up is offered (no key needed):
  curl -s ${base}/v1/signup-settings

The command line, from this folder:
  npm run --silent onecode -- send show ID

What a crash does (the process starts again, and no send is lost):
  kill -9 ${workerPid}

Ctrl-C stops everything; the data stays in .data.
`;
}
