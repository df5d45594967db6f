import { listAuditEntries, type AuditEntry } from '@onecode/store/operations';
import type { Command } from 'commander';
import { commandGroup, id, LIST_LIMIT } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, pickFields, print, type Row } from '../output.js';

const formatEntry = (entry: AuditEntry): Row => ({
  ...pickFields(entry, 'id', 'at'),
  actor_kind: entry.actor.kind,
  actor_id: entry.actor.id,
  actor: entry.actor.name,
  ...pickFields(entry, 'action', 'accountId', 'subject', 'details'),
});

export function addAuditCommands(program: Command): void {
  const add = commandGroup(
    program,
    'audit',
    'the log of all changes by users and the command line, of sign-ins, and of reads by staff',
    'audit list',
  );
  add('list', 'list the latest entries, newest first')
    .option('--account <id>', 'only entries of this account', id('--account'))
    .option(...LIST_LIMIT)
    .addHelpText('after', example('audit list --limit 10 --json'))
    .action(async ({ account, limit }: { account?: string; limit: number }, command: Command) => {
      const filter = { limit, ...(account !== undefined && { accountId: account }) };
      const entries = await withDatabase((database) => listAuditEntries(database, filter));
      print(command, entries.map(formatEntry));
    });
}
