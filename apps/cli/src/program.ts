import { VERSION } from '@onecode/runtime/version';
import { Command } from 'commander';
import { addAccountCommands } from './commands/account.js';
import { addApplicationCommands } from './commands/application.js';
import { addAuditCommands } from './commands/audit.js';
import { addCostCommands } from './commands/cost.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addHoldCommands } from './commands/hold.js';
import { addKeyCommands } from './commands/key.js';
import { addRecipientCommands } from './commands/recipient.js';
import { addLedgerCommands } from './commands/ledger.js';
import { addReleaseCommands } from './commands/release.js';
import { addRequestCommands } from './commands/request.js';
import { addRetentionCommands } from './commands/retention.js';
import { addSenderCommands } from './commands/sender.js';
import { addSendCommands } from './commands/send.js';
import { addSettingsCommands } from './commands/settings.js';
import { addUserCommands } from './commands/user.js';
import { NotOk, describeError } from './errors.js';

const HELP = `
Environment:
  DATABASE_URL      required by every command
  SECRET_KEY        required by sender setup, add, app, token, reencrypt and check --fix
  WHATSAPP_API_URL  used by sender setup and check --fix (default: Meta)
  NUMBER_PEPPER     required by commands with --to (default: derived from CODE_PEPPER)
  ONECODE_ACTOR     name in the audit log (default: the user of the operating system);
                    required in a container image without a terminal

Without DATABASE_URL, these variables come from the Onecode that npm start runs in this folder.

Example:
  $ onecode account create --name "Loja Azul"`;

function buildProgram(): Command {
  const program = new Command('onecode')
    .description("Onecode's command line for operators.")
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--json', 'print one JSON object or array and nothing else')
    .configureHelp({ showGlobalOptions: true })
    // `run` writes errors, one line each.
    .configureOutput({ writeErr: () => {} })
    .exitOverride()
    .addHelpText('after', HELP);
  addAccountCommands(program);
  addApplicationCommands(program);
  addKeyCommands(program);
  addSettingsCommands(program);
  addSenderCommands(program);
  addSendCommands(program);
  addRequestCommands(program);
  addRecipientCommands(program);
  addRetentionCommands(program);
  addUserCommands(program);
  addHoldCommands(program);
  addCostCommands(program);
  addLedgerCommands(program);
  addReleaseCommands(program);
  addAuditCommands(program);
  addDoctorCommand(program);
  return program;
}

/** Runs one command. @returns the exit code: 0, 1 for a failure, 2 for a usage error */
export async function run(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof NotOk) return error.exitCode;
    const report = describeError(error, program, args);
    if (report === null) return 0;
    process.stderr.write(`onecode: ${report.line}\n`);
    return report.exitCode;
  }
}
