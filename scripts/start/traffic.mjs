import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 2_000;
const SENDS_MAX = 600;
/** Recipients with messages that always fail, so that the pages also show failures: [number, the provider's error]. */
const FAILING = /** @type {const} */ ([
  ['+5511900000026', 131026],
  ['+5511900000049', 131049],
]);

/**
 * Sends codes and verifies most of them, a send every two seconds for twenty minutes at most, so that the console's pages have something to
 * show. It uses the public API and the simulator's phone page, and ends silently when these end.
 * @param {{ api: string, simulator: string, keys: { test: string, live: string }, signal: AbortSignal }} options
 */
export async function generateTraffic({ api, simulator, keys, signal }) {
  try {
    for (const [recipient, error] of FAILING)
      await post(`${simulator}/simulator/rules`, { recipient, fault: { error } }, signal);
    for (let sent = 0; sent < SENDS_MAX; sent++) {
      await delay(PAUSE_MS, undefined, { signal });
      void oneSend(
        api,
        simulator,
        sent % 4 === 3 ? { key: keys.test } : { key: keys.live, number: recipientOf(sent) },
        signal,
      ).catch(() => {});
    }
  } catch {
    // Everything is stopping, or WHATSAPP_API_URL names another simulator.
  }
}

/** @param {number} sent */
function recipientOf(sent) {
  if (sent % 11 === 5) return FAILING[sent % 2]?.[0];
  return `+55119${String(60_000_000 + Math.floor(Math.random() * 9_999_999))}`;
}

/**
 * @param {string} api
 * @param {string} simulator
 * @param {{ key: string, number?: string | undefined }} send a test send without a number of its own
 * @param {AbortSignal} signal
 */
async function oneSend(api, simulator, { key, number = '+5511987654321' }, signal) {
  const headers = { authorization: `Bearer ${key}` };
  const locale = Math.random() < 0.7 ? 'pt-BR' : 'en';
  const { id, mode } = await post(`${api}/v1/send`, { to: number, locale }, signal, headers);
  if (id === undefined) return;
  await delay(2_000 + 8_000 * Math.random(), undefined, { signal });
  const code = mode === 'test' ? '000000' : await codeFor(simulator, number, signal);
  if (code === undefined || Math.random() < 0.1) return;
  const typed = Math.random() < 0.1 ? '1234' : code;
  await post(`${api}/v1/send/${id}/verify`, { code: typed }, signal, headers);
}

/**
 * @param {string} simulator
 * @param {string} number
 * @param {AbortSignal} signal
 * @returns {Promise<string | undefined>} the latest code on that phone
 */
async function codeFor(simulator, number, signal) {
  const query = new URLSearchParams({ recipient: number, limit: '1' });
  const answer = await fetch(`${simulator}/simulator/messages?${query}`, { signal });
  const [message] = /** @type {{ code?: string }[]} */ (await answer.json());
  return message?.code;
}

/**
 * @param {string} url
 * @param {object} body
 * @param {AbortSignal} signal
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
async function post(url, body, signal, headers = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.json();
}
