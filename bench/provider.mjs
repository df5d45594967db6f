import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { monotonicMs } from './machine.mjs';
import { RECEIPT_STATUSES, REPORTS_PER_POST, webhooks } from './targets/target.mjs';

/**
 * Serves a provider that accepts every message, at once or after a delay in milliseconds, and does nothing else. It listens on `PORT`.
 * `POST /reset?delay=N` sets the delay and forgets all messages, `GET /count` returns how many messages arrived and how many still have
 * reports to be posted one by one, `GET /arrivals` returns when each arrived, by recipient. After `POST /reset?delay=N&api=URL&secret=S` it
 * also reports on each message to that API: many reports in a post, or with `&posting=one by one` each in its own.
 */
let delayMs = 0;
/** @type {Map<string, number>} */
let arrivals = new Map();
let count = 0;
/** @type {string | null} */
let api = null;
let secret = '';
let isOneByOne = false;
/** Messages with pending reports that are posted one by one. */
let reporting = 0;
/** @type {import('./targets/target.mjs').Report[]} those that are to be posted */
let reports = [];
let isPosting = false;
/** Pause between two reports on a message that are posted one by one. */
const GAP_MS_MIN = 500;
const GAP_MS_MAX = 1_500;

/** @param {string} body */
function acceptMessage(body) {
  const at = monotonicMs();
  const { to, biz_opaque_callback_data: opaqueData } = JSON.parse(body);
  if (!arrivals.has(to)) arrivals.set(to, at);
  count += 1;
  const id = `wamid.${count}.${Date.now()}`;
  if (api !== null) {
    const report = { id, opaqueData, status: RECEIPT_STATUSES[0] ?? '' };
    if (isOneByOne) void postOneByOne(api, report);
    else {
      reports.push(report);
      if (!isPosting) void postReports(api);
    }
  }
  return { messaging_product: 'whatsapp', messages: [{ id }] };
}

/**
 * Posts reports immediately, up to 50 at a time. A message's next report is posted after the previous one was answered.
 * @param {string} url of the API
 */
async function postReports(url) {
  isPosting = true;
  while (reports.length > 0) {
    const posted = reports.splice(0, REPORTS_PER_POST);
    await post(url, posted);
    for (const report of posted) {
      const status = RECEIPT_STATUSES[RECEIPT_STATUSES.indexOf(report.status) + 1];
      if (status !== undefined) reports.push({ ...report, status });
    }
  }
  isPosting = false;
}

/**
 * Posts the reports on a message, each in a post of its own, as Meta does for a service with few messages: people receive and read them
 * at different times, so that the reports on two messages do not come together.
 * @param {string} url of the API
 * @param {import('./targets/target.mjs').Report} first
 */
async function postOneByOne(url, first) {
  reporting += 1;
  for (const status of RECEIPT_STATUSES) {
    if (status !== first.status) await delay(GAP_MS_MIN + Math.random() * (GAP_MS_MAX - GAP_MS_MIN));
    await post(url, [{ ...first, status }]);
  }
  reporting -= 1;
}

/**
 * @param {string} url of the API
 * @param {import('./targets/target.mjs').Report[]} posted
 */
async function post(url, posted) {
  for (const { method, path, headers, body = '' } of webhooks(posted, REPORTS_PER_POST, secret)) {
    const answer = await request(url + path, { method, headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`A webhook was answered ${answer.statusCode}.`);
  }
}

/** @param {URL} url */
function control({ pathname, searchParams }) {
  if (pathname === '/count') return { count, reporting };
  if (pathname === '/arrivals') return Object.fromEntries(arrivals);
  if (pathname !== '/reset') return {}; // a worker also asks about its numbers and templates
  delayMs = Number(searchParams.get('delay'));
  api = searchParams.get('api');
  secret = searchParams.get('secret') ?? '';
  isOneByOne = searchParams.get('posting') === 'one by one';
  arrivals = new Map();
  reports = [];
  count = 0;
  return {};
}

createServer((incoming, response) => {
  let body = '';
  incoming.setEncoding('utf8');
  incoming.on('data', (part) => (body += part));
  incoming.on('end', () => {
    const { url = '' } = incoming;
    const isMessage = url.endsWith('/messages');
    const answer = JSON.stringify(
      isMessage ? acceptMessage(body) : control(new URL(url, 'http://localhost')),
    );
    const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    if (isMessage && delayMs > 0) setTimeout(reply, delayMs);
    else reply();
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
