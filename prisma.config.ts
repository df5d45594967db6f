import { defineConfig } from 'prisma/config';

/** For Prisma's own command line: `prisma migrate deploy` takes over the same migrations where it can be had. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(process.env['DATABASE_URL'] ? { datasource: { url: process.env['DATABASE_URL'] } } : {}),
});
