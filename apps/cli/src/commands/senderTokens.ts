import { parseKeyring } from '@onecode/domain';
import { readConfig, secret, variable } from '@onecode/runtime/config';
import { resealTokens, setSenderToken } from '@onecode/store';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { id, readToken, token } from '../arguments.js';
import { DATABASE_URL, withDatabase } from '../database.js';
import { environment } from '../environment.js';
import { found, NotOk } from '../errors.js';
import { example, print } from '../output.js';
import { checkToken, findSender } from './senderCheck.js';

/** What every command that seals or opens a token reads. */
const variables = { DATABASE_URL, SECRET_KEY: secret(variable(parseKeyring)) };

/** `sender token` and `sender reseal`. */
export function addSenderTokenCommands(sender: Command): void {
  sender
    .command('token')
    .description(
      'give a sender another access token, and say whether the provider takes it; exit code 1 when not',
    )
    .argument('<id>', 'the sender', id('the sender'))
    .requiredOption(
      '--token <token>',
      'access token; - reads it from standard input, where no list of processes shows it',
      token('--token'),
    )
    .addHelpText(
      'after',
      `\nIt is stored sealed with SECRET_KEY. A running worker asks the provider.\n${example('sender token ID --token - < token.txt')}`,
    )
    .action(async (senderId: string, options: { token: string }, command: Command) => {
      const config = readConfig(environment(), variables);
      const accessToken = await readToken('--token', options.token);
      const checked = await withDatabase(async (database) => {
        const sender = await findSender(database, senderId);
        const since = await setSenderToken(database, actor(), config.SECRET_KEY, senderId, accessToken);
        return checkToken(database, sender, found('sender', since));
      });
      print(command, { id: senderId, token: 'set', ...checked });
      if (checked.accepted === false) throw new NotOk();
    });

  sender
    .command('reseal')
    .description("seal every sender's token with the key that stands first in SECRET_KEY")
    .addHelpText('after', example('sender reseal'))
    .action(async (_options: object, command: Command) => {
      const config = readConfig(environment(), variables);
      const resealed = await withDatabase((database) => resealTokens(database, actor(), config.SECRET_KEY));
      const unreadable = resealed.some((one) => one.token === 'unreadable');
      print(
        command,
        resealed.map(({ senderId, phoneNumberId, number, token: state }) => ({
          id: senderId,
          phone_number_id: phoneNumberId,
          number,
          token: state,
        })),
        {
          note: unreadable
            ? 'unreadable: the key that sealed it is not in SECRET_KEY; add the key, or set the token again.'
            : undefined,
        },
      );
    });
}
