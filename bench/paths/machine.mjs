import { cpus, loadavg, totalmem } from 'node:os';
import pg from 'pg';

const SETTINGS = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers'];

/**
 * What the figures were made on.
 * @param {import('../run.mjs').House} house
 */
export async function machine({ databaseUrl }) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'select name, current_setting(name) as value from unnest($1::text[]) name',
    [SETTINGS],
  );
  await client.end();
  const settings = /** @type {Record<string, string>} */ (
    Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  );
  const found = {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    node: process.version,
    postgres: settings,
  };
  const text =
    `${found.cores} cores (${found.processor}), ${found.memoryGiB} GiB, load ${found.loadBefore} before; Node ${found.node}, ` +
    `PostgreSQL ${settings['server_version']} with fsync ${settings['fsync']}, synchronous_commit ${settings['synchronous_commit']}.`;
  return { ...found, text };
}
