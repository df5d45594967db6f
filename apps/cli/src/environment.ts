import { readFileSync } from 'node:fs';

/** Written by `npm start`, readable by its user only, and removed when it stops. */
const RUNNING_ENVIRONMENT = '.data/environment.json';

/**
 * The environment of a command: the variables that are set. Where no database is named, the variables of the Onecode that
 * `npm start` runs in this folder complete them. Where one is, they are ignored: their SECRET_KEY belongs to another database.
 */
export function environment(): NodeJS.ProcessEnv {
  if (process.env['DATABASE_URL'] || process.env['DATABASE_URL_FILE']) return process.env;
  const set = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  const running = Object.entries(readRunningEnvironment()).filter(([name]) => !(`${name}_FILE` in set));
  return { ...Object.fromEntries(running), ...set };
}

function readRunningEnvironment(): NodeJS.ProcessEnv {
  try {
    return JSON.parse(readFileSync(RUNNING_ENVIRONMENT, 'utf8')) as NodeJS.ProcessEnv;
  } catch {
    return {};
  }
}
