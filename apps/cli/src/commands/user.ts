import {
  createUser,
  listUsers,
  MEMBER_ROLES,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  passwordFault,
  randomPassword,
  removeTwoFactor,
  setPassword,
  setStaffRole,
  type MemberRole,
  type PasswordFault,
  type StaffRole,
  type User,
} from '@onecode/store/users';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import {
  commandGroup,
  emailAddress,
  id,
  oneOf,
  readSecret,
  secretSource,
  text,
  type AddCommand,
} from '../arguments.js';
import { withDatabase } from '../database.js';
import { UserError, UsageError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

const STAFF = { operator: 'operator', 'on-call': 'on_call', none: null } as const;
type StaffWord = keyof typeof STAFF;

const FAULTS: Readonly<Record<PasswordFault, string>> = {
  too_short: `the password must have ${PASSWORD_LENGTH_MIN} characters or more`,
  too_long: `the password must have ${PASSWORD_LENGTH_MAX} characters or fewer`,
  guessable: "the password is common, or consists of the user's name or email address",
};
const UNKNOWN_USER = 'there is no user with this email address';

const formatStaffRole = (staff: StaffRole | null): StaffWord =>
  staff === 'on_call' ? 'on-call' : (staff ?? 'none');

const LANGUAGES = ['pt-BR', 'en', 'browser'] as const;
type Language = (typeof LANGUAGES)[number];

const formatUser = (user: User): Row => ({
  ...pickFields(user, 'id', 'email', 'name'),
  language: user.language ?? 'browser',
  staff: formatStaffRole(user.staff),
  confirmed: user.isConfirmed,
  two_factor: user.hasTwoFactor ? 'on' : 'off',
  created_at: user.createdAt,
});

interface Create {
  email: string;
  name: string;
  staff: StaffWord;
  account?: string;
  role?: MemberRole;
  language: Language;
  password?: '-';
}

interface Staff {
  password?: '-';
  unconfirmed?: true;
}

export function addUserCommands(program: Command): void {
  const add = commandGroup(program, 'user', 'users of the console', 'user list');
  const of: AddCommand = (name, description) =>
    add(name, description).argument('<email>', "the user's email address", emailAddress('the email'));

  add('create', 'create a user; a generated password is printed once')
    .requiredOption('--email <address>', 'the address to sign in with', emailAddress('--email'))
    .requiredOption('--name <text>', "the user's name, 1 to 200 characters", text('--name'))
    .option(
      '--staff <role>',
      'operator, on-call or none',
      oneOf('--staff', Object.keys(STAFF) as StaffWord[]),
      'none',
    )
    .option('--account <id>', 'the account to add the user to', id('--account'))
    .option(
      '--role <role>',
      `the role in the account: ${MEMBER_ROLES.join(', ')}`,
      oneOf('--role', MEMBER_ROLES),
    )
    .option(
      '--language <language>',
      "pt-BR, en, or browser for the browser's language until the user chooses one",
      oneOf('--language', LANGUAGES),
      'pt-BR',
    )
    .option('--password <source>', '-: read the password from standard input', secretSource('--password'))
    .addHelpText('after', example('user create --email ana@example.com --name "Ana Souza" --staff operator'))
    .action(async (options: Create, command: Command) => {
      const membership = parseMembership(options);
      const { email, name, language } = options;
      const { password, generated } = await readPassword(options.password, { email, name });
      const created = await withDatabase((database) =>
        createUser(database, actor(), {
          email,
          name,
          language: language === 'browser' ? null : language,
          password,
          membership,
          staff: STAFF[options.staff],
        }),
      );
      if (created.kind === 'email_taken')
        throw new UserError('a user with this email address already exists: see user show and user staff');
      if (created.kind === 'no_account') throw new UserError('there is no account with this id');
      print(command, {
        id: created.user.id,
        email,
        name,
        staff: options.staff,
        account_id: membership?.accountId ?? null,
        role: membership?.role ?? null,
        password: generated,
      });
    });

  add('list', 'list all users')
    .addHelpText('after', example('user list --json'))
    .action(async (_options: object, command: Command) => {
      print(command, (await withDatabase(listUsers)).map(formatUser));
    });

  of('show', 'show a user')
    .addHelpText('after', example('user show ana@example.com'))
    .action(async (email: string, _options: object, command: Command) => {
      const known = (await withDatabase(listUsers)).find((one) => one.email === email);
      if (known === undefined) throw new UserError(UNKNOWN_USER);
      print(command, formatUser(known));
    });

  of(
    'password',
    "set a user's new password and end the user's sessions; a generated password is printed once",
  )
    .option('--password <source>', '-: read the password from standard input', secretSource('--password'))
    .addHelpText('after', example('user password ana@example.com'))
    .action(async (email: string, options: { password?: '-' }, command: Command) => {
      const { password, generated } = await readPassword(options.password, { email, name: '' });
      if (!(await withDatabase((database) => setPassword(database, actor(), email, password))))
        throw new UserError(UNKNOWN_USER);
      print(command, { email, password: generated });
    });

  of(
    'staff',
    "set a user's staff role and end the user's sessions; a role with more rights requires a new password, printed once",
  )
    .argument('<role>', 'operator, on-call or none', oneOf('the role', Object.keys(STAFF) as StaffWord[]))
    .option('--password <source>', '-: read the new password from standard input', secretSource('--password'))
    .option(
      '--unconfirmed',
      'accept an unconfirmed address, because you have verified that it belongs to this user',
    )
    .addHelpText('after', example('user staff ana@example.com on-call'))
    .action(async (email: string, role: StaffWord, options: Staff, command: Command) => {
      const { password, generated } = await readPassword(options.password, { email, name: '' });
      const changed = await withDatabase((database) =>
        setStaffRole(database, actor(), email, STAFF[role], {
          ...(generated === null && { password }),
          isVouchedFor: options.unconfirmed === true,
        }),
      );
      if (changed.kind === 'unknown') throw new UserError(UNKNOWN_USER);
      if (changed.kind === 'not_promoted')
        throw new UserError('the role adds no rights, so --password is not accepted: use user password');
      if (changed.kind === 'unconfirmed') throw new UserError(formatUnconfirmed(changed.user));
      print(command, { ...formatUser(changed.user), password: changed.password });
    });

  of(
    'remove-two-factor',
    'remove the second factor, passkeys and company sign-in of a user who lost them, and end all sessions',
  )
    .addHelpText('after', example('user remove-two-factor ana@example.com'))
    .action(async (email: string, _options: object, command: Command) => {
      if (!(await withDatabase((database) => removeTwoFactor(database, actor(), email))))
        throw new UserError(UNKNOWN_USER);
      print(command, { email, two_factor: 'off' });
    });
}

/** Names the user, so that the operator can recognize a stranger who signed up with a colleague's address. */
const formatUnconfirmed = ({ name, createdAt }: User): string =>
  `the address is unconfirmed and may belong to another person: ${JSON.stringify(name)} signed up with it on ${createdAt.toISOString()}; if this is the right user, add --unconfirmed`;

function parseMembership({ account, role }: Create): { accountId: string; role: MemberRole } | null {
  if (account === undefined && role === undefined) return null;
  if (account === undefined || role === undefined)
    throw new UsageError('--account and --role must be given together');
  return { accountId: account, role };
}

/** Returns the password from standard input, or a generated one. Only a generated password is printed. */
async function readPassword(
  source: '-' | undefined,
  owner: { email: string; name: string },
): Promise<{ password: string; generated: string | null }> {
  if (source === undefined) {
    const generated = randomPassword();
    return { password: generated, generated };
  }
  const password = await readSecret('password');
  // The sign-in page has no field for several lines.
  if (/[\r\n]/.test(password)) throw new UsageError('--password on standard input must be one line');
  const fault = await passwordFault({ password, ...owner });
  if (fault !== null) throw new UsageError(FAULTS[fault]);
  return { password, generated: null };
}
