import {
  changeAccount,
  createAccount,
  deleteAccount,
  findAccount,
  findAbuseControls,
  grantCredits,
  GrantRefused,
  readTrialSends,
  resumeAccount,
  SENDER_POLICIES,
  SETTING_BOUNDS,
  suspendAccount,
  type Account,
  type NewAccount,
  type SenderPolicy,
} from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { findBalance, searchAccounts } from '@onecode/store/reports';
import type { Command } from 'commander';
import { commandGroup, commandsOn, id, lastDay, LIST_LIMIT, oneOf, text, wholeNumber } from '../arguments.js';
import { confirm, YES } from '../confirm.js';
import { changed, withDatabase } from '../database.js';
import { found, UserError } from '../errors.js';
import { example, fieldsOf, print, type Row } from '../output.js';
import { addAbuseControlCommands, abuseControlsRow } from './abuseControls.js';

const UNITS_MAX = 1_000_000_000;

const formatAccount = (account: Account): Row =>
  fieldsOf(account, 'id', 'name', 'language', 'freeQuota', 'credits', 'ratePerMinute');

/** An account with what keeps it from being used. */
const suspensionRow = (account: Account): Row => ({
  ...formatAccount(account),
  ...fieldsOf(account, 'suspendedAt', 'suspensionReason'),
});

const ratePerMinute = (value: string): number | 'default' =>
  value === 'default' ? value : wholeNumber('the rate', SETTING_BOUNDS.accountRatePerMinute)(value);

type Create = Pick<NewAccount, 'name' | 'language' | 'credits'> & Partial<NewAccount>;

interface Credit {
  amount: number;
  reason: string;
  reference?: string;
  /** When it ends. */
  lastDay?: Date;
  grantId?: string;
}

interface List {
  search?: string;
  before?: string;
  limit: number;
}

