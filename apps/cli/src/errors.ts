import { ConfigError } from '@onecode/runtime/config';
import { CommanderError, type Command } from 'commander';

/** A command line with an error: exit code 2. The message is one line and never repeats typed values. */
export class UsageError extends Error {}

/** A valid command that failed: exit code 1. */
export class UserError extends Error {}

/** Returns a value that was looked up by its id. @throws {UserError} when it is null */
export function found<T>(what: string, value: T | null | undefined): T {
  if (value === null || value === undefined) throw new UserError(`there is no ${what} with this id`);
  return value;
}

export interface ErrorReport {
  line: string;
  exitCode: 1 | 2;
}

/** Returns the line and exit code of an error; null after help or the version. It never repeats typed values, which may be keys. */
export function describeError(error: unknown, program: Command, args: readonly string[]): ErrorReport | null {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return null;
    return { line: formatUsageError(error, findCommand(program, args)), exitCode: 2 };
  }
  if (error instanceof UsageError) return { line: error.message, exitCode: 2 };
  if (error instanceof UserError) return { line: error.message, exitCode: 1 };
  if (error instanceof ConfigError) return { line: formatConfigError(error), exitCode: 1 };
  const name = error instanceof Error ? error.name : typeof error;
  return { line: `the command failed unexpectedly (${name})`, exitCode: 1 };
}

function formatConfigError({ faults }: ConfigError): string {
  const line = faults.join('; ');
  return line === 'DATABASE_URL is missing' ? `${line}: set it, or run npm start in this folder` : line;
}

function formatUsageError(error: CommanderError, command: Command): string {
  const help = `see ${formatPath(command)} --help`;
  switch (error.code) {
    case 'commander.help':
    case 'commander.unknownCommand': {
      const problem = error.code === 'commander.help' ? 'a command is missing' : 'unknown command';
      return `${problem}: expected one of ${command.commands.map((one) => one.name()).join(', ')}; ${help}`;
    }
    case 'commander.unknownOption': {
      const name = /^error: unknown option '(--?[a-z][a-z-]{0,30})['=]/.exec(error.message)?.[1];
      const meant = /\(Did you mean ([^()]+)\?\)$/.exec(error.message)?.[1];
      return `unknown option${name === undefined ? '' : ` ${name}`}${meant === undefined ? '' : ` (did you mean ${meant}?)`}; ${help}`;
    }
    default:
      return `${error.message.replace(/^error: /, '')}; ${help}`;
  }
}

/** Returns the innermost command that the arguments name. */
function findCommand(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const arg of args) command = command.commands.find((one) => one.name() === arg) ?? command;
  return command;
}

function formatPath(command: Command): string {
  return command.parent === null ? command.name() : `${formatPath(command.parent)} ${command.name()}`;
}

/** Ends a command with an exit code after it has printed its result, because a check failed. */
export class NotOk extends Error {
  override readonly name = 'NotOk';
  constructor(readonly exitCode: 1 | 2 = 1) {
    super();
  }
}
