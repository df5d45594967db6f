import { retainAll } from '@onecode/store/sends';
import type { Command } from 'commander';
import { commandGroup } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, fieldsOf, print } from '../output.js';

export function addRetentionCommands(program: Command): void {
  const add = commandGroup(
    program,
    'retention',
    'numbers and sends whose time is over by the settings',
    'retention run',
  );
  add(
    'run',
    'mask the numbers and delete the sends whose time is over, in all sends, as workers do in the order of their creation',
  )
    .addHelpText('after', example('retention run --json'))
    .action(async (_options: object, command: Command) => {
      print(command, fieldsOf(await withDatabase(retainAll), 'numbersReplaced', 'sendsDeleted'));
    });
}
