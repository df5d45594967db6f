import {
  changeAccount,
  createAccount,
  deleteAccount,
  findAccount,
  grantCredits,
  GrantIdTaken,
  readTrialSends,
  SENDER_POLICIES,
  SETTING_BOUNDS,
  setSuspension,
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
import { example, pickFields, print, type Row } from '../output.js';
import { addAbuseControlCommands, formatAbuseControls } from './abuseControls.js';

const UNITS_MAX = 1_000_000_000;

const formatAccount = (account: Account): Row =>
  pickFields(account, 'id', 'name', 'language', 'freeQuota', 'credits', 'ratePerMinute');

/** Formats an account with its suspension. */
const formatSuspension = (account: Account): Row => ({
  ...formatAccount(account),
  ...pickFields(account, 'suspendedAt', 'suspensionReason'),
});

const ratePerMinute = (value: string): number | 'default' =>
  value === 'default' ? value : wholeNumber('the rate', SETTING_BOUNDS.accountRatePerMinute)(value);

type Create = Pick<NewAccount, 'name' | 'language' | 'credits'> & Partial<NewAccount>;

interface Credit {
  amount: number;
  reason: string;
  reference?: string;
  /** The end of the last day on which the credits can be used. */
  lastDay?: Date;
  grantId?: string;
}

interface List {
  search?: string;
  before?: string;
  limit: number;
}

export function addAccountCommands(program: Command): void {
  const add = commandGroup(
    program,
    'account',
    'accounts, which pay for sends',
    'account create --name "Loja Azul"',
  );
  const one = commandsOn(add, 'account');

  add('create', 'create an account')
    .requiredOption('--name <text>', 'name of the account, 1 to 200 characters', text('--name'))
    .option(
      '--language <language>',
      'default language of messages: pt-BR or en',
      oneOf('--language', ['pt-BR', 'en']),
      'pt-BR',
    )
    .option(
      '--free-quota <number>',
      'free sends (default: the setting free_sends)',
      wholeNumber('--free-quota', { min: 0, max: UNITS_MAX }),
    )
    .option('--credits <number>', 'initial credits', wholeNumber('--credits', { min: 0, max: UNITS_MAX }), 0)
    .option(
      '--rate-per-minute <number>',
      'creation limit (default: the setting account_rate_per_minute)',
      wholeNumber('--rate-per-minute', SETTING_BOUNDS.accountRatePerMinute),
    )
    .addHelpText('after', example('account create --name "Loja Azul" --credits 500 --json'))
    .action(async (options: Create, command: Command) => {
      const made = await changed('account', (...by) =>
        createAccount(...by, { freeQuota: null, ratePerMinute: null, ...options }),
      );
      print(command, formatAccount(made));
    });

  one('show', 'show an account, its balance and its abuse controls')
    .addHelpText('after', example('account show ID'))
    .action(async (accountId: string, _options: object, command: Command) => {
      const [existing, balance] = await withDatabase((database) =>
        Promise.all([findAccount(database, accountId), findBalance(database, accountId)]),
      );
      const account = found('account', existing);
      print(command, {
        ...formatSuspension(account),
        ...pickFields(account, 'senders', 'trialCountries'),
        expiring: balance?.expiring.map((expiry) => pickFields(expiry, 'at', 'units')) ?? [],
        ...formatAbuseControls(account),
      });
    });

  one('credit', 'grant credits to an account')
    .requiredOption(
      '--amount <number>',
      'number of credits to add',
      wholeNumber('--amount', { min: 1, max: UNITS_MAX }),
    )
    .requiredOption('--reason <text>', 'reason, kept in the ledger', text('--reason'))
    .option(
      '--reference <text>',
      'reference in your bookkeeping, such as an invoice number',
      text('--reference'),
    )
    .option(
      '--last-day <date>',
      'last day (UTC) on which the credits can be used, such as 2027-01-31; unused credits expire at its end',
      lastDay('--last-day'),
    )
    .option(
      '--grant-id <id>',
      'id of an earlier grant that got no response, so that the credits are granted only once',
      id('--grant-id'),
    )
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
        if (error instanceof GrantIdTaken) throw new UserError('--grant-id belongs to another grant');
        // The grant may have been committed although its response was lost.
        if (error instanceof UserError)
          throw new UserError(`${error.message}: to avoid a second grant, retry with --grant-id ${grantId}`);
        throw error;
      });
      print(command, formatAccount(credited));
    });

  one('rate', 'change how many sends an account may create per minute')
    .argument('<number>', 'a number, or default for the setting account_rate_per_minute', ratePerMinute)
    .addHelpText('after', example('account rate ID 1200'))
    .action(async (accountId: string, rate: number | 'default', _options: object, command: Command) => {
      const ratePerMinute = rate === 'default' ? null : rate;
      const account = await changed('account', (...by) => changeAccount(...by, accountId, { ratePerMinute }));
      print(command, formatAccount(account));
    });

  one('senders', 'choose which senders an account uses')
    .argument('<which>', 'shared, or own for only its own senders', oneOf('the senders', SENDER_POLICIES))
    .addHelpText(
      'after',
      `\n\`sender assign\` assigns a sender to an account.\n${example('account senders ID own')}`,
    )
    .action(async (accountId: string, senders: SenderPolicy, _options: object, command: Command) => {
      const account = await changed('account', (...by) => changeAccount(...by, accountId, { senders }));
      print(command, { ...formatAccount(account), senders });
    });

  addAbuseControlCommands(one);

  one('suspend', 'suspend an account: its API requests are refused; existing sends are still delivered')
    .requiredOption('--reason <text>', 'reason, kept with the account', text('--reason'))
    .addHelpText('after', example('account suspend ID --reason "invoice 42 is open"'))
    .action(async (accountId: string, { reason }: { reason: string }, command: Command) => {
      const account = await changed('account', (...by) => setSuspension(...by, accountId, reason));
      print(command, formatSuspension(account));
    });

  one(
    'delete',
    'permanently delete the keys and sends of an account, and the users who are in no other account; the ledger and the suspended account remain',
  )
    .requiredOption('--reason <text>', 'reason, kept in the audit log', text('--reason'))
    .option(...YES)
    .addHelpText('after', example('account delete ID --reason "contract ended"'))
    .action(async (accountId: string, { reason }: { reason: string }, command: Command) => {
      const { name } = found('account', await withDatabase((database) => findAccount(database, accountId)));
      await confirm(
        command,
        `This deletes the keys and sends of the account "${name}", and its users who are in no other account.`,
      );
      const deleted = await changed('account', (...by) => deleteAccount(...by, accountId, reason));
      const counts = pickFields(deleted, 'peopleDeleted', 'keysDeleted', 'sendsDeleted');
      print(command, { id: accountId, ...counts });
    });

  one('resume', "end an account's suspension")
    .addHelpText('after', example('account resume ID'))
    .action(async (accountId: string, _options: object, command: Command) => {
      const account = await changed('account', (...by) => setSuspension(...by, accountId, null));
      print(command, formatSuspension(account));
    });

  add('trials', 'show how many live sends trial accounts created today (UTC), and their shared limit')
    .addHelpText('after', example('account trials --json'))
    .action(async (_options: object, command: Command) => {
      const { day, sends, perDay } = await withDatabase(readTrialSends);
      print(command, { day, sends, sends_per_day: perDay });
    });

  add('list', 'list accounts, newest first')
    .option(
      '--search <text>',
      'only accounts with this id, or with all these words in their name',
      text('--search'),
    )
    .option('--before <id>', 'next page: the id of the last account on the previous page', id('--before'))
    .option(...LIST_LIMIT)
    .addHelpText('after', example('account list --search loja --json'))
    .action(async ({ search, before, limit }: List, command: Command) => {
      const page = {
        limit,
        ...(search !== undefined && { text: search }),
        ...(before !== undefined && { before }),
      };
      const accounts = await withDatabase((database) => searchAccounts(database, page));
      print(command, accounts.map(formatSuspension));
    });
}
