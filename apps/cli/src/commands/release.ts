import { listProcesses, type ProcessSummary } from '@onecode/store/operations';
import type { Command } from 'commander';
import { commandGroup } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, fieldsOf, print, type Row } from '../output.js';

const formatProcess = (one: ProcessSummary): Row => ({
  kind: one.kind,
  release: one.release.split('+')[0]!,
  commit: one.release.split('+')[1] ?? null,
  ...fieldsOf(one, 'state', 'startedAt', 'seenAt'),
  clock_ahead_ms: Math.round(one.clockAheadMs),
  ...fieldsOf(one, 'lastMigration', 'id'),
});

export function addReleaseCommands(program: Command): void {
  const add = commandGroup(
    program,
    'release',
    'releases: which processes run, and of which version',
    'release list',
  );

  add('list', 'list the processes of the last hour, those that run first')
    .addHelpText('after', example('release list --json'))
    .action(async (_options: object, command: Command) => {
      print(command, (await withDatabase(listProcesses)).map(formatProcess));
    });
}
