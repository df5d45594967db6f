import { activeBlock, isNew, SENDER_TEMPLATE_INITIAL, type PhoneRecipient } from '@onecode/domain';
import { address, PROXY, readConfig } from '@onecode/runtime/config';
import { readSettings } from '@onecode/store/accounts';
import { newId, type Database } from '@onecode/store/client';
import {
  addSender,
  AssignmentRefused,
  editSender,
  listSenderDetails,
  listSenders,
  noteSenderSetup,
  resumeSender,
  type ListedSender,
} from '@onecode/store/senders';
import { listReceiptStatuses } from '@onecode/store/sends';
import { createCloudApi, type CloudApiOptions } from '@onecode/whatsapp/client';
import {
  englishStep as stepOf,
  isWell,
  sendTestCode,
  setUpNumber,
  type SetupNumber,
  type SetupStep,
} from '@onecode/whatsapp/setup';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import {
  businessAccountId,
  id,
  oneOf,
  phoneNumber,
  pinSource,
  readSecrets,
  secretSource,
  templateName,
  wholeNumber,
  type AddCommand,
} from '../arguments.js';
import { withDatabase } from '../database.js';
import { environment } from '../environment.js';
import { NotOk, UserError } from '../errors.js';
import { example, print } from '../output.js';
import { formatSender } from './senderCheck.js';
import { KEY_VARIABLES } from './senderTokens.js';

interface Setup {
  businessAccount: string;
  token?: '-';
  number?: PhoneRecipient;
  pin?: string;
  account?: string;
  template: string;
  english?: 'en' | 'en_US';
  wait: number;
  dryRun?: true;
  fix?: true;
  testTo?: PhoneRecipient;
}

const PROVIDER_TIMEOUT_MS = 10_000;
const RECEIPT_MS_MAX = 60_000;
/** Meta connects a number and approves most templates for codes within seconds. The check after the repairs reads the result. */
const FIX_MS_MAX = 15_000;
const APPROVAL_MINUTES = { min: 0, max: 1_440, initial: 10 };

export function addSenderSetupCommand(add: AddCommand): void {
  add('setup', 'set up a number at Meta and add it as a sender; exit code 2 when a person has to act')
    .requiredOption(
      '--business-account <id>',
      "Meta's id of the WhatsApp business account",
      businessAccountId('--business-account'),
    )
    .option(
      '--token <source>',
      '-: read the access token from standard input (default: ask for it)',
      secretSource('--token'),
    )
    .option('--number <number>', 'the number, if the business account has several', phoneNumber('--number'))
    .option(
      '--pin <pin>',
      'two-step PIN of the number, or the PIN to set if it has none; -: read it from standard input',
      pinSource('--pin'),
    )
    .option(
      '--account <id>',
      'the account that the sender belongs to (default: shared between all accounts)',
      id('--account'),
    )
    .option(
      '--template <name>',
      'authentication template',
      templateName('--template'),
      SENDER_TEMPLATE_INITIAL,
    )
    .option(
      '--english <language>',
      'en or en_US: the language of the English template',
      oneOf('--english', ['en', 'en_US']),
    )
    .option(
      '--wait <minutes>',
      'how long to wait for the approval of templates and the connection of the number',
      wholeNumber('--wait', APPROVAL_MINUTES),
      APPROVAL_MINUTES.initial,
    )
    .option('--dry-run', 'change nothing, and print what would be done')
    .option('--fix', 'change existing templates that differ')
    .option(
      '--test-to <number>',
      'send a test code to this number, and wait for its receipts',
      phoneNumber('--test-to'),
    )
    .addHelpText(
      'after',
      `\nRegisters the number, subscribes the app, creates the templates and activates the sender. It can be repeated:
completed steps are skipped. With - for both, the token is the first line of standard input and the PIN the second.
${example('sender setup --business-account 102290129340398 --number +15550783881 --token - --pin - < secrets.txt')}`,
    )
    .action(async (options: Setup, command: Command) => {
      const config = readSetupConfig();
      // Without a name for the audit log, the setup would stop after it has changed the number at Meta.
      if (!options.dryRun) actor();
      const given = await readSecrets(options);
      const { steps, sender } = await withDatabase((database) =>
        setUp(database, config, { ...options, ...given }, reporter(command)),
      );
      const { json } = command.optsWithGlobals<{ json?: true }>();
      print(command, json ? { sender, steps } : steps);
      const states = new Set(steps.map(({ status }) => status));
      if (states.has('failed')) throw new NotOk(1);
      const isPlan = options.dryRun && !states.has('needs_you');
      if (!isPlan && sender?.state !== 'active') throw new NotOk(2);
    });
}

