import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

/**
 * better-auth's phone number plugin without the delivery: it generates a code, stores it and answers. It has no API key, limit,
 * quota, ledger, idempotency key or queue. It takes PORT and DATABASE_URL.
 */
const { PORT, DATABASE_URL } = process.env;
// A dependency of the console, which cannot be installed next to the root's dependencies.
const { resolve } = createRequire(new URL('../../apps/console/package.json', import.meta.url));
const load = (/** @type {string} */ name) => import(pathToFileURL(resolve(name)).href);
const { betterAuth } = await load('better-auth');
const { toNodeHandler } = await load('better-auth/node');
const { phoneNumber } = await load('better-auth/plugins/phone-number');
const { getMigrations } = await load('better-auth/db/migration');

const auth = betterAuth({
  database: new pg.Pool({ connectionString: DATABASE_URL, max: 20 }),
  baseURL: `http://127.0.0.1:${PORT}`,
  secret: 'a secret of the benchmark, 32 characters',
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [phoneNumber({ sendOTP: async () => {} })],
});
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
createServer(toNodeHandler(auth)).listen(Number(PORT), '127.0.0.1');
