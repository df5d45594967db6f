import {
  ACCESS_TOKEN,
  groupDeliveries,
  isNew,
  NOT_ACTIVATED,
  parseRecipient,
  SENDER_PATTERNS,
  SENDER_THROUGHPUT,
} from '@onecode/domain';
import { findAccount, readSettings } from '@onecode/store/accounts';
import { countHeldMessages, readDeliveries, readSenderActivity } from '@onecode/store/reports';
import {
  addSender,
  AssignmentRefused,
  assignSender,
  editSender,
  listSenderKnowledge,
  requestReading,
  listSenders,
  pauseSender,
  removeSender,
  resumeSender,
  type ListedSender,
  type SenderKey,
} from '@onecode/store/senders';
import { Type, type Static, type TSchema } from 'typebox';
import { verifyTokenOf } from '@onecode/whatsapp';
import { idField, nameField, strictObject } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Access, type Call, type Route } from '../../http/route.js';
import { providerView } from './providerView.js';
import { setupRoutesAt } from './setupRoutes.js';
import { SENDER_RULES, senderView, type AskedView, type OwnAppView } from './view.js';
import { pastedNumber } from '../../http/pastedNumber.js';

const FIELDS = {
  phoneNumberId: Type.String({ pattern: SENDER_PATTERNS.phoneNumberId.source }),
  businessAccountId: Type.Optional(Type.String({ pattern: SENDER_PATTERNS.businessAccountId.source })),
  number: Type.String({ maxLength: 1000 }),
  token: Type.String({ pattern: ACCESS_TOKEN.source }),
  template: Type.String({ pattern: SENDER_PATTERNS.template.source }),
  englishTemplateLanguage: Type.Enum(['en', 'en_US']),
  throughput: Type.Integer({ minimum: SENDER_THROUGHPUT.min, maximum: SENDER_THROUGHPUT.max }),
};

const REASON = strictObject({ reason: nameField(200) });

/** The path to which Meta apps post. The app of a sender's own business posts to the sender's id below it. */
const webhookUrl = (baseUrl: string): string => `${baseUrl}/webhooks/whatsapp`;

/** The number in E.164. @throws ConsoleProblem `invalid_input` */
function numberOf(text: string): string {
  const number = parseRecipient(pastedNumber(text));
  if (number.kind !== 'phone') throw new ConsoleProblem('invalid_input', { errors: { number: 'format' } });
  return number.e164;
}

/** The business account as Meta reports it. Its blocks apply to all its senders. */
const { businessAccountId: _, ...OWN_FIELDS } = FIELDS;

/** Limited because each sender is read from Meta every ten minutes. */
const OWN_SENDERS_MAX = 20;

type Wanted = Static<ReturnType<typeof Type.Object<typeof FIELDS>>>;

/** The account that owns the senders; null for all senders. */
const accountOf = ({ params }: Call): string | null => params['account'] ?? null;

function readSenderKey(call: Call): SenderKey {
  const id = call.params['sender'] ?? '';
  const accountId = accountOf(call);
  return accountId === null ? id : { id, accountId };
}

/**
 * The routes of senders below a path.
 *
 * @param watches the access to read, pause, resume and check them
 * @param changes the access to add, change and remove them
 */
