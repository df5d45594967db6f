import { readFileSync } from 'node:fs';

/** Written by `npm start`, readable by its user only, and removed when it stops. */
const RUNNING_ENVIRONMENT = '.data/environment.json';

/**
 * The environment of a command: the variables that are set. Where DATABASE_URL is not set, the variables of the Onecode that
 * `npm start` runs in this folder complete them. Where it is set, they are ignored: their SECRET_KEY belongs to another database.
 */
export function environment(): NodeJS.ProcessEnv {
  if (process.env['DATABASE_URL']) return process.env;
  const set = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return { ...readRunningEnvironment(), ...set };
}

function readRunningEnvironment(): NodeJS.ProcessEnv {
  try {
    return JSON.parse(readFileSync(RUNNING_ENVIRONMENT, 'utf8')) as NodeJS.ProcessEnv;
  } catch {
    return {};
  }
}
