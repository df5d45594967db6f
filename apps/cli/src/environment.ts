import { readFileSync } from 'node:fs';

/** Written by `npm start`, readable by its user only, and removed when it stops. */
const RUNNING_ENVIRONMENT = '.data/environment.json';

/** Returns the variables that are set. Without a database, the variables of the running `npm start` are added. */
export function environment(): NodeJS.ProcessEnv {
  const set = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim()));
  if ('DATABASE_URL' in set || 'DATABASE_URL_FILE' in set) return set;
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