function routesAt(path: string, watches: Access, changes: Access, fields: Record<string, TSchema>): Route[] {
  const { phoneNumberId: _, ...editableFields } = fields;
  const list = (call: Call): Promise<ListedSender[]> =>
    listSenders(call.context.database, accountOf(call) ?? undefined);

  /** A sender that was never activated needs a token, a number and a template that work. @throws ConsoleProblem `sender_not_ready` */
  async function refuseUnready(call: Call): Promise<void> {
    const { database } = call.context;
    const sender = (await list(call)).find(({ id }) => id === call.params['sender']);
    if (sender === undefined || !isNew(sender.blocks)) return;
    const [knowledge] = await listSenderKnowledge(database, sender.id);
    const { codeValiditySeconds } = await readSettings(database);
    if (knowledge === undefined || !providerView(knowledge, codeValiditySeconds, new Date()).maySend)
      throw new ConsoleProblem('sender_not_ready');
  }

  /** Sets or erases the secret of a sender's own Meta app. @throws ConsoleProblem `not_found` */
  async function setApp(call: Call, appSecret: string | null): Promise<void> {
    const { config, database } = call.context;
    const secrets = { keyring: config.SECRET_KEY, appSecret };
    orNotFound(await editSender(database, call.actor, readSenderKey(call), { secrets }));
  }

  /** @throws ConsoleProblem `invalid_input` if the account has the maximum number of senders */
  async function refuseMore(call: Call): Promise<void> {
    if (accountOf(call) !== null && (await list(call)).length >= OWN_SENDERS_MAX)
      throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'full' } });
  }

  return [
    ...setupRoutesAt(path, watches, changes, accountOf, refuseMore),
    route('get', path, watches, {
      async handle(call) {
        const { database } = call.context;
        const accountId = accountOf(call);
        const [senders, activity, deliveries, held, knowledge, { codeValiditySeconds }, account] =
          await Promise.all([
            list(call),
            readSenderActivity(database),
            readDeliveries(database),
            countHeldMessages(database),
            listSenderKnowledge(database),
            readSettings(database),
            accountId === null ? null : findAccount(database, accountId),
          ]);
        const bySender = groupDeliveries(deliveries, 'senderId');
        const now = new Date();
        return {
          senders: senders.flatMap((sender) => {
            const known = knowledge.find(({ senderId }) => senderId === sender.id);
            // A sender that is added between the two reads appears at the next refresh.
            if (known === undefined) return [];
            const traffic = {
              activity: activity.find(({ senderId }) => senderId === sender.id),
              deliveries: bySender.find(({ name }) => name === sender.id),
              held: held.find(({ senderId }) => senderId === sender.id),
            };
            const provider = providerView(known, codeValiditySeconds, now);
            return senderView(account === null ? sender : forMembers(sender), traffic, provider, now);
          }),
          rules: SENDER_RULES,
          policy: account?.senders ?? null,
          webhookUrl: webhookUrl(call.context.config.BASE_URL),
        };
      },
    }),
    route('post', path, changes, {
      confirmed: true,
      body: strictObject(fields),
      async handle(call) {
        const { context, actor } = call;
        const body = call.body as Wanted;
        const accountId = accountOf(call);
        await refuseMore(call);
        // It carries no traffic until it is activated.
        const wanted = {
          ...body,
          number: numberOf(body.number),
          paused: true,
          ...(accountId !== null && { owner: { accountId, applicationIds: [] } }),
        };
        const made = await addSender(context.database, actor, context.config.SECRET_KEY, wanted);
        if (made === 'taken')
          throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'taken' } });
        return { id: made.id };
      },
    }),
    route('put', `${path}/:sender`, changes, {
      confirmed: true,
      // Omitted fields do not change. Another phone number id is another sender.
      body: Type.Partial(strictObject(editableFields), { additionalProperties: false }),
      async handle(call) {
        const {
          context: { database, config },
          actor,
        } = call;
        const { token, ...wanted } = call.body as Partial<Omit<Wanted, 'phoneNumberId'>>;
        const key = readSenderKey(call);
        const change = {
          ...wanted,
          ...(wanted.number !== undefined && { number: numberOf(wanted.number) }),
          ...(token !== undefined && { secrets: { keyring: config.SECRET_KEY, token } }),
        };
        orNotFound(await editSender(database, actor, key, change));
      },
    }),
    route('delete', `${path}/:sender`, changes, {
      confirmed: true,
      async handle(call) {
        orNotFound(await removeSender(call.context.database, call.actor, readSenderKey(call)));
      },
    }),
    route('put', `${path}/:sender/app`, changes, {
      confirmed: true,
      body: strictObject({ appSecret: Type.String({ pattern: SENDER_PATTERNS.appSecret.source }) }),
      async handle(call): Promise<OwnAppView> {
        const { appSecret } = call.body;
        await setApp(call, appSecret);
        const id = call.params['sender'] ?? '';
        const url = `${webhookUrl(call.context.config.BASE_URL)}/${id}`;
        return { url, verifyToken: verifyTokenOf(appSecret, id) };
      },
    }),
    route('delete', `${path}/:sender/app`, changes, {
      confirmed: true,
      async handle(call) {
        await setApp(call, null);
      },
    }),
    route('post', `${path}/:sender/pause`, watches, {
      body: REASON,
      async handle(call) {
        const { context, actor, body } = call;
        orNotFound(await pauseSender(context.database, actor, readSenderKey(call), body.reason.trim()));
      },
    }),
    route('post', `${path}/:sender/resume`, watches, {
      body: REASON,
      async handle(call) {
        await refuseUnready(call);
        const { context, actor, body } = call;
        orNotFound(await resumeSender(context.database, actor, readSenderKey(call), body.reason.trim()));
      },
    }),
    route('post', `${path}/:sender/check`, watches, {
      /** `since`: waits for a read that was attempted at this time or later. */
      async handle(call): Promise<AskedView> {
        const { database } = call.context;
        const id = call.params['sender'] ?? '';
        const since = orNotFound(await requestReading(database, id, accountOf(call)));
        return { since: since.toISOString() };
      },
    }),
  ];
}

/** Assigns a sender to all accounts, to one account or to some of its applications. */
const assignRoute = route('put', '/staff/senders/:sender/owner', 'operator', {
  confirmed: true,
  body: strictObject({
    // Null: all accounts share it.
    accountId: Type.Union([idField, Type.Null()]),
    // Empty: all applications of the account.
    applicationIds: Type.Array(idField, { maxItems: 100 }),
  }),
  async handle({ context: { database }, actor, params, body: { accountId, applicationIds } }) {
    const owner = accountId === null ? 'shared' : { accountId, applicationIds };
    const assigned = assignSender(database, actor, params['sender'] ?? '', owner);
    orNotFound(
      await assigned.catch((error: unknown) => {
        if (!(error instanceof AssignmentRefused)) throw error;
        const field = error.why === 'unknown_account' ? 'accountId' : 'applicationIds';
        throw new ConsoleProblem('invalid_input', { errors: { [field]: 'unknown' } });
      }),
    );
  },
});

/** Members see that an operator paused a sender, but not why. */
const forMembers = (sender: ListedSender): ListedSender => ({
  ...sender,
  blocks: sender.blocks.map((block) =>
    block.cause === 'operator' && block.reason !== NOT_ACTIVATED
      ? { ...block, reason: 'paused by an operator' }
      : block,
  ),
});

/** Senders, the WhatsApp numbers that send the codes: all senders for staff, and an account's own senders for its admins. */
export const senderRoutes: readonly Route[] = [
  ...routesAt('/staff/senders', 'on_call', 'operator', FIELDS),
  assignRoute,
  ...routesAt('/accounts/:account/senders', 'admin', 'admin', OWN_FIELDS),
];
