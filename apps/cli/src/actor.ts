import { userInfo } from 'node:os';
import { isatty } from 'node:tty';
import { ConfigError, readConfig, variable } from '@onecode/runtime/config';
import type { Actor } from '@onecode/store/operations';

/** One line of letters, digits, signs and spaces between them: no control, format or separator characters. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;
const STANDARD_STREAMS = [0, 1, 2];

/**
 * Returns the actor for the audit log: the name in ONECODE_ACTOR, or else the user of the operating system. A container image runs
 * as the same user for all operators, so ONECODE_ACTOR is required in an image without a terminal, for example in a job.
 *
 * @throws ConfigError when ONECODE_ACTOR is required and missing; the command then fails before it changes anything
 */
export function actor(): Actor {
  const { ONECODE_ACTOR: named } = readConfig(process.env, { ONECODE_ACTOR: variable(parseName, '') });
  const mustBeNamed = process.env['NODE_ENV'] === 'production' && !STANDARD_STREAMS.some(isatty);
  if (named === '' && mustBeNamed)
    throw new ConfigError([
      'ONECODE_ACTOR is missing: a command without a terminal needs it to name the actor in the audit log',
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
    // A container may run under a user id that has no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
