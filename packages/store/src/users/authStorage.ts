import { prismaAdapter } from '@better-auth/prisma-adapter';
import type { Database } from '../client/database.js';

/**
 * Where better-auth keeps users, sessions and credentials: the tables `user…` and `sign_in_limits`. An entry of its own in the
 * package: only the console needs the library.
 */
export function authStorage(database: Database): ReturnType<typeof prismaAdapter> {
  return prismaAdapter(database, { provider: 'postgresql', transaction: true });
}
