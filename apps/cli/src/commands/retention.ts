import { applyRetention } from '@onecode/store/sends';
import type { Command } from 'commander';
import { commandGroup } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, pickFields, print } from '../output.js';

export function addRetentionCommands(program: Command): void {
  const add = commandGroup(
    program,
    'retention',
    'removal of old numbers and sends, as set by retain_numbers_days and retain_sends_days',
    'retention run',
  );
  add('run', 'mask old numbers and delete old sends now; workers do the same continuously, oldest first')
    .addHelpText('after', example('retention run --json'))
    .action(async (_options: object, command: Command) => {
      const { signal } = new AbortController();
      const retained = await withDatabase((database) => applyRetention(database, signal));
      print(command, pickFields(retained, 'numbersReplaced', 'sendsDeleted'));
    });
}
