/**
 * What to do with a running Onecode: addresses, sign-ins, keys, and requests to paste.
 * @param {import('./settings.mjs').Ports} ports
 * @param {NodeJS.ProcessEnv} env with the public addresses of API and console
 * @param {import('./demonstration.mjs').Demonstration} demo
 * @param {number} tookMs
 * @returns {string}
 */
export function welcome({ simulator, metrics }, env, { test, live, people }, tookMs) {
  const { BASE_URL: base, CONSOLE_URL: console } = env;
  const signIn = (/** @type {import('./people.mjs').SignIn} */ { email, password }) =>
    `${email}  ${password}`;
  const phone =
    simulator === null ? 'none: WHATSAPP_API_URL names another Cloud API' : `http://localhost:${simulator}`;
  return `
Onecode is running, ${(tookMs / 1000).toFixed(1)} s after the command.

  API          ${base}
  Docs         ${base}/docs
  Console      ${console}
  Phone page   ${phone}
  Metrics      http://localhost:${metrics.api}/metrics (API), http://localhost:${metrics.worker}/metrics (worker)

  Sign-ins to the console, each with its password:
    a customer   ${signIn(people.member)}
    an operator  ${signIn(people.operator)}
    on call      ${signIn(people.onCall)}

  Test key     ${test.key}
  Live key     ${live.key}

A test send (nothing is sent, its code is 000000):
  curl -s ${base}/v1/send -H "Authorization: Bearer ${test.key}" -H 'Content-Type: application/json' -d '{"to":"+5511987654321"}'

A live send (its code arrives on the phone page):
  curl -s ${base}/v1/send -H "Authorization: Bearer ${live.key}" -H 'Content-Type: application/json' -d '{"to":"+5511987654321"}'

Its status and its verification (put the id of the answer above for ID, and the code for CODE):
  curl -s ${base}/v1/send/ID/status -H "Authorization: Bearer ${live.key}"
  curl -s ${base}/v1/send/ID/verify -H "Authorization: Bearer ${live.key}" -H 'Content-Type: application/json' -d '{"code":"CODE"}'

What a new sign-up is offered (no key needed):
  curl -s ${base}/v1/signup-settings

Ctrl-C stops everything; the data stays in .data.
`;
}
