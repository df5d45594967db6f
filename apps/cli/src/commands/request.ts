import { findAccount } from '@onecode/store/accounts';
import { countRefusedRequests, listRefusedRequests, type ListedRefusedRequest } from '@onecode/store/reports';
import type { Command } from 'commander';
import { commandGroup, id, LIST_LIMIT } from '../arguments.js';
import { withDatabase } from '../database.js';
import { UserError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

interface Options {
  account: string;
  id?: string;
  application?: string;
  limit: number;
}

const formatRequest = (request: ListedRefusedRequest): Row => ({
  at: request.refusedAt,
  ...pickFields(
    request,
    'requestId',
    'route',
    'status',
    'code',
    'detail',
    'fields',
    'count',
    'applicationId',
  ),
  application: request.applicationName,
  key: request.keyHint,
});

export function addRequestCommands(program: Command): void {
  const add = commandGroup(
    program,
    'request',
    'requests that the API refused in the last 14 days',
    'request list --account ID',
  );
  add('list', "list an account's refused requests, newest first, without their contents")
    .requiredOption('--account <id>', 'the account', id('--account'))
    .option('--id <id>', 'only the request with this X-Request-Id', id('--id'))
    .option('--application <id>', 'only requests of this application', id('--application'))
    .option(...LIST_LIMIT)
    .addHelpText('after', example('request list --account ID --limit 10 --json'))
    .action(async ({ account, id, application: applicationId, limit }: Options, command: Command) => {
      const search = id === undefined ? undefined : { requestId: id, idempotencyKeyHashes: [] };
      const { requests, reasons } = await withDatabase(async (database) => {
        if ((await findAccount(database, account)) === null)
          throw new UserError('there is no account with this id');
        return {
          ...(await listRefusedRequests(database, account, { applicationId, search }, { limit })),
          reasons: await countRefusedRequests(database, account, { applicationId }),
        };
      });
      const note = reasons.map(({ count, code, detail }) => `${count} × ${code}: ${detail}`).join('\n');
      print(command, requests.map(formatRequest), {
        note: note === '' ? undefined : `Refused in 14 days:\n${note}`,
      });
    });
}
