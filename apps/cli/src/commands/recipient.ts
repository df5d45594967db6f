import { maskNumberIn, type PhoneRecipient } from '@onecode/domain';
import { findAccount } from '@onecode/store/accounts';
import { exportRecipient } from '@onecode/store/reports';
import { eraseRecipient } from '@onecode/store/sends';
import type { Command } from 'commander';
import { commandGroup, id, phoneNumber, text } from '../arguments.js';
import { confirm, YES } from '../confirm.js';
import { changed, withDatabase } from '../database.js';
import { found } from '../errors.js';
import { deriveRecipientKeys } from '../numberPepper.js';
import { example, pickFields, print } from '../output.js';

interface Options {
  to: PhoneRecipient;
  account?: string;
}

export function addRecipientCommands(program: Command): void {
  const add = commandGroup(
    program,
    'recipient',
    'data stored about a phone number, for requests by its owner',
    'recipient export --to +5511987654321',
  );
  const about = (command: Command): Command =>
    command
      .requiredOption('--to <number>', 'the number, with + and country code', phoneNumber('--to'))
      .option('--account <id>', 'only data of this account', id('--account'));

  about(add('export', 'print all stored data; the audit log records the export'))
    .addHelpText('after', example('recipient export --to +5511987654321 --json'))
    .action(async ({ to, account }: Options, command: Command) => {
      const keys = await deriveRecipientKeys(to);
      const kept = await changed('account', (...by) => exportRecipient(...by, keys, account ?? null));
      print(command, { ...kept }, { apart: 'sends' });
    });

  about(add('erase', 'end its active codes and mask the number permanently'))
    .requiredOption(
      '--reason <text>',
      'reason, kept in the audit log, where the number is masked',
      text('--reason'),
    )
    .option(...YES)
    .addHelpText('after', example('recipient erase --to +5511987654321 --reason "Request 17"'))
    .action(async ({ to, account, reason }: Options & { reason: string }, command: Command) => {
      const keys = await deriveRecipientKeys(to);
      if (account !== undefined)
        found('account', await withDatabase((database) => findAccount(database, account)));
      await confirm(command, 'This masks the number in every send and ends its active codes.');
      const erased = await changed('account', (...by) =>
        eraseRecipient(...by, keys, account ?? null, maskNumberIn(reason, to.e164)),
      );
      print(command, pickFields(erased, 'sendsErased', 'codesEnded'));
    });
}
