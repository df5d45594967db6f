import { IDENTITY_CHECKS, type IdentityCheck, type Mode, type PhoneRecipient } from '@onecode/domain';
import {
  createApplication,
  findAccount,
  findApplications,
  limitApplication,
  setIdentityCheck,
  type Application,
} from '@onecode/store/accounts';
import { forgetIdentity } from '@onecode/store/sends';
import type { Command } from 'commander';
import { commandGroup, commandsOn, id, limit, LIST_LIMIT, oneOf, phoneNumber, text } from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { found, UsageError, UserError } from '../errors.js';
import { keysOf } from '../numberPepper.js';
import { example, fieldsOf, print, type Row } from '../output.js';

const LIMIT_BOUNDS = { min: 1, max: 1_000_000 };
/** The values that `on` stands for: the specification's section 8, "initial values when enabled". */
const PER_MINUTE_INITIAL = 60;
const PER_RECIPIENT_HOUR_INITIAL = 5;

const formatApplication = (application: Application): Row =>
  fieldsOf(application, 'id', 'accountId', 'name', 'mode');

/** An application with its limits, of which null is off. */
const limitsRow = (application: Application): Row => ({
  ...formatApplication(application),
  ...fieldsOf(application, 'perMinute', 'perRecipientHour', 'identityCheck'),
});

interface Limits {
  perMinute?: number | 'off';
  perRecipientHour?: number | 'off';
}

const limitOf = (typed: number | 'off'): number | null => (typed === 'off' ? null : typed);

export function addApplicationCommands(program: Command): void {
  const add = commandGroup(
    program,
    'application',
    'applications: a mode, keys and limits of their own',
    'application create --account ID --name Shop --mode live',
  );
  const one = commandsOn(add, 'application');

  add('create', 'make an application of an account')
    .requiredOption('--account <id>', 'the account', id('--account'))
    .requiredOption('--name <text>', 'its name, 1 to 200 characters', text('--name'))
    .requiredOption(
      '--mode <mode>',
      'test or live; it never changes afterwards',
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
      print(command, limitsRow(found('application', application)), { absent: 'off' });
    });

  add('list', 'list applications and their limits, newest first')
    .option('--account <id>', 'those of one account', id('--account'))
    .option(...LIST_LIMIT)
    .addHelpText('after', example('application list --json'))
    .action(async (options: { account?: string; limit: number }, command: Command) => {
      const { account: accountId, limit } = options;
      const applications = await withDatabase(async (database) => {
        if (accountId !== undefined && (await findAccount(database, accountId)) === null)
          throw new UserError('there is no account with this id');
        return findApplications(database, { limit, ...(accountId !== undefined && { accountId }) });
      });
      print(command, applications.map(limitsRow), { absent: 'off' });
    });

  one('limits', 'set or lift creation limits; what is left out stays as it is')
    .option(
      '--per-minute <limit>',
      `sends a minute: a number, off, or on for ${PER_MINUTE_INITIAL}`,
      limit('--per-minute', LIMIT_BOUNDS, PER_MINUTE_INITIAL),
    )
    .option(
      '--per-recipient-hour <limit>',
      `sends an hour to one recipient: a number, off, or on for ${PER_RECIPIENT_HOUR_INITIAL}`,
      limit('--per-recipient-hour', LIMIT_BOUNDS, PER_RECIPIENT_HOUR_INITIAL),
    )
    .addHelpText('after', example('application limits ID --per-minute 100 --per-recipient-hour on'))
    .action(async (applicationId: string, { perMinute, perRecipientHour }: Limits, command: Command) => {
      if (perMinute === undefined && perRecipientHour === undefined)
        throw new UsageError('one of --per-minute and --per-recipient-hour is required');
      const limits = {
        ...(perMinute !== undefined && { perMinute: limitOf(perMinute) }),
        ...(perRecipientHour !== undefined && { perRecipientHour: limitOf(perRecipientHour) }),
      };
      const limited = await changed('application', (...by) => limitApplication(...by, applicationId, limits));
      print(command, limitsRow(limited), { absent: 'off' });
    });

  one('set', 'change a setting of an application')
    .argument('<setting>', 'identity_check', oneOf('the setting', ['identity_check']))
    .argument('<value>', IDENTITY_CHECKS.join(', '), oneOf('the value', IDENTITY_CHECKS))
    .addHelpText(
      'after',
      `
identity_check: what to do when a number may have changed hands since its owner last verified a code
  off      nothing
  observe  say so on the send's timeline, and send
  enforce  do not deliver the code

Example:
  $ onecode application set ID identity_check observe`,
    )
    .action(
      async (
        applicationId: string,
        _setting: string,
        value: IdentityCheck,
        _options: object,
        command: Command,
      ) => {
        const set = await changed('application', (...by) => setIdentityCheck(...by, applicationId, value));
        print(command, limitsRow(set), { absent: 'off' });
      },
    );

  one('trust', 'trust a number again after it changed hands: the next code goes to whoever has it')
    .requiredOption('--to <number>', 'the recipient, E.164', phoneNumber('--to'))
    .addHelpText('after', example('application trust ID --to +5511987654321'))
    .action(async (applicationId: string, { to }: { to: PhoneRecipient }, command: Command) => {
      const keys = keysOf(to);
      const forgotten = await changed('application', (...by) => forgetIdentity(...by, applicationId, keys));
      print(command, { application_id: applicationId, forgotten });
    });
}
