import { parseKeyring } from '@onecode/domain';
import { readConfig, secret, variable } from '@onecode/runtime/config';
import { editSender, reencryptTokens, requestReading } from '@onecode/store/senders';
import { verifyTokenOf } from '@onecode/whatsapp';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { readAppSecret, readToken, secretSource, token, type AddCommand } from '../arguments.js';
import { changed, DATABASE_URL, withDatabase } from '../database.js';
import { environment } from '../environment.js';
import { found, NotOk, UsageError } from '../errors.js';
import { example, pickFields, print } from '../output.js';
import { checkToken, findSender } from './senderCheck.js';

/** The variables of a command that encrypts or decrypts tokens. */
export const readKeyConfig = () => readConfig(environment(), KEY_VARIABLES);
export const KEY_VARIABLES = { DATABASE_URL, SECRET_KEY: secret(variable(parseKeyring)) };

export function addSenderTokenCommands(add: AddCommand, one: AddCommand): void {
  one('token', 'replace the access token of a sender and check it at Meta; exit code 1 if Meta refuses it')
    .requiredOption(
      '--token <token>',
      'access token; - reads it from standard input, so that it does not appear in process lists',
      token('--token'),
    )
    .addHelpText(
      'after',
      `\nThe token is stored encrypted with SECRET_KEY. A running worker checks it at Meta.\n${example('sender token ID --token - < token.txt')}`,
    )
    .action(async (senderId: string, options: { token: string }, command: Command) => {
      const config = readKeyConfig();
      const accessToken = await readToken('--token', options.token);
      const checked = await withDatabase(async (database) => {
        const sender = await findSender(database, senderId);
        const secrets = { keyring: config.SECRET_KEY, token: accessToken };
        await editSender(database, actor(), senderId, { secrets });
        return checkToken(database, sender, found('sender', await requestReading(database, senderId)));
      });
      print(command, { id: senderId, token: 'set', ...checked });
      if (checked.accepted === false) throw new NotOk();
    });

  one(
    'app',
    "set or remove the app secret of a business's own Meta app, which posts the webhooks of its senders",
  )
    .option('--secret <source>', '-: read the app secret from standard input', secretSource('--secret'))
    .option('--none', 'erase the app secret: webhooks arrive at the shared address again')
    .addHelpText(
      'after',
      `\nEnter callback_path, below BASE_URL, and verify_token in the app's settings.\n${example('sender app ID --secret - < secret.txt')}`,
    )
    .action(async (senderId: string, options: { secret?: '-'; none?: true }, command: Command) => {
      if ((options.secret === undefined) !== (options.none === true))
        throw new UsageError('exactly one of --secret and --none is required');
      const config = readKeyConfig();
      const given = options.secret === undefined ? null : await readAppSecret('--secret');
      const secrets = { keyring: config.SECRET_KEY, appSecret: given };
      await changed('sender', (...by) => editSender(...by, senderId, { secrets }));
      print(command, {
        id: senderId,
        app: given === null ? 'none' : 'own',
        callback_path: given === null ? null : `/webhooks/whatsapp/${senderId}`,
        verify_token: given === null ? null : verifyTokenOf(given, senderId),
      });
    });

  add(
    'reencrypt',
    "reencrypt all senders' tokens and app secrets and all webhook secrets with the first key in SECRET_KEY",
  )
    .addHelpText('after', example('sender reencrypt'))
    .action(async (_options: object, command: Command) => {
      const config = readKeyConfig();
      const reencrypted = await withDatabase((database) =>
        reencryptTokens(database, actor(), config.SECRET_KEY),
      );
      const unreadable = reencrypted.some((one) => one.token === 'unreadable');
      print(
        command,
        reencrypted.map((one) => ({
          id: one.senderId,
          ...pickFields(one, 'phoneNumberId', 'number', 'token'),
        })),
        {
          note: unreadable
            ? 'unreadable: its key is not in SECRET_KEY; add the key, or set the token again.'
            : undefined,
        },
      );
    });
}
