import { WEIGHT_BOUNDS, type Locale } from '@onecode/domain';
import {
  changeAccount,
  createAccount,
  deleteAccount,
  findAccount,
  findAbuseControls,
  findBalance,
  grantCredits,
  GrantRefused,
  newId,
  readTrialSends,
  resumeAccount,
  searchAccounts,
  SENDER_POLICIES,
  SETTING_BOUNDS,
  suspendAccount,
  type Account,
  type SenderPolicy,
} from '@onecode/store';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { commandsOn, id, lastDay, LIST_LIMIT, oneOf, text, wholeNumber } from '../arguments.js';
import { withDatabase } from '../database.js';
import { found, UserError } from '../errors.js';
import { example, print, type Row } from '../output.js';
import { addAbuseControlCommands, abuseControlsRow } from './abuseControls.js';

const UNITS_MAX = 1_000_000_000;

const rowOf = (account: Account): Row => ({
  id: account.id,
  name: account.name,
  language: account.language,
  free_quota: account.freeQuota,
  credits: account.credits,
  rate_per_minute: account.ratePerMinute,
});

/** An account with what keeps it from being used. */
const suspensionRow = (account: Account): Row => ({
  ...rowOf(account),
  suspended_at: account.suspendedAt?.toISOString() ?? null,
  suspension_reason: account.suspensionReason,
});

const ratePerMinute = (value: string): number | 'default' =>
  value === 'default' ? value : wholeNumber('the rate', SETTING_BOUNDS.accountRatePerMinute)(value);

interface Create {
  name: string;
  language: Locale;
  freeQuota?: number;
  credits: number;
  ratePerMinute?: number;
}

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
  const account = program
    .command('account')
    .description('accounts: who pays')
    .addHelpText('after', example('account create --name "Loja Azul"'));
  const one = commandsOn(account, 'account');

  account
    .command('create')
    .description('make an account')
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
      const made = await withDatabase((database) =>
        createAccount(database, actor(), {
          name: options.name,
          language: options.language,
          freeQuota: options.freeQuota ?? null,
          credits: options.credits,
          ratePerMinute: options.ratePerMinute ?? null,
        }),
      );
      print(command, rowOf(made));
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
        weight: known.weight,
        senders: known.senders,
        trial_countries: known.trialCountries,
        lapsing: balance?.lapsing.map(({ at, units }) => ({ at: at.toISOString(), units })) ?? [],
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
      'the last day (UTC) on which they can be used, as 2027-01-31: what is left of them then lapses',
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
      const credited = await withDatabase((database) =>
        grantCredits(database, actor(), accountId, amount, reason, terms),
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
      print(command, rowOf(found('account', credited)));
    });

  one('rate', 'change how many sends an account may create in a minute')
    .argument(
      '<number>',
      'a number, or default: it follows the setting account_rate_per_minute',
      ratePerMinute,
    )
    .addHelpText('after', example('account rate ID 1200'))
    .action(async (accountId: string, rate: number | 'default', _options: object, command: Command) => {
      const changed = await withDatabase((database) =>
        changeAccount(database, actor(), accountId, { ratePerMinute: rate === 'default' ? null : rate }),
      );
      print(command, rowOf(found('account', changed)));
    });

  one('weight', 'give an account more turns than others while the senders cannot keep up')
    .requiredOption(
      '--weight <number>',
      'how many turns it gets for one of an account with weight 1',
      wholeNumber('--weight', WEIGHT_BOUNDS),
    )
    .addHelpText('after', example('account weight ID --weight 3'))
    .action(async (accountId: string, { weight }: { weight: number }, command: Command) => {
      const changed = await withDatabase((database) =>
        changeAccount(database, actor(), accountId, { weight }),
      );
      print(command, { ...rowOf(found('account', changed)), weight });
    });

  one('senders', "say by which senders an account's sends leave")
    .argument(
      '<which>',
      'shared, own (never by others), or own-first (by the shared ones while its own are stopped or busy)',
      oneOf('the senders', SENDER_POLICIES),
    )
    .addHelpText(
      'after',
      `\n\`sender assign\` gives an account senders of its own.\n${example('account senders ID own')}`,
    )
    .action(async (accountId: string, senders: SenderPolicy, _options: object, command: Command) => {
      const changed = await withDatabase((database) =>
        changeAccount(database, actor(), accountId, { senders }),
      );
      print(command, { ...rowOf(found('account', changed)), senders });
    });

  addAbuseControlCommands(account);

  one(
    'suspend',
    "refuse an account's requests: its keys are not valid; what it sent before is still delivered",
  )
    .requiredOption('--reason <text>', 'kept with the account', text('--reason'))
    .addHelpText('after', example('account suspend ID --reason "invoice 42 is open"'))
    .action(async (accountId: string, { reason }: { reason: string }, command: Command) => {
      const suspended = await withDatabase((database) =>
        suspendAccount(database, actor(), accountId, reason),
      );
      print(command, suspensionRow(found('account', suspended)));
    });

  one(
    'delete',
    'delete its people, keys and sends for ever; what bookkeeping needs stays, with the account suspended',
  )
    .requiredOption('--reason <text>', 'what the audit log says', text('--reason'))
    .addHelpText('after', example('account delete ID --reason "contract ended"'))
    .action(async (accountId: string, { reason }: { reason: string }, command: Command) => {
      const deleted = await withDatabase((database) => deleteAccount(database, actor(), accountId, reason));
      const { peopleDeleted, keysDeleted, sendsDeleted } = found('account', deleted);
      print(command, {
        id: accountId,
        people_deleted: peopleDeleted,
        keys_deleted: keysDeleted,
        sends_deleted: sendsDeleted,
      });
    });

  one('resume', "end an account's suspension")
    .addHelpText('after', example('account resume ID'))
    .action(async (accountId: string, _options: object, command: Command) => {
      const resumed = await withDatabase((database) => resumeAccount(database, actor(), accountId));
      print(command, suspensionRow(found('account', resumed)));
    });

  account
    .command('trials')
    .description('show how many live sends trial accounts made today (UTC), of those that they share')
    .addHelpText('after', example('account trials --json'))
    .action(async (_options: object, command: Command) => {
      const { day, sends, perDay } = await withDatabase(readTrialSends);
      print(command, { day, sends, sends_per_day: perDay });
    });

  account
    .command('list')
    .description('list accounts, newest first')
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