const readSetupConfig = () =>
  readConfig(environment(), {
    ...KEY_VARIABLES,
    WHATSAPP_API_URL: address('https://graph.facebook.com/v25.0'),
    ...PROXY,
  });

type SetupConfig = ReturnType<typeof readSetupConfig>;

const providerOf = (config: SetupConfig): CloudApiOptions => ({
  baseUrl: config.WHATSAPP_API_URL,
  timeoutMs: PROVIDER_TIMEOUT_MS,
  proxy: { url: config.HTTPS_PROXY, except: config.NO_PROXY },
});

type Report = (step: SetupStep) => void;

/** Prints a step, unless only JSON is wanted. */
function reporter(command: Command): Report {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  return ({ step, status, detail }) => {
    if (!json) process.stderr.write(`${step}: ${status}: ${detail}\n`);
  };
}

/** @returns the sender, null if none was added, and the last state of each step */
async function setUp(
  database: Database,
  config: SetupConfig,
  options: Omit<Setup, 'token' | 'pin'> & { token: string; pin: string | null },
  report: Report,
) {
  const steps = new Map<string, SetupStep>();
  const note = (step: SetupStep): void => {
    if (steps.get(step.step)?.detail !== step.detail) report(step);
    steps.set(step.step, step);
  };
  const cloudApi = createCloudApi(providerOf(config));
  const { codeValiditySeconds } = await readSettings(database);
  let phoneNumberId: string | null = null;
  const find = async (): Promise<ListedSender | null> =>
    (await listSenders(database)).find((sender) => sender.phoneNumberId === phoneNumberId) ?? null;
  const setup = setUpNumber(cloudApi.call, {
    token: options.token,
    businessAccountId: options.businessAccount,
    number: options.number?.e164 ?? null,
    pin: options.pin,
    template: options.template,
    english: options.english ?? null,
    codeValiditySeconds,
    isDryRun: options.dryRun === true,
    mayChangeTemplates: options.fix === true,
    approvalMs: options.wait * 60_000,
    isKnown: async (of) =>
      (await listSenders(database)).some((one) => one.phoneNumberId === of && one.isRegistered),
    addSender: (number) => {
      ({ phoneNumberId } = number);
      return provideSender(database, config, options, number);
    },
  });
  for await (const step of setup) note(step);
  const sender = await find();
  if (sender !== null && !options.dryRun) {
    const stepsDone = [...steps.values()].flatMap((one) => (one.status === 'done' ? [one.step] : []));
    if (stepsDone.length > 0)
      await noteSenderSetup(database, actor(), sender.id, 'sender.setup', { stepsDone });
    note(await activate(database, sender, [...steps.values()]));
    if (options.testTo && isWell(steps.get('activation') as SetupStep))
      note(
        await sendTestCode(cloudApi, {
          ...sender,
          token: options.token,
          template: options.template,
          to: options.testTo,
          sendId: newId(),
          receiptMs: RECEIPT_MS_MAX,
          listStatuses: (messageId) => listReceiptStatuses(database, messageId),
        }),
      );
  }
  const after = await find();
  return {
    sender: after && formatSender(after),
    steps: [...steps.values()].map(printed),
  };
}

/** Returns the printed fields of a step. The names of translations are only for the console. */
const printed = ({ step, status, detail, link }: SetupStep) => ({ step, status, detail, link });

/** The checks of `sender check`, by the setup step that can repair them. */
const MENDED: Readonly<Record<string, string>> = {
  registration: 'number_connected',
  subscription: 'webhook_subscribed',
  template_pt_BR: 'template_pt_br',
  template_en: 'template_en',
  template_en_US: 'template_en',
};

/**
 * Repairs a sender's setup at Meta where possible.
 *
 * @param pin registers the number; null registers it only if it needs no PIN, because it is connected
 * @returns what was done, has to be done or was skipped, by check; null or no entry if the check needed nothing
 */
