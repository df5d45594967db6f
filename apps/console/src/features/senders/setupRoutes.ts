import { ACCESS_TOKEN, parseRecipient, SENDER_PATTERNS, type PhoneRecipient } from '@onecode/domain';
import { readSettings } from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { addSender, listSenderDetails, listSenders, noteSenderSetup } from '@onecode/store/senders';
import { listReceiptStatuses } from '@onecode/store/sends';
import {
  listNumbers,
  sendTestCode,
  setUpNumber,
  step as stepOf,
  type SetupStep,
} from '@onecode/whatsapp/setup';
import { Type } from 'typebox';
import { strictObject } from '../../http/fields.js';
import { createFairLimiter } from '../../http/limiters.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Access, type Call, type Route } from '../../http/route.js';
import type { AddedView, NumbersView, SetupView, TestCodeView } from './view.js';
import { pastedNumber } from '../../http/pastedNumber.js';

const CONNECTION = {
  businessAccountId: Type.String({ pattern: SENDER_PATTERNS.businessAccountId.source }),
  token: Type.String({ pattern: ACCESS_TOKEN.source }),
  template: Type.String({ pattern: SENDER_PATTERNS.template.source }),
};

/** Shorter than the time after which proxies end a request. */
const RECEIPT_MS_MAX = 25_000;

/** Meta approves most templates for codes within seconds. The page polls until Meta has approved the other templates. */
const APPROVAL_MS_MAX = 5_000;

/** Limits calls to Meta per user, because they may take seconds. */
const limited = createFairLimiter({ concurrency: 16, concurrencyPerKey: 2, queuedPerKeyMax: 4 });

/**
 * The routes that add a sender and set it up at Meta, below a path. Nothing of a run is stored: each step reads its state from Meta, so that
 * any browser continues where another one ended.
 *
 * @param watches who sees the state of the steps
 * @param changes who adds senders and sets them up
 * @param refuseMore throws if the account has its most senders
 */
