import { SENDER_TEMPLATE_INITIAL, SENDER_THROUGHPUT, type PhoneRecipient } from '@onecode/domain';
import {
  addSender,
  AssignmentRefused,
  assignSender,
  editSender,
  listSenders,
  pauseSender,
  removeSender,
  resumeSender,
  type Sender,
  type SenderChange,
  type SenderOwner,
} from '@onecode/store/senders';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import {
  businessAccountId,
  commandGroup,
  commandsOn,
  id,
  ids,
  oneOf,
  phoneNumber,
  phoneNumberId,
  pinSource,
  readPin,
  readToken,
  templateName,
  text,
  token,
  wholeNumber,
  type AddCommand,
} from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { NotOk, UsageError, UserError } from '../errors.js';
import { example, print } from '../output.js';
import { checkSender, findSender, formatSender, showSender } from './senderCheck.js';
import { addSenderSetupCommand, fixSender } from './senderSetup.js';
import { addSenderTokenCommands, readKeyConfig } from './senderTokens.js';

interface Owner {
  account?: string;
  application?: string[];
}

interface Add extends Owner {
  phoneNumberId: string;
  businessAccount?: string;
  number: PhoneRecipient;
  token: string;
  template: string;
  english: 'en' | 'en_US';
  throughput: number;
  paused?: true;
}

interface Assign extends Owner {
  shared?: true;
}

interface Edit extends Partial<Omit<Add, keyof Owner | 'phoneNumberId' | 'token' | 'paused'>> {}

export function addSenderCommands(program: Command): void {
  const add = commandGroup(program, 'sender', 'WhatsApp numbers that codes are sent from', 'sender list');
  const one = commandsOn(add, 'sender');

  addSenderSetupCommand(add);

  add('add', 'add a sender; its token is stored encrypted with SECRET_KEY')
    .requiredOption('--phone-number-id <id>', "Meta's id of the number", phoneNumberId('--phone-number-id'))
    .option(
      '--business-account <id>',
      "Meta's id of the number's WhatsApp business account (default: looked up)",
      businessAccountId('--business-account'),
    )
    .requiredOption('--number <number>', 'the number, with + and country code', phoneNumber('--number'))
    .requiredOption(
      '--token <token>',
      'access token; - reads it from standard input, so that it does not appear in process lists',
      token('--token'),
    )
    .option(
      '--template <name>',
      'authentication template',
      templateName('--template'),
      SENDER_TEMPLATE_INITIAL,
    )
    .option(
      '--english <language>',
      'en or en_US: language of the approved English template',
      oneOf('--english', ['en', 'en_US']),
      'en',
    )
    .option(
      '--throughput <number>',
      'messages per second that Meta accepts from the number',
      wholeNumber('--throughput', SENDER_THROUGHPUT),
      SENDER_THROUGHPUT.initial,
    )
    .option('--paused', 'add it paused, until it is resumed')
    .option(...ACCOUNT)
    .option(...APPLICATION)
    .addHelpText(
      'after',
      example('sender add --phone-number-id 106540352242922 --number +15550783881 --token - < token.txt'),
    )
    .action(async (options: Add, command: Command) => {
      const config = readKeyConfig();
      const accessToken = await readToken('--token', options.token);
      const added = await withDatabase((database) =>
        addSender(database, actor(), config.SECRET_KEY, {
          phoneNumberId: options.phoneNumberId,
          businessAccountId: options.businessAccount,
          number: options.number.e164,
          token: accessToken,
          template: options.template,
          englishTemplateLanguage: options.english,
          throughput: options.throughput,
          paused: options.paused === true,
          owner: parseOwner(options),
        }),
      ).catch(refuseAssignment);
      print(command, formatSender(requireNotTaken(added)));
    });

  addEditCommand(one);

  add('list', 'list all senders, oldest first')
    .addHelpText('after', example('sender list --json'))
    .action(async (_options: object, command: Command) => {
      print(command, (await withDatabase(listSenders)).map(formatSender));
    });

  one('show', 'show a sender')
    .addHelpText('after', example('sender show ID'))
    .action(async (senderId: string, _options: object, command: Command) => {
      print(
        command,
        await withDatabase(async (database) => showSender(database, await findSender(database, senderId))),
      );
    });

  one('check', 'check a sender at Meta and print remedies; exit code 1 if a check fails')
    .option(
      '--fix',
      'first register the number, subscribe the app, and create or correct templates, if needed',
    )
    .option(
      '--pin <pin>',
      'with --fix: register the number with this two-step PIN; -: read it from standard input',
      pinSource('--pin'),
    )
    .addHelpText('after', '\nA running worker performs the checks.\n\nExample:\n  $ onecode sender check ID')
    .action(async (senderId: string, { fix, pin }: { fix?: true; pin?: string }, command: Command) => {
      if (pin !== undefined && !fix) throw new UsageError('--pin needs --fix');
      const given = pin === '-' ? await readPin() : (pin ?? null);
      const checks = await withDatabase(async (database) => {
        const sender = await findSender(database, senderId);
        const fixes = fix ? await fixSender(database, sender, given) : null;
        const rows = await checkSender(database, sender);
        return fixes === null ? rows : rows.map((row) => ({ ...row, fix: fixes.get(row.check) ?? null }));
      });
      print(command, checks);
      if (checks.some(({ ok }) => !ok)) throw new NotOk();
    });

  for (const [name, description, change, kept] of [
    ['pause', 'pause a sender until it is resumed', pauseSender, 'kept with the sender'],
    ['resume', "end a sender's pause and clear its faults", resumeSender, 'kept in the audit log'],
  ] as const)
    one(name, description)
      .option('--reason <text>', kept, text('--reason'))
      .addHelpText('after', example(`sender ${name} ID --reason TEXT`))
      .action(async (senderId: string, { reason }: { reason?: string }, command: Command) => {
        print(command, formatSender(await changed('sender', (...by) => change(...by, senderId, reason))));
      });

  one('remove', 'remove a sender and erase its token; its past sends still name it')
    .addHelpText('after', example('sender remove ID'))
    .action(async (senderId: string, _options: object, command: Command) => {
      print(command, formatSender(await changed('sender', (...by) => removeSender(...by, senderId))));
    });

  one('throughput', 'set how many messages per second Meta accepts from a sender')
    .argument('<number>', 'messages per second', wholeNumber('the throughput', SENDER_THROUGHPUT))
    .addHelpText('after', example('sender throughput ID 500'))
    .action(async (senderId: string, throughput: number, _options: object, command: Command) => {
      const edited = await changed('sender', (...by) => editSender(...by, senderId, { throughput }));
      print(command, formatSender(edited));
    });

  addAssignCommand(one);
  addSenderTokenCommands(add, one);
}

