import { createServer } from 'node:http';
import { monotonicMs } from './machine.mjs';

/**
 * A provider that accepts every message, at once or after a delay in milliseconds, and does nothing else. It listens on `PORT`.
 * `POST /reset?delay=N` sets the delay and forgets all messages, `GET /count` says how many messages came, `GET /arrivals` when each
 * came, by recipient.
 */
let delayMs = 0;
/** @type {Map<string, number>} */
let arrivals = new Map();
let count = 0;

/** @param {string} body */
function acceptMessage(body) {
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
      isMessage ? acceptMessage(body) : control(new URL(request.url ?? '', 'http://localhost')),
    );
    const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    if (isMessage && delayMs > 0) setTimeout(reply, delayMs);
    else reply();
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
