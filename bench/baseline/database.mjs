import pg from 'pg';

/**
 * What the service asks of its connections too: plans by index only, made once. Without it a plan from when a table was empty reads
 * all of it for seconds, and the floor would be lower than it is.
 */
const SETTINGS = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'plan_cache_mode=force_generic_plan',
];
const CONNECTIONS_MAX = 20;

/** @param {string | undefined} url */
export const openPool = (url) =>
  new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    options: SETTINGS.map((setting) => `-c ${setting}`).join(' '),
  });
