import { userInfo } from 'node:os';
import type { Actor } from '@onecode/store';

/** Who is at the command line, for the audit log: the user of the operating system, by name where it has one. */
export function actor(): Actor {
  return { kind: 'command_line', id: null, name: userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // As in a container that runs under a number only.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
