import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { UserError } from './errors.js';

/** The option of a command that cannot be undone. */
export const YES = ['--yes', 'do not ask for confirmation'] as const;

/**
 * Asks on standard error for confirmation of a command that cannot be undone. With `--yes` or `--json` it does not ask.
 *
 * @param consequence a sentence that names what is lost
 * @throws UserError unless the answer on standard input is `yes`
 */
export async function confirm(command: Command, consequence: string): Promise<void> {
  const { json, yes } = command.optsWithGlobals<{ json?: true; yes?: true }>();
  if (json || yes) return;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.setPrompt(`${consequence} This cannot be undone. Type yes to continue: `);
  lines.prompt();
  let answer = '';
  for await (const line of lines) {
    answer = line.trim();
    break;
  }
  lines.close();
  if (answer !== 'yes') throw new UserError('not confirmed, so nothing was changed: type yes, or add --yes');
}
