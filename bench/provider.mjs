import { createServer } from 'node:http';
import { monotonicMs } from './clock.mjs';

/**
 * A provider that takes every message, at once or after `delay` milliseconds, and does nothing else: `PORT` is its environment.
 * `POST /reset?delay=N` begins anew, `GET /count` says how many messages came, `GET /arrivals` when each came, by its recipient.
 */
let delayMs = 0;
/** @type {Map<string, number>} */
let arrivals = new Map();
let count = 0;

/** @param {string} body */
function message(body) {
  const at = monotonicMs();
  const to = /"to":"([^"]+)"/.exec(body)?.[1] ?? '';
  if (!arrivals.has(to)) arrivals.set(to, at);
  count += 1;
  return { messaging_product: 'whatsapp', messages: [{ id: `wamid.${count}.${Date.now()}` }] };
}

/** @param {URL} url */
function control({ pathname, searchParams }) {
  if (pathname === '/count') return { count };
  if (pathname === '/arrivals') return Object.fromEntries(arrivals);
  delayMs = Number(searchParams.get('delay'));
  arrivals = new Map();
  count = 0;
  return {};
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    const isMessage = request.url?.endsWith('/messages') === true;
    const answer = JSON.stringify(
      isMessage ? message(body) : control(new URL(request.url ?? '', 'http://localhost')),
    );
    const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    if (isMessage && delayMs > 0) setTimeout(reply, delayMs);
    else reply();
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