export async function fixSender(
  database: Database,
  sender: ListedSender,
  pin: string | null,
): Promise<Map<string, string | null>> {
  const config = readSetupConfig();
  const details = await listSenderDetails(database, config.SECRET_KEY);
  const token = details.find(({ id: known }) => known === sender.id)?.token;
  if (!token)
    throw new UserError('SECRET_KEY cannot decrypt the token of the sender: see onecode sender token');
  if (sender.businessAccountId === null)
    throw new UserError(
      'the business account of the sender is unknown: run sender check without --fix first',
    );
  const { codeValiditySeconds } = await readSettings(database);
  const setup = setUpNumber(createCloudApi(providerOf(config)).call, {
    token,
    businessAccountId: sender.businessAccountId,
    number: sender.number,
    pin,
    template: sender.template,
    english: sender.englishTemplateLanguage,
    codeValiditySeconds,
    isDryRun: false,
    mayChangeTemplates: true,
    approvalMs: FIX_MS_MAX,
    isKnown: async () => pin === null,
  });
  const fixes = new Map<string, string | null>();
  let last = '';
  for await (const { step, status, detail } of setup) {
    last = `${step}: ${detail}`;
    const check = MENDED[step];
    if (check !== undefined) fixes.set(check, status === 'already' ? null : `${status}: ${detail}`);
  }
  // A setup that ends early does not reach the other repairs.
  for (const check of Object.values(MENDED)) if (!fixes.has(check)) fixes.set(check, `skipped: ${last}`);
  return fixes;
}

/** Adds the sender, paused, or gives an existing one the new token. */
async function provideSender(
  database: Database,
  { SECRET_KEY: keyring }: SetupConfig,
  {
    token,
    account,
    template,
    businessAccount,
    dryRun,
  }: Pick<Setup, 'account' | 'template' | 'businessAccount' | 'dryRun'> & { token: string },
  { phoneNumberId, number, throughput, englishTemplateLanguage }: SetupNumber,
): Promise<SetupStep> {
  const [step, needsYou] = ['sender', 'needs_you'] as const;
  const known = (await listSenderDetails(database, keyring)).find(
    (one) => one.phoneNumberId === phoneNumberId && one.removedAt === null,
  );
  if (known === undefined) {
    if (dryRun) return stepOf(step, 'waiting', 'Would add the sender.');
    const owner = account === undefined ? 'shared' : { accountId: account, applicationIds: [] };
    const added = await addSender(database, actor(), keyring, {
      phoneNumberId,
      number,
      throughput,
      englishTemplateLanguage,
      owner,
      businessAccountId: businessAccount,
      token,
      template,
      paused: true,
    }).catch((error: unknown) => {
      if (error instanceof AssignmentRefused) return error;
      throw error;
    });
    if (added instanceof AssignmentRefused) return stepOf(step, 'failed', 'There is no such account.');
    return added === 'taken'
      ? stepOf(step, 'failed', 'Another command added the sender at the same time. Run the setup again.')
      : stepOf(step, 'done', `The sender ${added.id} was added. It is paused until it is activated.`);
  }
  const { id: senderId } = known;
  if (known.accountId !== (account ?? null))
    return stepOf(step, needsYou, `The sender ${senderId} has another owner: see onecode sender assign.`);
  if (known.template !== template || known.englishTemplateLanguage !== englishTemplateLanguage)
    return stepOf(
      step,
      needsYou,
      `The sender ${senderId} uses other templates: pass --template ${known.template} --english ${known.englishTemplateLanguage}, or run onecode sender edit.`,
    );
  if (known.token === token) return stepOf(step, 'already', `The sender ${senderId} exists.`);
  if (dryRun) return stepOf(step, 'waiting', `Would replace the token of the sender ${senderId}.`);
  await editSender(database, actor(), senderId, { secrets: { keyring, token } });
  return stepOf(step, 'done', `The sender ${senderId} exists; its token was replaced.`);
}

/** Activates a new sender when every step is done. */
async function activate(
  database: Database,
  sender: ListedSender,
  steps: readonly SetupStep[],
): Promise<SetupStep> {
  const step = 'activation';
  const open = steps.filter((one) => !isWell(one));
  if (open.length > 0) {
    const names = open.map((one) => one.step).join(', ');
    return stepOf(
      step,
      'waiting',
      `The sender can be activated when these steps are done: ${names}. Then run the setup again.`,
    );
  }
  if (activeBlock(sender.blocks, new Date()) === null)
    return stepOf(step, 'already', 'The sender is active.');
  if (!isNew(sender.blocks))
    return stepOf(
      step,
      'needs_you',
      `The sender is paused: see onecode sender show ${sender.id}, then resume it.`,
    );
  await resumeSender(database, actor(), sender.id, 'set up');
  return stepOf(step, 'done', 'The sender is active.');
}
