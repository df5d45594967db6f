import { listAuditEntries, type AuditEntry } from '@onecode/store';
import type { Command } from 'commander';
import { id, LIST_LIMIT } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, print, type Row } from '../output.js';

const rowOf = (entry: AuditEntry): Row => ({
  id: entry.id,
  at: entry.at.toISOString(),
  actor_kind: entry.actor.kind,
  actor_id: entry.actor.id,
  actor: entry.actor.name,
  action: entry.action,
  account_id: entry.accountId,
  subject: entry.subject,
  details: entry.details,
});

export function addAuditCommands(program: Command): void {
  program
    .command('audit')
    .description(
      'the log of every change by a person or the command line, of sign-ins, and of what staff read',
    )
    .addHelpText('after', example('audit list'))
    .command('list')
    .description('list the latest entries, newest first')
    .option('--account <id>', 'those of one account', id('--account'))
    .option(...LIST_LIMIT)
    .addHelpText('after', example('audit list --limit 10 --json'))
    .action(async ({ account, limit }: { account?: string; limit: number }, command: Command) => {
      const filter = { limit, ...(account !== undefined && { accountId: account }) };
      const entries = await withDatabase((database) => listAuditEntries(database, filter));
      print(command, entries.map(rowOf));
    });
}
