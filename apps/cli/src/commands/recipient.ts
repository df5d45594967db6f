import type { PhoneRecipient } from '@onecode/domain';
import { eraseRecipient, exportRecipient } from '@onecode/store';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { id, phoneNumber, text } from '../arguments.js';
import { withDatabase } from '../database.js';
import { found } from '../errors.js';
import { keysOf } from '../numberPepper.js';
import { example, print } from '../output.js';

interface Options {
  to: PhoneRecipient;
  account?: string;
}

export function addRecipientCommands(program: Command): void {
  const recipient = program
    .command('recipient')
    .description('what is kept of a number, in all its forms, when the person who has it asks')
    .addHelpText('after', example('recipient export --to +5511987654321'));
  const about = (command: Command): Command =>
    command
      .requiredOption('--to <number>', 'the number, with + and country code', phoneNumber('--to'))
      .option('--account <id>', 'of this account only', id('--account'));

  about(recipient.command('export').description('print all that is kept; the audit log records it'))
    .addHelpText('after', example('recipient export --to +5511987654321 --json'))
    .action(async ({ to, account }: Options, command: Command) => {
      const keys = keysOf(to);
      const kept = await withDatabase((database) =>
        exportRecipient(database, actor(), keys, account ?? null),
      );
      print(command, { ...found('account', kept) }, { apart: 'sends' });
    });

  about(recipient.command('erase').description('end its open codes, and mask the number for ever'))
    .requiredOption('--reason <text>', 'what the audit log says, without the number', text('--reason'))
    .addHelpText('after', example('recipient erase --to +5511987654321 --reason "Request 17"'))
    .action(async ({ to, account, reason }: Options & { reason: string }, command: Command) => {
      const keys = keysOf(to);
      const erased = await withDatabase((database) =>
        eraseRecipient(database, actor(), keys, account ?? null, reason),
      );
      const { sendsErased, codesEnded } = found('account', erased);
      print(command, { sends_erased: sendsErased, codes_ended: codesEnded });
    });
}
