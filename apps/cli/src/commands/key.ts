import { createApiKey, listApiKeys, revokeApiKey, type ApiKey } from '@onecode/store';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { id } from '../arguments.js';
import { withDatabase } from '../database.js';
import { found } from '../errors.js';
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

/** `key create`, `revoke` and `list`. */
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
    .description("list an application's keys, oldest first")
    .requiredOption('--application <id>', 'the application', id('--application'))
    .addHelpText('after', example('key list --application ID'))
    .action(async ({ application }: { application: string }, command: Command) => {
      const keys = found('application', await withDatabase((database) => listApiKeys(database, application)));
      print(command, keys.map(rowOf));
    });
}
