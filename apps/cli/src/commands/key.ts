import {
  createApiKey,
  listApiKeys,
  listKeysEnding,
  revokeApiKey,
  type ApiKey,
} from '@onecode/store/accounts';
import type { Command } from 'commander';
import { commandGroup, id, keyEnding } from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { found, UsageError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

const formatKey = (key: ApiKey): Row =>
  pickFields(key, 'id', 'applicationId', 'mode', 'hint', 'createdAt', 'revokedAt', 'expiresAt');

export function addKeyCommands(program: Command): void {
  const add = commandGroup(program, 'key', 'API keys of applications', 'key create --application ID');

  add('create', 'create a key; it is shown only once')
    .requiredOption('--application <id>', 'the application', id('--application'))
    .addHelpText('after', example('key create --application ID'))
    .action(async ({ application }: { application: string }, command: Command) => {
      const made = await changed('application', (...by) => createApiKey(...by, application));
      print(command, pickFields(made, 'id', 'key', 'applicationId', 'mode'), {
        note: 'The key cannot be shown again: store it now.',
      });
    });

  add('revoke', 'revoke a key')
    .argument('<id>', "the key's id", id("the key's id"))
    .addHelpText('after', example('key revoke ID'))
    .action(async (keyId: string, _options: object, command: Command) => {
      print(command, formatKey(await changed('key', (...by) => revokeApiKey(...by, keyId))));
    });

  add('list', "list an application's keys, or all keys with an ending, oldest first")
    .option('--application <id>', 'the application', id('--application'))
    .option('--hint <text>', 'last four characters of a key, in all applications', keyEnding('--hint'))
    .addHelpText('after', example('key list --application ID'))
    .action(async ({ application, hint }: { application?: string; hint?: string }, command: Command) => {
      if ((application === undefined) === (hint === undefined))
        throw new UsageError('key list needs --application or --hint');
      const keys = await withDatabase((database) =>
        hint === undefined ? listApiKeys(database, application!) : listKeysEnding(database, hint),
      );
      print(command, found('application', keys).map(formatKey));
    });
}
