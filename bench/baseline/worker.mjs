import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'undici';
import { decrypt, openPool } from './primitives.mjs';

/**
 * The baseline worker: a BullMQ worker with two updates and one call for each delivery, and one statement for the receipts of a post.
 * It reads variables of the worker: DATABASE_URL, REDIS_URL, WHATSAPP_API_URL, DELIVERY_CONCURRENCY.
 */
const { DATABASE_URL, REDIS_URL = '', WHATSAPP_API_URL = '', DELIVERY_CONCURRENCY = '50' } = process.env;
const concurrency = Number(DELIVERY_CONCURRENCY);
const database = openPool(DATABASE_URL);
const { origin, pathname } = new URL(WHATSAPP_API_URL);
const provider = new Pool(origin, { connections: concurrency });

const worker = new Worker(
  'baseline',
  ({ name, data }) => (name === 'deliver' ? deliver(data.sendId) : applyReceipts(data.receiptIds)),
  { connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }), concurrency },
);
worker.on('error', () => {});

/** @param {string} id */
async function deliver(id) {
  const { rows } = await database.query({
    name: 'claim',
    text: `update sends set status = 'sending', next_enqueue_at = clock_timestamp() + interval '15 seconds'
      where id = $1 and status = 'queued' and expires_at > clock_timestamp() returning recipient, encrypted_code`,
    values: [id],
  });
  if (rows.length === 0) return;
  const parameters = [{ type: 'text', text: decrypt(id, rows[0].encrypted_code) }];
  const answer = await provider.request({
    method: 'POST',
    path: `${pathname}/1/messages`,
    headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
    body: JSON.stringify({
      messaging_product: 'whatsapp',
      to: rows[0].recipient,
      type: 'template',
      template: { name: 'code', language: { code: 'pt_BR' }, components: [{ type: 'body', parameters }] },
      biz_opaque_callback_data: id,
    }),
  });
  const { messages } = /** @type {any} */ (await answer.body.json());
  await database.query({
    name: 'settle',
    // A receipt may have been applied before this.
    text: `update sends set status = greatest(status, 'sent'), sent_at = coalesce(sent_at, clock_timestamp()), message_id = $2,
      encrypted_code = null, next_enqueue_at = null where id = $1 and message_id is null`,
    values: [id, messages[0].id],
  });
}

/** @param {readonly string[]} ids of the receipts of one post */
async function applyReceipts(ids) {
  await database.query({
    name: 'apply',
    // In the order of the ids, because concurrent posts may report on the same sends.
    text: `with taken as (
        update receipts set due_at = null where id = any($1) and due_at is not null returning send_id, status, occurred_at
      ),
      reported as (
        select send_id, max(status) as status, min(occurred_at) as sent_at,
          min(occurred_at) filter (where status >= 'delivered') as delivered_at,
          min(occurred_at) filter (where status = 'read') as read_at
        from taken group by send_id order by send_id
      )
      update sends s set status = r.status, sent_at = coalesce(s.sent_at, r.sent_at),
        delivered_at = coalesce(s.delivered_at, r.delivered_at), read_at = r.read_at
      from reported r where s.id = r.send_id and s.status < r.status`,
    values: [ids],
  });
}
