import { prismaAdapter } from '@better-auth/prisma-adapter';
import type { Database } from '../client/database.js';

/** The storage of better-auth in the tables `user…`. It has its own export, because only the console needs the library. */
export function authStorage(database: Database): ReturnType<typeof prismaAdapter> {
  return prismaAdapter(database.prisma, { provider: 'postgresql', transaction: true });
}
