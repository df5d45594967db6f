/**
 * What to do with a running Onecode: addresses, keys, and requests to paste.
 * @param {import('./settings.mjs').Ports} ports
 * @param {string} base the API's public address
 * @param {import('./demonstration.mjs').Demonstration} demo
 * @param {number} tookMs
 * @returns {string}
 */
export function welcome({ simulator, metrics }, base, { test, live }, tookMs) {
  const phone =
    simulator === null ? 'none: WHATSAPP_API_URL names another Cloud API' : `http://localhost:${simulator}`;
  return `
Onecode is running, ${(tookMs / 1000).toFixed(1)} s after the command.

  API          ${base}
  Docs         ${base}/docs
  Phone page   ${phone}
  Metrics      http://localhost:${metrics.api}/metrics (API), http://localhost:${metrics.worker}/metrics (worker)

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