export function addAccountCommands(program: Command): void {
  const add = commandGroup(program, 'account', 'accounts: who pays', 'account create --name "Loja Azul"');
  const one = commandsOn(add, 'account');

  add('create', 'make an account')
    .requiredOption('--name <text>', 'its name, 1 to 200 characters', text('--name'))
    .option(
      '--language <language>',
      'pt-BR or en: of messages whose request names none',
      oneOf('--language', ['pt-BR', 'en']),
      'pt-BR',
    )
    .option(
      '--free-quota <number>',
      'free sends (default: the setting free_sends)',
      wholeNumber('--free-quota', { min: 0, max: UNITS_MAX }),
    )
    .option(
      '--credits <number>',
      'credits to begin with',
      wholeNumber('--credits', { min: 0, max: UNITS_MAX }),
      0,
    )
    .option(
      '--rate-per-minute <number>',
      'creation limit (default: follows the setting account_rate_per_minute)',
      wholeNumber('--rate-per-minute', SETTING_BOUNDS.accountRatePerMinute),
    )
    .addHelpText('after', example('account create --name "Loja Azul" --credits 500 --json'))
    .action(async (options: Create, command: Command) => {
      const made = await changed('account', (...by) =>
        createAccount(...by, { freeQuota: null, ratePerMinute: null, ...options }),
      );
      print(command, formatAccount(made));
    });

  one('show', 'show an account, what it has left, and its abuse controls')
    .addHelpText('after', example('account show ID'))
    .action(async (accountId: string, _options: object, command: Command) => {
      const [account, balance, abuseControls] = await withDatabase((database) =>
        Promise.all([
          findAccount(database, accountId),
          findBalance(database, accountId),
          findAbuseControls(database, accountId),
        ]),
      );
      const known = found('account', account);
      print(command, {
        ...suspensionRow(known),
        ...fieldsOf(known, 'senders', 'trialCountries'),
        expiring: balance?.expiring.map((expiry) => fieldsOf(expiry, 'at', 'units')) ?? [],
        ...(abuseControls && abuseControlsRow(abuseControls)),
      });
    });

  one('credit', 'give an account credits')
    .requiredOption(
      '--amount <number>',
      'how many to add',
      wholeNumber('--amount', { min: 1, max: UNITS_MAX }),
    )
    .requiredOption('--reason <text>', 'kept in the ledger', text('--reason'))
    .option('--reference <text>', "what the books call it, such as an invoice's number", text('--reference'))
    .option(
      '--last-day <date>',
      'the last day (UTC) on which they can be used, as 2027-01-31: what is left of them then expires',
      lastDay('--last-day'),
    )
    .option('--grant-id <id>', 'of a grant that was not answered: it is given once', id('--grant-id'))
    .addHelpText(
      'after',
      example('account credit ID --amount 500 --reason "November" --reference INV-42 --last-day 2027-11-30'),
    )
    .action(async (accountId: string, { amount, reason, ...options }: Credit, command: Command) => {
      const { grantId = newId() } = options;
      const terms = { reference: options.reference ?? null, expiresAt: options.lastDay ?? null, grantId };
      const credited = await changed('account', (...by) =>
        grantCredits(...by, accountId, amount, reason, terms),
      ).catch((error: unknown) => {
        if (error instanceof GrantRefused)
          throw new UserError(
            error.why === 'too_many'
              ? 'the account cannot hold that many credits'
              : '--grant-id is that of another grant',
          );
        // The answer may be all that was lost.
        if (error instanceof UserError)
          throw new UserError(`${error.message}: to grant once, run it again with --grant-id ${grantId}`);
        throw error;
      });
      print(command, formatAccount(credited));
    });

  one('rate', 'change how many sends an account may create in a minute')
    .argument(
      '<number>',
      'a number, or default: it follows the setting account_rate_per_minute',
      ratePerMinute,
    )
    .addHelpText('after', example('account rate ID 1200'))
    .action(async (accountId: string, rate: number | 'default', _options: object, command: Command) => {
      const ratePerMinute = rate === 'default' ? null : rate;
      const account = await changed('account', (...by) => changeAccount(...by, accountId, { ratePerMinute }));
      print(command, formatAccount(account));
    });

  one('senders', 'choose the senders of an account')
    .argument('<which>', 'shared, or own: only its own senders', oneOf('the senders', SENDER_POLICIES))
    .addHelpText(
      'after',
      `\n\`sender assign\` gives an account senders of its own.\n${example('account senders ID own')}`,
    )
    .action(async (accountId: string, senders: SenderPolicy, _options: object, command: Command) => {
      const account = await changed('account', (...by) => changeAccount(...by, accountId, { senders }));
      print(command, { ...formatAccount(account), senders });
    });

  addAbuseControlCommands(one);

  one(
    'suspend',
    "refuse an account's requests: its keys are not valid; what it sent before is still delivered",
  )
    .requiredOption('--reason <text>', 'kept with the account', text('--reason'))
    .addHelpText('after', example('account suspend ID --reason "invoice 42 is open"'))
    .action(async (accountId: string, { reason }: { reason: string }, command: Command) => {
      const account = await changed('account', (...by) => suspendAccount(...by, accountId, reason));
      print(command, suspensionRow(account));
    });

  one(
    'delete',
    'delete its people, keys and sends for ever; what bookkeeping needs stays, with the account suspended',
  )
    .requiredOption('--reason <text>', 'what the audit log says', text('--reason'))
    .option(...YES)
    .addHelpText('after', example('account delete ID --reason "contract ended"'))
    .action(async (accountId: string, { reason }: { reason: string }, command: Command) => {
      const { name } = found('account', await withDatabase((database) => findAccount(database, accountId)));
      await confirm(command, `This deletes the people, keys and sends of the account "${name}".`);
      const deleted = await changed('account', (...by) => deleteAccount(...by, accountId, reason));
      const counts = fieldsOf(deleted, 'peopleDeleted', 'keysDeleted', 'sendsDeleted');
      print(command, { id: accountId, ...counts });
    });

  one('resume', "end an account's suspension")
    .addHelpText('after', example('account resume ID'))
    .action(async (accountId: string, _options: object, command: Command) => {
      const account = await changed('account', (...by) => resumeAccount(...by, accountId));
      print(command, suspensionRow(account));
    });

  add('trials', 'show how many live sends trial accounts made today (UTC), of those that they share')
    .addHelpText('after', example('account trials --json'))
    .action(async (_options: object, command: Command) => {
      const { day, sends, perDay } = await withDatabase(readTrialSends);
      print(command, { day, sends, sends_per_day: perDay });
    });

  add('list', 'list accounts, newest first')
    .option(
      '--search <text>',
      'those whose name has words that begin so, or the one with this id',
      text('--search'),
    )
    .option(
      '--before <id>',
      'those after the account with this id, the last of the list before',
      id('--before'),
    )
    .option(...LIST_LIMIT)
    .addHelpText('after', example('account list --search loja --json'))
    .action(async ({ search, before, limit }: List, command: Command) => {
      const page = {
        limit,
        ...(search !== undefined && { text: search }),
        ...(before !== undefined && { before }),
      };
      const accounts = await withDatabase((database) => searchAccounts(database, page));
      print(command, accounts.map(suspensionRow));
    });
}
