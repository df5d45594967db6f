import { listProcesses, type ProcessSummary } from '@onecode/store';
import type { Command } from 'commander';
import { withDatabase } from '../database.js';
import { example, print, type Row } from '../output.js';

const rowOf = (one: ProcessSummary): Row => ({
  kind: one.kind,
  release: one.release.split('+')[0]!,
  commit: one.release.split('+')[1] ?? null,
  state: one.state,
  started_at: one.startedAt.toISOString(),
  seen_at: one.seenAt.toISOString(),
  clock_ahead_ms: Math.round(one.clockAheadMs),
  last_migration: one.lastMigration,
  id: one.id,
});

export function addReleaseCommands(program: Command): void {
  const releases = program
    .command('release')
    .description('releases: which processes run, and of which version')
    .addHelpText('after', example('release list'));

  releases
    .command('list')
    .description('list the processes of the last hour, those that run first')
    .addHelpText('after', example('release list --json'))
    .action(async (_options: object, command: Command) => {
      print(command, (await withDatabase(listProcesses)).map(rowOf));
    });
}
