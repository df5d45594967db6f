import { userInfo } from 'node:os';
import { isatty } from 'node:tty';
import { ConfigError, readConfig, variable } from '@onecode/runtime/config';
import type { Actor } from '@onecode/store/operations';

/** One line of letters, digits, signs and spaces between them: no control, format or separator characters. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;
const STANDARD_STREAMS = [0, 1, 2];

/**
 * Who is at the command line, for the audit log: whom ONECODE_ACTOR names, or else the user of the operating system. In an image
 * that user is the same for everybody, so that without a terminal, as in a job, somebody has to be named there.
 *
 * @throws ConfigError when nobody can be named: the command is then refused before it changes anything
 */
export function actor(): Actor {
  const { ONECODE_ACTOR: named } = readConfig(process.env, { ONECODE_ACTOR: variable(parseName, '') });
  const mustBeNamed = process.env['NODE_ENV'] === 'production' && !STANDARD_STREAMS.some(isatty);
  if (named === '' && mustBeNamed)
    throw new ConfigError([
      'ONECODE_ACTOR is missing: without a terminal it says who changes this, for the audit log',
    ]);
  return { kind: 'command_line', id: null, name: named || userName() };
}

function parseName(value: string): string {
  if (!NAME.test(value)) throw new Error('must be one line of 1 to 200 visible characters');
  return value;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // As in a container that runs under a number only.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
