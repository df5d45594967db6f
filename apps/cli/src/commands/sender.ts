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
  readToken,
  templateName,
  token,
  wholeNumber,
  type AddCommand,
} from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { NotOk, UserError } from '../errors.js';
import { example, print } from '../output.js';
import { checkSender, findSender, senderRow, showSender } from './senderCheck.js';
import { addSenderSetupCommand } from './senderSetup.js';
import { addSenderTokenCommands, readKeyConfig } from './senderTokens.js';

interface Owner {
  account?: string;
  application?: string[];
}

interface Add extends Owner {
  phoneNumberId: string;
  businessAccountId?: string;
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

interface Edit extends Partial<Omit<Add, keyof Owner | 'token' | 'paused'>> {}

export function addSenderCommands(program: Command): void {
  const add = commandGroup(program, 'sender', 'WhatsApp numbers that codes are sent from', 'sender list');
  const one = commandsOn(add, 'sender');

  addSenderSetupCommand(add);

  add('add', 'add a sender; its token is stored encrypted with SECRET_KEY')
    .requiredOption(
      '--phone-number-id <id>',
      "the provider's id of the number",
      phoneNumberId('--phone-number-id'),
    )
    .option(
      '--business-account-id <id>',
      "the provider's id of the WhatsApp business account that the number belongs to; left out, it is found out",
      businessAccountId('--business-account-id'),
    )
    .requiredOption('--number <number>', 'the number, with + and country code', phoneNumber('--number'))
    .requiredOption(
      '--token <token>',
      'access token; - reads it from standard input, where no list of processes shows it',
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
      'en or en_US: the language under which the English template was approved',
      oneOf('--english', ['en', 'en_US']),
      'en',
    )
    .option(
      '--throughput <number>',
      'messages a second that the provider takes from the number',
      wholeNumber('--throughput', SENDER_THROUGHPUT),
      SENDER_THROUGHPUT.initial,
    )
    .option('--paused', 'sends nothing until it is resumed')
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
          businessAccountId: options.businessAccountId,
          number: options.number.e164,
          token: accessToken,
          template: options.template,
          englishTemplateLanguage: options.english,
          throughput: options.throughput,
          paused: options.paused === true,
          owner: ownerOf(options),
        }),
      ).catch(refuseAssignment);
      print(command, senderRow(notTaken(added ?? 'taken')));
    });

  addEditCommand(one);

  add('list', 'list all senders, oldest first')
    .addHelpText('after', example('sender list --json'))
    .action(async (_options: object, command: Command) => {
      print(command, (await withDatabase(listSenders)).map(senderRow));
    });

  one('show', 'show a sender')
    .addHelpText('after', example('sender show ID'))
    .action(async (senderId: string, _options: object, command: Command) => {
      print(
        command,
        await withDatabase(async (database) => showSender(database, await findSender(database, senderId))),
      );
    });

  one('check', 'ask the provider about a sender, and say what to do; exit code 1 when a check is not ok')
    .addHelpText('after', '\nA running worker makes the read.\n\nExample:\n  $ onecode sender check ID')
    .action(async (senderId: string, _options: object, command: Command) => {
      const checks = await withDatabase(async (database) =>
        checkSender(database, await findSender(database, senderId)),
      );
      print(command, checks);
      if (checks.some(({ ok }) => !ok)) throw new NotOk();
    });

  for (const [name, description, change] of [
    ['pause', 'send nothing from a sender until it is resumed', pauseSender],
    ['resume', "end a sender's pause and forget its faults", resumeSender],
    ['remove', 'remove a sender and erase its token; its past sends keep its name', removeSender],
  ] as const)
    one(name, description)
      .addHelpText('after', example(`sender ${name} ID`))
      .action(async (senderId: string, _options: object, command: Command) => {
        print(command, senderRow(await changed('sender', (...by) => change(...by, senderId))));
      });

  one('throughput', 'change how many messages a second the provider takes from a sender')
    .argument('<number>', 'messages a second', wholeNumber('the throughput', SENDER_THROUGHPUT))
    .addHelpText('after', example('sender throughput ID 500'))
    .action(async (senderId: string, throughput: number, _options: object, command: Command) => {
      const edited = await changed('sender', (...by) => editSender(...by, senderId, { throughput }));
      print(command, senderRow(notTaken(edited)));
    });

  addAssignCommand(one);
  addSenderTokenCommands(add, one);
}

const ACCOUNT = ['--account <id>', 'the account that it belongs to', id('--account')] as const;
const APPLICATION = [
  '--application <id>',
  'only for this live application of the account; may be repeated',
  ids('--application'),
] as const;

function ownerOf({ account, application = [] }: Owner): SenderOwner {
  if (account !== undefined) return { accountId: account, applicationIds: application };
  if (application.length > 0) throw new UserError('--application needs --account');
  return 'shared';
}

function refuseAssignment(error: unknown): never {
  if (!(error instanceof AssignmentRefused)) throw error;
  throw new UserError(
    error.why === 'unknown_account' ? 'there is no such account' : 'the account has no such live application',
  );
}

function addAssignCommand(one: AddCommand): void {
  one('assign', "say whose messages a sender sends: everybody's, or those of an account")
    .option(...ACCOUNT)
    .option(...APPLICATION)
    .option('--shared', 'all accounts share it')
    .addHelpText(
      'after',
      `\n\`account senders\` says whether the account sends by it.\n${example('sender assign ID --account ACCOUNT')}`,
    )
    .action(async (senderId: string, { shared, ...options }: Assign, command: Command) => {
      if ((options.account === undefined) !== (shared === true))
        throw new UserError('name either --account or --shared');
      const owner = ownerOf(options);
      const assigned = await changed('sender', (...by) => assignSender(...by, senderId, owner)).catch(
        refuseAssignment,
      );
      print(command, senderRow(assigned));
    });
}

function addEditCommand(one: AddCommand): void {
  one('edit', 'change a sender; another number is paused until the sender is resumed')
    .option('--phone-number-id <id>', "the provider's id of the number", phoneNumberId('--phone-number-id'))
    .option(
      '--business-account-id <id>',
      "the provider's id of its WhatsApp business account",
      businessAccountId('--business-account-id'),
    )
    .option('--number <number>', 'the number, with + and country code', phoneNumber('--number'))
    .option('--template <name>', 'authentication template', templateName('--template'))
    .option('--english <language>', 'en or en_US', oneOf('--english', ['en', 'en_US']))
    .option(
      '--throughput <number>',
      'messages a second that the provider takes from the number',
      wholeNumber('--throughput', SENDER_THROUGHPUT),
    )
    .addHelpText(
      'after',
      `\n\`sender token\` replaces the access token.\n${example('sender edit ID --template login_code')}`,
    )
    .action(async (senderId: string, options: Edit, command: Command) => {
      const { english, number, ...rest } = options;
      const change: SenderChange = {
        ...rest,
        ...(english && { englishTemplateLanguage: english }),
        ...(number && { number: number.e164 }),
      };
      if (Object.keys(change).length === 0) throw new UserError('name what to change');
      const edited = await changed('sender', (...by) => editSender(...by, senderId, change));
      print(command, senderRow(notTaken(edited)));
    });
}

function notTaken(sender: Sender | 'taken'): Sender {
  if (sender === 'taken') throw new UserError('there is a sender with this phone number id already');
  return sender;
}
