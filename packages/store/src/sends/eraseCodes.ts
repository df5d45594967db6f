import type { Database } from '../client/database.js';
import { CLOCKS_APART_MS } from '../client/ids.js';

/**
 * Erases the encrypted codes of sent messages after the codes have expired. Walks through the sends once, in the order of their ids (which
 * is the order of creation), and stops at the first send with a code that is active or being sent. There is no index of these codes,
 * because every receipt would have to update it. The codes of other sends are erased by the change that ends their delivery. The walk ends
 * `CLOCKS_APART_MS` before now: another clock makes the ids, so a send may be inserted that long after the time in its id.
 *
 * @param limit the most sends to look at
 * @returns how many sends it looked at; 0 also while another caller is running
 */
export async function eraseExpiredCodes(database: Database, limit: number): Promise<number> {
  const [row] = await database.sql.query<[{ count: number }]>`
    with begun as materialized (
      select position from cursors where name = 'codes' for update skip locked
    ), page as materialized (
      select s.id, s.expires_at > statement_timestamp() or coalesce(s.claimed_until > statement_timestamp(), false) as lives,
        s.phase = 'unconfirmed' as has_code
      from begun cross join lateral (
        select * from sends where id > begun.position and id < first_id_at(statement_timestamp() - make_interval(secs => ${CLOCKS_APART_MS / 1000}::float8)) order by id limit ${limit}
      ) s
    ), expired as materialized (
      select id, has_code from page
      where id < coalesce(
        (select id from page where lives order by id limit 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff'
      )
    ), locked as materialized (
      select s.id from (select id from expired where has_code order by id) e
      cross join lateral (select id from sends where id = e.id and phase = 'unconfirmed' for no key update) s
    ), erased as (
      update sends set phase = 'done', encrypted_code = null, version = version + 1 where id = any(array(select id from locked))
    ), moved as (
      update cursors set position = (select id from expired order by id desc limit 1) where name = 'codes' and exists (select from expired)
    )
    select count(*)::integer as count from expired`;
  return row.count;
}
