import { retainAll } from '@onecode/store';
import type { Command } from 'commander';
import { withDatabase } from '../database.js';
import { example, print } from '../output.js';

export function addRetentionCommands(program: Command): void {
  program
    .command('retention')
    .description('numbers and sends whose time is over by the settings')
    .addHelpText('after', example('retention run'))
    .command('run')
    .description(
      'mask the numbers and delete the sends whose time is over, in all sends, as workers do in the order of their creation',
    )
    .addHelpText('after', example('retention run --json'))
    .action(async (_options: object, command: Command) => {
      const { numbersReplaced, sendsDeleted } = await withDatabase(retainAll);
      print(command, { numbers_replaced: numbersReplaced, sends_deleted: sendsDeleted });
    });
}
