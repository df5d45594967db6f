import {
  createApiKey,
  findApplications,
  KEY_DAYS_MAX,
  listApiKeys,
  revokeApiKey,
  type ApiKey,
} from '@onecode/store/accounts';
import type { Command } from 'commander';
import { commandGroup, id, keyEnding, wholeNumber } from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { found, UsageError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

const formatKey = (key: ApiKey): Row =>
  pickFields(key, 'id', 'applicationId', 'mode', 'hint', 'createdAt', 'revokedAt', 'expiresAt');

const DAY_MS = 86_400_000;

interface KeyOptions {
  application: string;
  expiresInDays?: number;
}

export function addKeyCommands(program: Command): void {
  const add = commandGroup(program, 'key', 'API keys of applications', 'key create --application ID');

  add('create', 'create a key; it is shown only once')
    .requiredOption('--application <id>', 'the application', id('--application'))
    .option(
      '--expires-in-days <number>',
      'refuse the key after this number of days; without it, the key does not expire',
      wholeNumber('--expires-in-days', { min: 1, max: KEY_DAYS_MAX }),
    )
    .addHelpText('after', example('key create --application ID --expires-in-days 365'))
    .action(async ({ application, expiresInDays: days }: KeyOptions, command: Command) => {
      const expiresAt = days === undefined ? null : new Date(Date.now() + days * DAY_MS);
      const made = await changed('application', (...by) => createApiKey(...by, application, { expiresAt }));
      print(command, pickFields(made, 'id', 'key', 'applicationId', 'mode', 'expiresAt'), {
        note: 'The key cannot be shown again: store it now.',
      });
    });

  add('revoke', 'revoke a key')
    .argument('<id>', "the key's id", id("the key's id"))
    .addHelpText('after', example('key revoke ID'))
    .action(async (keyId: string, _options: object, command: Command) => {
      print(command, formatKey(await changed('key', (...by) => revokeApiKey(...by, keyId))));
    });

  add('list', "list an application's keys, or all keys with a given ending, oldest first")
    .option('--application <id>', 'the application', id('--application'))
    .option('--hint <text>', 'last four characters of a key, in all applications', keyEnding('--hint'))
    .addHelpText('after', example('key list --application ID'))
    .action(async ({ application, hint }: { application?: string; hint?: string }, command: Command) => {
      if ((application === undefined) === (hint === undefined))
        throw new UsageError('key list needs --application or --hint');
      const keys = await withDatabase(async (database) => {
        if (application === undefined) return listApiKeys(database, { ending: hint! });
        found('application', (await findApplications(database, { id: application }))[0] ?? null);
        return listApiKeys(database, { applicationId: application });
      });
      print(command, keys.map(formatKey));
    });
}
