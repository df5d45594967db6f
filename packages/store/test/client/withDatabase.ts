import { closeDatabase, openDatabase, type Database } from '@onecode/store/client';

/** Opens the database at an address, and closes it after `use` has ended. */
export async function withDatabase<T>(
  url: string,
  use: (database: Database) => Promise<T>,
  connectionsMax = 2,
): Promise<T> {
  const database = openDatabase(url, { connectionsMax });
  try {
    return await use(database);
  } finally {
    await closeDatabase(database);
  }
}
