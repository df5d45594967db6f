import { inLanes } from '../lanes.mjs';
import { inTurn } from '../turn.mjs';
import { CODE, SETTLED_TOGETHER } from './contender.mjs';
import { nextRecipient } from './requests.mjs';

const MADE_TOGETHER = 1_000;
const LANES = 4;

/** No sweep enqueues them while they are measured. */
const KEEP_QUIET = `update sends set next_enqueue_at = next_enqueue_at + interval '1 hour' where id = any($1)`;
const CLAIM = `
  with claimed as (
    update sends s set status = 'sending', channel = 'whatsapp', from_number = r.number, sender_id = r.id, attempts = 1,
      attempt_id = made.attempt_id, due_at = clock_timestamp() + interval '15 seconds',
      next_enqueue_at = clock_timestamp() + interval '16 seconds', version = version + 1
    from unnest($1::uuid[], $2::uuid[]) as made (id, attempt_id), (select id, number from senders order by id limit 1) r
    where s.id = made.id returning s.id, s.sender_id, s.attempt_id
  ) insert into attempts (id, send_id, sender_id) select attempt_id, id, sender_id from claimed`;
const SETTLE = `
  with settled as (
    update sends s set status = 'sent', sealed_code = null, due_at = null, next_enqueue_at = null, sent_at = clock_timestamp(),
      version = version + 1
    from unnest($1::uuid[]) as made (id) where s.id = made.id
  ) update attempts a set outcome = 'accepted', message_id = made.message_id, finished_at = clock_timestamp()
    from unnest($2::uuid[], $3::text[]) as made (attempt_id, message_id) where a.id = made.attempt_id`;

/**
 * Makes sends of our service as its API and its worker leave them.
 * @param {import('pg').Pool} pool
 * @param {import('@onecode/store').Database} handle
 * @param {import('@onecode/store/testing').TestCaller[]} callers
 * @param {{ store: typeof import('@onecode/store'), testing: typeof import('@onecode/store/testing') }} release
 * @returns {Pick<import('./contender.mjs').Contender, 'makeSends' | 'makeSent' | 'clear'>}
 */
export function sendsOf(pool, handle, callers, { store, testing }) {
  const first = store.newId(); // Ids are in the order of time: what is made here, or by requests, comes after it.
  /** @param {number} count */
  const makeSends = async (count) => {
    /** @type {import('./requests.mjs').Made[]} */
    const made = [];
    for (let at = 0; at < count; at += MADE_TOGETHER) {
      const part = Array.from({ length: Math.min(MADE_TOGETHER, count - at) }, async (_, place) => {
        const caller = inTurn(callers, at + place);
        const wishes = { code: CODE, recipient: nextRecipient() };
        return { id: await testing.buildSend(handle, caller, wishes), key: caller.key };
      });
      made.push(...(await Promise.all(part)));
    }
    await pool.query(KEEP_QUIET, [made.map(({ id }) => id)]);
    return made;
  };
  return {
    makeSends,
    async makeSent(count) {
      const sent = (await makeSends(count)).map((one) => ({
        ...one,
        attemptId: store.newId(),
        messageId: `wamid.${one.id}`,
      }));
      await inLanes(Math.ceil(count / SETTLED_TOGETHER), LANES, async (group) => {
        const part = sent.slice(group * SETTLED_TOGETHER, (group + 1) * SETTLED_TOGETHER);
        const [ids, attemptIds] = [part.map(({ id }) => id), part.map(({ attemptId }) => attemptId)];
        await pool.query(CLAIM, [ids, attemptIds]);
        await pool.query(SETTLE, [ids, attemptIds, part.map(({ messageId }) => messageId)]);
      });
      return sent;
    },
    async clear() {
      await pool.query(`
        create temporary table if not exists gone (id uuid);
        truncate gone;
        insert into gone select id from sends where id > '${first}';
        delete from receipts where due_at is not null
          or attempt_id in (select a.id from gone join attempts a on a.send_id = gone.id);
        delete from ledger_entries where send_id in (select id from gone);
        delete from attempts where send_id in (select id from gone);
        delete from sends where id in (select id from gone)`);
      // Else an automatic one falls into some round, and entries of what is gone stay in the indexes, of a large table for longer.
      await pool.query('vacuum sends, attempts, ledger_entries');
      await pool.query('vacuum (index_cleanup on) receipts');
    },
  };
}
