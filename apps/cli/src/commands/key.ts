import { createApiKey, listApiKeys, listKeysEnding, revokeApiKey, type ApiKey } from '@onecode/store';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { id, keyEnding } from '../arguments.js';
import { withDatabase } from '../database.js';
import { found, UsageError } from '../errors.js';
import { example, print, type Row } from '../output.js';

const rowOf = (key: ApiKey): Row => ({
  id: key.id,
  application_id: key.applicationId,
  mode: key.mode,
  hint: key.hint,
  created_at: key.createdAt.toISOString(),
  revoked_at: key.revokedAt?.toISOString() ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
});

export function addKeyCommands(program: Command): void {
  const key = program
    .command('key')
    .description('API keys of applications')
    .addHelpText('after', example('key create --application ID'));

  key
    .command('create')
    .description('make a key, which is shown this once only')
    .requiredOption('--application <id>', 'the application', id('--application'))
    .addHelpText('after', example('key create --application ID'))
    .action(async ({ application }: { application: string }, command: Command) => {
      const made = found(
        'application',
        await withDatabase((database) => createApiKey(database, actor(), application)),
      );
      print(
        command,
        { id: made.id, key: made.key, application_id: made.applicationId, mode: made.mode },
        { note: 'The key cannot be shown again: keep it now.' },
      );
    });

  key
    .command('revoke')
    .description('revoke a key, by its id')
    .argument('<id>', "the key's id", id("the key's id"))
    .addHelpText('after', example('key revoke ID'))
    .action(async (keyId: string, _options: object, command: Command) => {
      const revoked = found('key', await withDatabase((database) => revokeApiKey(database, actor(), keyId)));
      print(command, rowOf(revoked));
    });

  key
    .command('list')
    .description("list an application's keys, or those that end so, oldest first")
    .option('--application <id>', 'the application', id('--application'))
    .option('--hint <text>', 'the last four characters of a key, whosever it is', keyEnding('--hint'))
    .addHelpText('after', example('key list --application ID'))
    .action(async ({ application, hint }: { application?: string; hint?: string }, command: Command) => {
      if ((application === undefined) === (hint === undefined))
        throw new UsageError('key list needs --application or --hint');
      const keys = await withDatabase((database) =>
        hint === undefined ? listApiKeys(database, application!) : listKeysEnding(database, hint),
      );
      print(command, found('application', keys).map(rowOf));
    });
}
