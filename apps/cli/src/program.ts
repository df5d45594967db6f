import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addAccountCommands } from './commands/account.js';
import { addApplicationCommands } from './commands/application.js';
import { addAuditCommands } from './commands/audit.js';
import { addHoldCommands } from './commands/hold.js';
import { addKeyCommands } from './commands/key.js';
import { addSenderCommands } from './commands/sender.js';
import { addSettingsCommands } from './commands/settings.js';
import { addUserCommands } from './commands/user.js';
import { describeError } from './errors.js';

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

function buildProgram(): Command {
  const program = new Command('onecode')
    .description("Onecode's command line for operators.")
    .version(version(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--json', 'print one JSON object or array and nothing else')
    .configureHelp({ showGlobalOptions: true })
    // Errors are written by `run`, one line each.
    .configureOutput({ writeErr: () => {} })
    .exitOverride()
    .addHelpText(
      'after',
      '\nEvery command reads DATABASE_URL; sender add, token and reseal read SECRET_KEY too. The audit log names\nONECODE_ACTOR, or else the user of the operating system; in an image it has to be set where there is no terminal.\n\nExample:\n  $ onecode account create --name "Loja Azul"',
    );
  addAccountCommands(program);
  addApplicationCommands(program);
  addKeyCommands(program);
  addSettingsCommands(program);
  addSenderCommands(program);
  addUserCommands(program);
  addHoldCommands(program);
  addAuditCommands(program);
  return program;
}

/**
 * Runs one command. Results go to standard output; a fault goes to standard error as one line, and then nothing stands on
 * standard output.
 *
 * @returns the exit code: 0, 1 for a command that could not be done, 2 for one that was not written right
 */
export async function run(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const fault = describeError(error, program, args);
    if (fault === null) return 0;
    process.stderr.write(`onecode: ${fault.line}\n`);
    return fault.exitCode;
  }
}