const ACCOUNT = ['--account <id>', 'the account that it belongs to', id('--account')] as const;
const APPLICATION = [
  '--application <id>',
  'only for this live application of the account; can be repeated',
  ids('--application'),
] as const;

function parseOwner({ account, application = [] }: Owner): SenderOwner {
  if (account !== undefined) return { accountId: account, applicationIds: application };
  if (application.length > 0) throw new UsageError('--application needs --account');
  return 'shared';
}

function refuseAssignment(error: unknown): never {
  if (!(error instanceof AssignmentRefused)) throw error;
  throw new UserError(
    error.why === 'unknown_account'
      ? 'there is no account with this id'
      : 'the account has no live application with this id',
  );
}

function addAssignCommand(one: AddCommand): void {
  one('assign', 'assign a sender to an account, or share it between all accounts')
    .option(...ACCOUNT)
    .option(...APPLICATION)
    .option('--shared', 'share it between all accounts')
    .addHelpText(
      'after',
      `\n\`account senders\` chooses whether the account uses its own senders.\n${example('sender assign ID --account ACCOUNT')}`,
    )
    .action(async (senderId: string, { shared, ...options }: Assign, command: Command) => {
      if ((options.account === undefined) !== (shared === true))
        throw new UsageError('exactly one of --account and --shared is required');
      const owner = parseOwner(options);
      const assigned = await changed('sender', (...by) => assignSender(...by, senderId, owner)).catch(
        refuseAssignment,
      );
      print(command, formatSender(assigned));
    });
}

function addEditCommand(one: AddCommand): void {
  one('edit', 'change a sender; for another number, add another sender')
    .option(
      '--business-account <id>',
      "Meta's id of its WhatsApp business account",
      businessAccountId('--business-account'),
    )
    .option('--number <number>', 'the number, with + and country code', phoneNumber('--number'))
    .option('--template <name>', 'authentication template', templateName('--template'))
    .option('--english <language>', 'en or en_US', oneOf('--english', ['en', 'en_US']))
    .option(
      '--throughput <number>',
      'messages per second that Meta accepts from the number',
      wholeNumber('--throughput', SENDER_THROUGHPUT),
    )
    .addHelpText(
      'after',
      `\n\`sender token\` replaces the access token.\n${example('sender edit ID --template login_code')}`,
    )
    .action(async (senderId: string, options: Edit, command: Command) => {
      const { businessAccount, english, number, ...rest } = options;
      const change: SenderChange = {
        ...rest,
        ...(businessAccount && { businessAccountId: businessAccount }),
        ...(english && { englishTemplateLanguage: english }),
        ...(number && { number: number.e164 }),
      };
      if (Object.keys(change).length === 0) throw new UsageError('at least one option is required');
      const edited = await changed('sender', (...by) => editSender(...by, senderId, change));
      print(command, formatSender(edited));
    });
}

function requireNotTaken(sender: Sender | 'taken'): Sender {
  if (sender === 'taken') throw new UserError('a sender with this phone number id already exists');
  return sender;
}
