import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { applyMigrations, describeSchema, withEmptyDatabase } from './schema.mjs';

/** The second half of `npm run generate`: writes prisma/schema.sql from the migrations, with a temporary PostgreSQL. */
const schema = await withEmptyDatabase(async (client) => {
  await applyMigrations(client);
  return describeSchema(client);
});
writeFileSync(join(root, 'prisma/schema.sql'), schema);
