import { listProcesses, type ProcessSummary } from '@onecode/store/operations';
import type { Command } from 'commander';
import { commandGroup } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, pickFields, print, type Row } from '../output.js';

const formatProcess = (one: ProcessSummary): Row => ({
  kind: one.kind,
  release: one.release.split('+')[0]!,
  commit: one.release.split('+')[1] ?? null,
  ...pickFields(one, 'state', 'startedAt', 'seenAt'),
  clock_ahead_ms: Math.round(one.clockAheadMs),
  ...pickFields(one, 'lastMigration', 'id'),
});

export function addReleaseCommands(program: Command): void {
  const add = commandGroup(program, 'release', 'running processes and their versions', 'release list');

  add('list', 'list the processes of the last hour, running ones first')
    .addHelpText('after', example('release list --json'))
    .action(async (_options: object, command: Command) => {
      print(command, (await withDatabase(listProcesses)).map(formatProcess));
    });
}
