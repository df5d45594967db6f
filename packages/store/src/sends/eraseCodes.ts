import type { Database } from '../client/database.js';

/** An id is made before its send is inserted, and by another clock. */
const LATE_SECONDS = 60;

/**
 * Erases the encrypted codes of sent messages whose code has expired: nothing can send them again. Goes through the sends once, in the order
 * of their ids and so of their creation, up to the first whose code still lives or is being sent. No index finds these codes, because every receipt
 * would have to change it; the sends in other states erase their codes themselves.
 *
 * @param limit sends that are looked at
 * @returns how many were looked at, 0 also while another caller is at it
 */
export async function eraseExpiredCodes(database: Database, limit: number): Promise<number> {
  const [row] = await database.sql.query<[{ count: number }]>`
    with begun as materialized (
      select position from cursors where name = 'codes' for update skip locked
    ), page as materialized (
      select s.id, s.expires_at > statement_timestamp() or coalesce(s.claimed_until > statement_timestamp(), false) as lives,
        s.phase = 'unconfirmed' as has_code
      from begun cross join lateral (
        select * from sends where id > begun.position and id < first_id_at(statement_timestamp() - make_interval(secs => ${LATE_SECONDS})) order by id limit ${limit}
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
