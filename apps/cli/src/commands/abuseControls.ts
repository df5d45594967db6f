import type { PhoneRecipient } from '@onecode/domain';
import { CEILING_BOUNDS, changeAccount, resetBreaker, type Account } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import type { Actor } from '@onecode/store/operations';
import { resetGuessBudgets } from '@onecode/store/sends';
import type { Command } from 'commander';
import { countries, oneOf, phoneNumber, wholeNumber, type AddCommand } from '../arguments.js';
import { changed } from '../database.js';
import { UsageError } from '../errors.js';
import { deriveRecipientKeys } from '../numberPepper.js';
import { example, pickFields, print, type Row } from '../output.js';

const MIN_SENDS_INITIAL = 50;

export const formatAbuseControls = (account: Account): Row => ({
  allowed_countries: account.allowedCountries ?? 'all',
  ...pickFields(account, 'allowsPremiumRate', 'unitsPerDay', 'unitsPerMonth', 'unitsToday', 'unitsThisMonth'),
  breaker_unverified_percent: account.breaker?.unverifiedPercent ?? null,
  breaker_min_sends: account.breaker?.minSends ?? null,
  blocked_countries: account.blockedCountries,
});

interface Breaker {
  unverifiedPercent?: number;
  minSends?: number;
  off?: true;
  reset?: true;
}

type Change = (database: Database, actor: Actor, accountId: string) => Promise<Account | null>;

/** Changes an account and prints its abuse controls. */
async function changeControls(command: Command, accountId: string, change: Change): Promise<void> {
  const account = await changed('account', (...by) => change(...by, accountId));
  print(command, { id: accountId, ...formatAbuseControls(account) });
}

/** Returns the change that the options of `account breaker` ask for. @throws UsageError unless they ask for exactly one */
function breakerChange({ unverifiedPercent, minSends, off, reset }: Breaker): Change {
  if ([unverifiedPercent, off, reset].filter((option) => option !== undefined).length !== 1)
    throw new UsageError('exactly one of --unverified-percent, --off and --reset is required');
  if (minSends !== undefined && unverifiedPercent === undefined)
    throw new UsageError('--min-sends needs --unverified-percent');
  if (reset) return resetBreaker;
  const breaker =
    unverifiedPercent === undefined ? null : { unverifiedPercent, minSends: minSends ?? MIN_SENDS_INITIAL };
  return (...by) => changeAccount(...by, { breaker });
}

const ceiling =
  (option: string) =>
  (value: string): number | 'off' =>
    value === 'off' ? value : wholeNumber(option, CEILING_BOUNDS)(value);

interface CeilingOptions {
  day?: number | 'off';
  month?: number | 'off';
}

/** @param one adds a command with an account's id as its first argument */
export function addAbuseControlCommands(one: AddCommand): void {
  one('countries', 'allow an account to send only to some countries')
    .requiredOption(
      '--allow <list>',
      'ISO 3166 or calling codes separated by commas, or all',
      countries('--allow'),
    )
    .addHelpText(
      'after',
      `\nGB is the United Kingdom without Jersey, Guernsey and the Isle of Man; +44 is all four (GB,GG,IM,JE).\n${example('account countries ID --allow BR,US')}`,
    )
    .action(async (accountId: string, { allow }: { allow: string[] | 'all' }, command: Command) => {
      const allowedCountries = allow === 'all' ? null : allow;
      await changeControls(command, accountId, (...by) => changeAccount(...by, { allowedCountries }));
    });

  one('premium-rate', 'allow or refuse sends of an account to satellite and premium-rate numbers')
    .argument('<value>', 'on or off', oneOf('the value', ['on', 'off']))
    .addHelpText('after', example('account premium-rate ID off'))
    .action(async (accountId: string, value: 'on' | 'off', _options: object, command: Command) => {
      const allowsPremiumRate = value === 'on';
      await changeControls(command, accountId, (...by) => changeAccount(...by, { allowsPremiumRate }));
    });

  one('ceiling', 'limit the units that an account may use per day and per month (UTC)')
    .option('--day <number>', 'units per day, or off', ceiling('--day'))
    .option('--month <number>', 'units per month, or off', ceiling('--month'))
    .addHelpText('after', example('account ceiling ID --day 1000 --month off'))
    .action(async (accountId: string, { day, month }: CeilingOptions, command: Command) => {
      if (day === undefined && month === undefined)
        throw new UsageError('at least one of --day and --month is required');
      const ceilings = {
        ...(day !== undefined && { unitsPerDay: day === 'off' ? null : day }),
        ...(month !== undefined && { unitsPerMonth: month === 'off' ? null : month }),
      };
      await changeControls(command, accountId, (...by) => changeAccount(...by, ceilings));
    });

  one(
    'breaker',
    'block an account from sending to countries where its codes are not verified, for an hour at a time',
  )
    .option(
      '--unverified-percent <number>',
      'the percentage of unverified codes that trips it',
      wholeNumber('--unverified-percent', { min: 1, max: 100 }),
    )
    .option(
      '--min-sends <number>',
      `minimum sends to the country among the account's latest 1000 (default: ${MIN_SENDS_INITIAL})`,
      wholeNumber('--min-sends', { min: 1, max: 1000 }),
    )
    .option('--off', 'turn the breaker off')
    .option('--reset', 'reset it: unblock all countries; new sends can trip it again')
    .addHelpText(
      'after',
      example(`account breaker ID --unverified-percent 90\n  $ onecode account breaker ID --reset`),
    )
    .action(async (accountId: string, options: Breaker, command: Command) => {
      await changeControls(command, accountId, breakerChange(options));
    });

  one('forgive', 'reset the guess count of a recipient who has used up the guess budget')
    .requiredOption('--to <number>', 'the recipient, with + and country code', phoneNumber('--to'))
    .addHelpText('after', example(`account forgive ID --to +5511987654321`))
    .action(async (accountId: string, { to }: { to: PhoneRecipient }, command: Command) => {
      const recipientKeys = await deriveRecipientKeys(to);
      const count = await changed('account', (...by) =>
        resetGuessBudgets(...by, accountId, { recipientKeys }),
      );
      print(command, { id: accountId, forgiven_wrong_codes: count });
    });
}
