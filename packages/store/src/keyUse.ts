import type { Database } from './database.js';

/** A key that was used since less than this is left as it is: one write a minute and key is enough to tell whether it is in use. */
const SECONDS_MIN = 55;

/**
 * Records that keys are in use, many in one statement. Skips what another process is writing this moment: it writes the same.
 *
 * @param hashes the keys' SHA-256
 */
export async function recordKeyUsage(database: Database, hashes: readonly Uint8Array[]): Promise<void> {
  if (hashes.length === 0) return;
  await database.$executeRaw`
    with used as materialized (
      select id from api_keys
      where hash = any(${[...hashes]}::bytea[])
        and coalesce(last_used_at < statement_timestamp() - make_interval(secs => ${SECONDS_MIN}), true)
      for no key update skip locked
    )
    update api_keys set last_used_at = statement_timestamp() where id in (select id from used)`;
}