export function setupRoutesAt(
  path: string,
  watches: Access,
  changes: Access,
  accountOf: (call: Call) => string | null,
  refuseMore: (call: Call) => Promise<void>,
): Route[] {
  /** The sender in the path, with its token. @throws ConsoleProblem `not_found` */
  async function findSender(call: Call) {
    const { database, config } = call.context;
    const senders = await listSenders(database, accountOf(call) ?? undefined);
    const sender = orNotFound(senders.find(({ id }) => id === call.params['sender']) ?? null);
    const details = await listSenderDetails(database, config.SECRET_KEY);
    return { sender, token: details.find(({ id }) => id === sender.id)?.token ?? null };
  }

  const keyOf = (call: Call) => {
    const id = call.params['sender'] ?? '';
    const accountId = accountOf(call);
    return accountId === null ? id : { id, accountId };
  };

  async function run(
    call: Call,
    options: { pin: string | null; mayChangeTemplates: boolean; isDryRun: boolean },
  ): Promise<SetupStep[]> {
    const { cloudApi, database } = call.context;
    const { sender, token } = await findSender(call);
    if (!token) return [stepOf('token', 'needs_you', 'token_undecryptable')];
    if (sender.businessAccountId === null) return [stepOf('number', 'needs_you', 'business_account_unknown')];
    const { codeValiditySeconds } = await readSettings(database);
    const setup = setUpNumber(cloudApi.call, {
      ...options,
      token,
      businessAccountId: sender.businessAccountId,
      number: sender.number,
      template: sender.template,
      english: sender.englishTemplateLanguage,
      codeValiditySeconds,
      approvalMs: APPROVAL_MS_MAX,
      isKnown: async () => options.pin === null && sender.isRegistered,
    });
    const steps = new Map<string, SetupStep>();
    for await (const step of setup) steps.set(step.step, step);
    return [...steps.values()];
  }

  return [
    route('post', `${path}/numbers`, changes, {
      confirmed: true,
      body: strictObject(CONNECTION),
      async handle({ context: { cloudApi, database }, actor, body }): Promise<NumbersView> {
        const found = await limited(actor.id, () => listNumbers(cloudApi.call, body));
        if ('step' in found) return { numbers: [], step: found.step };
        const taken = new Set((await listSenders(database)).map(({ phoneNumberId }) => phoneNumberId));
        const numbers = found.numbers.map(({ phoneNumberId, number, verifiedName, status }) => ({
          phoneNumberId,
          number,
          verifiedName,
          status,
          isTaken: taken.has(phoneNumberId),
        }));
        return { numbers, step: null };
      },
    }),
    route('post', `${path}/setup`, changes, {
      confirmed: true,
      body: strictObject({
        ...CONNECTION,
        phoneNumberId: Type.String({ pattern: SENDER_PATTERNS.phoneNumberId.source }),
      }),
      /** Number, throughput and business account come from Meta's response for the token, not from the browser. */
      async handle(call): Promise<AddedView> {
        const { context, actor, body } = call;
        await refuseMore(call);
        const found = await limited(actor.id, () => listNumbers(context.cloudApi.call, body));
        if ('step' in found) return { id: null, step: found.step };
        const number = found.numbers.find(({ phoneNumberId }) => phoneNumberId === body.phoneNumberId);
        if (number === undefined)
          throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'unknown' } });
        const accountId = accountOf(call);
        const made = await addSender(context.database, actor, context.config.SECRET_KEY, {
          ...body,
          number: number.number,
          throughput: number.throughput,
          englishTemplateLanguage: found.english,
          paused: true,
          ...(accountId !== null && { owner: { accountId, applicationIds: [] } }),
        });
        if (made === 'taken')
          throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'taken' } });
        return { id: made.id, step: null };
      },
    }),
    route('get', `${path}/:sender/setup`, watches, {
      async handle(call): Promise<SetupView> {
        const plan = { pin: null, mayChangeTemplates: false, isDryRun: true };
        return { steps: await limited(call.actor.id, () => run(call, plan)) };
      },
    }),
    route('post', `${path}/:sender/setup`, changes, {
      confirmed: true,
      body: strictObject({
        pin: Type.Union([Type.String({ pattern: '^[0-9]{6}$' }), Type.Null()]),
        mayChangeTemplates: Type.Boolean(),
      }),
      async handle(call): Promise<SetupView> {
        const { context, actor, body } = call;
        const steps = await limited(actor.id, () => run(call, { ...body, isDryRun: false }));
        const stepsDone = steps.filter(({ status }) => status === 'done').map(({ step }) => step);
        orNotFound(
          await noteSenderSetup(context.database, actor, keyOf(call), 'sender.setup', { stepsDone }),
        );
        return { steps };
      },
    }),
    route('post', `${path}/:sender/test`, changes, {
      confirmed: true,
      body: strictObject({ to: Type.String({ maxLength: 1000 }) }),
      async handle(call): Promise<TestCodeView> {
        const { context, actor, body } = call;
        const to = recipientOf(body.to);
        const { sender, token } = await findSender(call);
        if (!token) return { step: stepOf('test', 'needs_you', 'token_undecryptable') };
        const step = await limited(actor.id, () =>
          sendTestCode(context.cloudApi, {
            ...sender,
            token,
            to,
            sendId: newId(),
            receiptMs: RECEIPT_MS_MAX,
            listStatuses: (messageId) => listReceiptStatuses(context.database, messageId),
          }),
        );
        const { status: state } = step;
        orNotFound(await noteSenderSetup(context.database, actor, keyOf(call), 'sender.test', { state }));
        return { step };
      },
    }),
  ];
}

/** @throws ConsoleProblem `invalid_input` */
function recipientOf(text: string): PhoneRecipient {
  const to = parseRecipient(pastedNumber(text));
  if (to.kind !== 'phone') throw new ConsoleProblem('invalid_input', { errors: { to: 'format' } });
  return to;
}
