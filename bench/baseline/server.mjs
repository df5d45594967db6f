import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { encrypt, hashCode, newId, openPool, sha256 } from './primitives.mjs';

/**
 * The baseline API: minimal code that does the same job, with one statement for each request and nothing shared between requests.
 * It reads variables of the API: PORT, DATABASE_URL, REDIS_URL, WHATSAPP_APP_SECRET.
 */
const { PORT, DATABASE_URL, REDIS_URL = '', WHATSAPP_APP_SECRET = '' } = process.env;
const pool = openPool(DATABASE_URL);
const queue = new Queue('baseline', { connection: new Redis(REDIS_URL, { maxRetriesPerRequest: 1 }) });

/** @typedef {{ method: string, path: string, headers: import('node:http').IncomingHttpHeaders, body: Buffer }} Request */

/** @param {Request} request */
const keyHash = ({ headers }) => sha256(String(headers.authorization).slice('Bearer '.length));

/** @param {any} send */
const viewOf = ({ id, status, created_at, expires_at, sent_at, verified_at }) => ({
  id,
  status,
  verification: verified_at ? 'verified' : 'pending',
  created_at,
  expires_at,
  sent_at,
  verified_at,
});

/**
 * @param {Request} request
 * @returns {Promise<[number, object]>}
 */
async function create(request) {
  const { to } = JSON.parse(request.body.toString());
  if (!/^\+[1-9]\d{4,14}$/.test(to)) return [422, { code: 'invalid_recipient' }];
  const id = newId();
  const code = String(randomInt(1e6)).padStart(6, '0');
  const idempotencyKey = request.headers['idempotency-key'] ?? null;
  const { rows } = await pool.query({
    name: 'create',
    text: 'select c.outcome, (c.send).* from create_send($1, $2, $3, $4, $5, $6, $7) c',
    values: [
      keyHash(request),
      id,
      idempotencyKey,
      sha256(request.body),
      to,
      hashCode(id, code),
      encrypt(id, code),
    ],
  });
  const { outcome, ...send } = rows[0];
  if (outcome !== 'created' && outcome !== 'existing') return [429, { code: outcome }];
  if (outcome === 'created')
    void queue.add('deliver', { sendId: id }, { removeOnComplete: 1000 }).catch(() => {});
  return [202, viewOf(send)];
}

/**
 * @param {Request} request
 * @returns {Promise<[number, object]>}
 */
async function status(request) {
  const { rows } = await pool.query({
    name: 'status',
    text: 'select s.* from sends s join api_keys k on k.account_id = s.account_id where s.id = $1 and k.hash = $2',
    values: [request.path.split('/')[3], keyHash(request)],
  });
  return rows.length === 0 ? [404, {}] : [200, viewOf(rows[0])];
}

/**
 * @param {Request} request
 * @returns {Promise<[number, object]>}
 */
async function verify(request) {
  const id = request.path.split('/')[3] ?? '';
  const { code } = JSON.parse(request.body.toString());
  const { rows } = await pool.query({
    name: 'verify',
    text: `update sends s set wrong_guesses = wrong_guesses + (code_hash <> $3)::integer,
        verified_at = case when code_hash = $3 then clock_timestamp() end
      from api_keys k
      where s.id = $1 and k.hash = $2 and k.account_id = s.account_id
        and verified_at is null and wrong_guesses < 5 and expires_at > clock_timestamp()
      returning verified_at is not null as valid, 5 - wrong_guesses as attempts_left`,
    values: [id, keyHash(request), hashCode(id, String(code))],
  });
  return [200, rows[0] ?? { valid: false, attempts_left: 0 }];
}

/**
 * @param {Request} request
 * @returns {Promise<[number, object]>}
 */
async function receipts({ headers, body }) {
  const mac = createHmac('sha256', WHATSAPP_APP_SECRET).update(body).digest();
  const given = Buffer.from(String(headers['x-hub-signature-256']).slice('sha256='.length), 'hex');
  if (given.length !== mac.length || !timingSafeEqual(given, mac)) return [401, {}];
  const statuses = JSON.parse(body.toString()).entry[0].changes[0].value.statuses;
  const { rows } = await pool.query({
    name: 'receipts',
    text: `insert into receipts (message_id, send_id, status, occurred_at)
      select r.id, r.send_id, r.status, to_timestamp(r.at)
      from unnest($1::text[], $2::uuid[], $3::send_status[], $4::bigint[]) as r (id, send_id, status, at)
      order by 1, 3 on conflict (message_id, status) do nothing returning id`,
    values: ['id', 'biz_opaque_callback_data', 'status', 'timestamp'].map((name) =>
      statuses.map((/** @type {any} */ status) => status[name]),
    ),
  });
  void queue
    .add('apply', { receiptIds: rows.map(({ id }) => id) }, { removeOnComplete: 1000 })
    .catch(() => {});
  return [200, {}];
}

/** @returns {Promise<[number, object]>} */
async function ready() {
  await pool.query('select 1');
  return [200, {}];
}

/** @param {Request} request */
function handler({ method, path }) {
  if (path === '/v1/send') return create;
  if (path === '/readyz') return ready;
  if (path === '/webhooks/whatsapp') return receipts;
  return method === 'GET' ? status : verify;
}

createServer((incoming, response) => {
  /** @type {Buffer[]} */
  const parts = [];
  incoming.on('data', (part) => parts.push(part));
  incoming.on('end', async () => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(parts) };
    /** @type {[number, object]} */
    const [code, answer] = await handler(request)(request).catch(() => [500, {}]);
    const text = JSON.stringify(answer);
    response
      .writeHead(code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
}).listen(Number(PORT), '127.0.0.1');
