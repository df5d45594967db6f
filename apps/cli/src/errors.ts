import { ConfigError } from '@onecode/runtime/config';
import { CommanderError, type Command } from 'commander';

/** A command that was not written correctly: exit code 2. Its message is one line and repeats nothing that was typed. */
export class UsageError extends Error {}

/** A command that is correct and cannot be done: exit code 1. */
export class UserError extends Error {}

/** What was looked up by its id. @throws {UserError} where there is none */
export function found<T>(what: string, value: T | null | undefined): T {
  if (value === null || value === undefined) throw new UserError(`there is no ${what} with this id`);
  return value;
}

export interface ErrorReport {
  line: string;
  exitCode: 1 | 2;
}

/** The line and the exit code of an error; null after help or the version. It never repeats what was typed, which may be a key. */
export function describeError(error: unknown, program: Command, args: readonly string[]): ErrorReport | null {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return null;
    return { line: usageLine(error, commandOf(program, args)), exitCode: 2 };
  }
  if (error instanceof UsageError) return { line: error.message, exitCode: 2 };
  if (error instanceof UserError) return { line: error.message, exitCode: 1 };
  if (error instanceof ConfigError) return { line: configLine(error), exitCode: 1 };
  const name = error instanceof Error ? error.name : typeof error;
  return { line: `the command failed unexpectedly (${name})`, exitCode: 1 };
}

function configLine({ faults }: ConfigError): string {
  const line = faults.join('; ');
  return line === 'DATABASE_URL is missing' ? `${line}: set it, or run npm start in this folder` : line;
}

function usageLine(error: CommanderError, command: Command): string {
  const help = `see ${pathOf(command)} --help`;
  switch (error.code) {
    case 'commander.help':
    case 'commander.unknownCommand': {
      const problem = error.code === 'commander.help' ? 'a command is missing' : 'unknown command';
      return `${problem}: one of ${command.commands.map((one) => one.name()).join(', ')} is expected; ${help}`;
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

/** The command that the arguments name, as deep as they name one. */
function commandOf(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const arg of args) command = command.commands.find((one) => one.name() === arg) ?? command;
  return command;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Ends a command with an exit code after it has printed its result: something that it looked at is not as it should be. */
export class NotOk extends Error {
  override readonly name = 'NotOk';
  constructor(readonly exitCode: 1 | 2 = 1) {
    super();
  }
}
