import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** What the provider reported and nobody needs any more, by table: its key, and which rows are finished. */
const REPORTS = {
  provider_changes: ['id', 'due_at is null'],
  /** The others stay with their sends. */
  denials: ['message_id', 'send_id is null'],
} as const;

/** Deletes finished rows that were received this long ago, up to `limit`. @returns how many */
export async function deleteOldReports(
  database: Database,
  table: keyof typeof REPORTS,
  olderThanDays: number,
  limit: number,
): Promise<number> {
  const [key, isFinished] = REPORTS[table];
  return database.sql.execute`
    delete from ${Prisma.raw(table)} where ${Prisma.raw(key)} in (
      select ${Prisma.raw(key)} from ${Prisma.raw(table)}
      where ${Prisma.raw(isFinished)} and received_at < statement_timestamp() - make_interval(days => ${olderThanDays}::integer)
      order by received_at limit ${limit}
    )`;
}
