import { IDENTITY_CHECKS, type IdentityCheck, type Mode, type PhoneRecipient } from '@onecode/domain';
import {
  changeApplication,
  createApplication,
  findAccount,
  findApplications,
  type Application,
} from '@onecode/store/accounts';
import { forgetIdentity } from '@onecode/store/sends';
import type { Command } from 'commander';
import { commandGroup, commandsOn, id, limit, LIST_LIMIT, oneOf, phoneNumber, text } from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { found, UsageError, UserError } from '../errors.js';
import { deriveRecipientKeys } from '../numberPepper.js';
import { example, pickFields, print, type Row } from '../output.js';

const LIMIT_BOUNDS = { min: 1, max: 1_000_000 };
/** The values that `on` stands for. */
const PER_MINUTE_INITIAL = 60;
const PER_RECIPIENT_HOUR_INITIAL = 5;

const formatApplication = (application: Application): Row =>
  pickFields(application, 'id', 'accountId', 'name', 'mode');

/** Formats an application with its limits; null means off. */
const formatLimits = (application: Application): Row => ({
  ...formatApplication(application),
  ...pickFields(application, 'perMinute', 'perRecipientHour', 'identityCheck'),
});

interface Limits {
  perMinute?: number | 'off';
  perRecipientHour?: number | 'off';
}

const toNullable = (typed: number | 'off'): number | null => (typed === 'off' ? null : typed);

export function addApplicationCommands(program: Command): void {
  const add = commandGroup(
    program,
    'application',
    'applications of accounts, each with a mode, keys and limits',
    'application create --account ID --name Shop --mode live',
  );
  const one = commandsOn(add, 'application');

  add('create', 'create an application of an account')
    .requiredOption('--account <id>', 'the account', id('--account'))
    .requiredOption('--name <text>', 'name of the application, 1 to 200 characters', text('--name'))
    .requiredOption(
      '--mode <mode>',
      'test or live; it cannot be changed later',
      oneOf('--mode', ['test', 'live']),
    )
    .addHelpText('after', example('application create --account ID --name Shop --mode live'))
    .action(async (options: { account: string; name: string; mode: Mode }, command: Command) => {
      const { account: accountId, name, mode } = options;
      const made = await changed('account', (...by) => createApplication(...by, { accountId, name, mode }));
      print(command, formatApplication(made));
    });

  one('show', 'show an application and its limits')
    .addHelpText('after', example('application show ID'))
    .action(async (applicationId: string, _options: object, command: Command) => {
      const [application] = await withDatabase((database) =>
        findApplications(database, { id: applicationId }),
      );
      print(command, formatLimits(found('application', application)), { absent: 'off' });
    });

  add('list', 'list applications and their limits, newest first')
    .option('--account <id>', 'only applications of this account', id('--account'))
    .option(...LIST_LIMIT)
    .addHelpText('after', example('application list --json'))
    .action(async (options: { account?: string; limit: number }, command: Command) => {
      const { account: accountId, limit } = options;
      const applications = await withDatabase(async (database) => {
        if (accountId !== undefined && (await findAccount(database, accountId)) === null)
          throw new UserError('there is no account with this id');
        return findApplications(database, { limit, ...(accountId !== undefined && { accountId }) });
      });
      print(command, applications.map(formatLimits), { absent: 'off' });
    });

  one('limits', 'set or remove creation limits; omitted limits keep their values')
    .option(
      '--per-minute <limit>',
      `sends per minute: a number, off, or on for ${PER_MINUTE_INITIAL}`,
      limit('--per-minute', LIMIT_BOUNDS, PER_MINUTE_INITIAL),
    )
    .option(
      '--per-recipient-hour <limit>',
      `sends per hour to one recipient: a number, off, or on for ${PER_RECIPIENT_HOUR_INITIAL}`,
      limit('--per-recipient-hour', LIMIT_BOUNDS, PER_RECIPIENT_HOUR_INITIAL),
    )
    .addHelpText('after', example('application limits ID --per-minute 100 --per-recipient-hour on'))
    .action(async (applicationId: string, { perMinute, perRecipientHour }: Limits, command: Command) => {
      if (perMinute === undefined && perRecipientHour === undefined)
        throw new UsageError('at least one of --per-minute and --per-recipient-hour is required');
      const limits = {
        ...(perMinute !== undefined && { perMinute: toNullable(perMinute) }),
        ...(perRecipientHour !== undefined && { perRecipientHour: toNullable(perRecipientHour) }),
      };
      const limited = await changed('application', (...by) =>
        changeApplication(...by, applicationId, limits),
      );
      print(command, formatLimits(limited), { absent: 'off' });
    });

  one('set', 'change a setting of an application')
    .argument('<setting>', 'identity_check', oneOf('the setting', ['identity_check']))
    .argument('<value>', IDENTITY_CHECKS.join(', '), oneOf('the value', IDENTITY_CHECKS))
    .addHelpText(
      'after',
      `
identity_check: what happens when a number may have changed hands since its owner last verified a code
  off      the code is delivered
  observe  the code is delivered, and the send's timeline shows the change
  enforce  the code is not delivered

Example:
  $ onecode application set ID identity_check observe`,
    )
    .action(
      async (
        applicationId: string,
        _setting: string,
        identityCheck: IdentityCheck,
        _options: object,
        command: Command,
      ) => {
        const set = await changed('application', (...by) =>
          changeApplication(...by, applicationId, { identityCheck }),
        );
        print(command, formatLimits(set), { absent: 'off' });
      },
    );

  one('trust', 'trust a number again after it changed hands: its current owner gets the next code')
    .requiredOption('--to <number>', 'the recipient, with + and country code', phoneNumber('--to'))
    .addHelpText('after', example('application trust ID --to +5511987654321'))
    .action(async (applicationId: string, { to }: { to: PhoneRecipient }, command: Command) => {
      const keys = await deriveRecipientKeys(to);
      const forgotten = await changed('application', (...by) => forgetIdentity(...by, applicationId, keys));
      print(command, { application_id: applicationId, forgotten });
    });
}
