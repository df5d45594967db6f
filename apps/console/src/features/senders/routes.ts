import {
  ACCESS_TOKEN,
  isNew,
  parseRecipient,
  pastedNumber,
  SENDER_PATTERNS,
  SENDER_THROUGHPUT,
} from '@onecode/domain';
import {
  addSender,
  editSender,
  listSenderKnowledge,
  readSettings,
  requestReading,
  listSenders,
  pauseSender,
  readSenderActivity,
  removeSender,
  resumeSender,
  setSenderToken,
} from '@onecode/store';
import { Type } from 'typebox';
import { nameField } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import { providerView } from './providerView.js';
import { SENDER_RULES, senderView, type AskedView } from './view.js';

const STRICT = { additionalProperties: false };
const FIELDS = {
  phoneNumberId: Type.String({ pattern: SENDER_PATTERNS.phoneNumberId.source }),
  businessAccountId: Type.Optional(Type.String({ pattern: SENDER_PATTERNS.businessAccountId.source })),
  number: Type.String({ maxLength: 1000 }),
  token: Type.String({ pattern: ACCESS_TOKEN.source }),
  template: Type.String({ pattern: SENDER_PATTERNS.template.source }),
  englishTemplateLanguage: Type.Enum(['en', 'en_US']),
  throughput: Type.Integer({ minimum: SENDER_THROUGHPUT.min, maximum: SENDER_THROUGHPUT.max }),
};

const REASON = Type.Object({ reason: nameField(200) }, STRICT);

/** The number in E.164. @throws ConsoleProblem `invalid_input` */
function numberOf(text: string): string {
  const number = parseRecipient(pastedNumber(text));
  if (number.kind !== 'phone') throw new ConsoleProblem('invalid_input', { errors: { number: 'format' } });
  return number.e164;
}

/** Senders: the WhatsApp numbers that send the codes. Whoever is on call may stop them, let them go on, and have them checked. */
export const senderRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/staff/senders',
    access: 'on_call',
    async handle({ context: { database } }) {
      const [senders, activity, knowledge, { codeValiditySeconds }] = await Promise.all([
        listSenders(database),
        readSenderActivity(database),
        listSenderKnowledge(database),
        readSettings(database),
      ]);
      const now = new Date();
      return {
        senders: senders.flatMap((sender) => {
          const known = knowledge.find(({ senderId }) => senderId === sender.id);
          // A sender that was added between the reads comes with the next refresh.
          if (known === undefined) return [];
          const senderActivity = activity.find(({ senderId }) => senderId === sender.id);
          return senderView(
            sender,
            senderActivity,
            providerView(sender, known, codeValiditySeconds, now),
            now,
          );
        }),
        rules: SENDER_RULES,
      };
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders',
    access: 'operator',
    confirmed: true,
    body: Type.Object(FIELDS, STRICT),
    async handle({ context, actor, body }) {
      // It carries no traffic before somebody activates it.
      const wanted = { ...body, number: numberOf(body.number), paused: true };
      const made = await addSender(context.database, actor, context.config.SECRET_KEY, wanted);
      if (made === null) throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'taken' } });
      return { id: made.id };
    },
  }),
  route({
    method: 'put',
    path: '/staff/senders/:sender',
    access: 'operator',
    confirmed: true,
    // What is left out stays as it is.
    body: Type.Partial(Type.Object(FIELDS, STRICT), STRICT),
    async handle({ context: { database, config }, actor, params, body: { token, ...wanted } }) {
      const id = params['sender'] ?? '';
      const change = wanted.number === undefined ? wanted : { ...wanted, number: numberOf(wanted.number) };
      const edited = orNotFound(await editSender(database, actor, id, change));
      if (edited === 'taken')
        throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'taken' } });
      if (token !== undefined)
        orNotFound(await setSenderToken(database, actor, config.SECRET_KEY, id, token));
    },
  }),
  route({
    method: 'delete',
    path: '/staff/senders/:sender',
    access: 'operator',
    confirmed: true,
    async handle(call) {
      await changeSender(call, removeSender);
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders/:sender/pause',
    access: 'on_call',
    body: REASON,
    async handle(call) {
      await changeSender(call, pauseSender, call.body.reason.trim());
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders/:sender/resume',
    access: 'on_call',
    body: REASON,
    async handle(call) {
      await refuseUnready(call);
      await changeSender(call, resumeSender, call.body.reason.trim());
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders/:sender/check',
    access: 'on_call',
    /** `since`: a read that was tried then or later is the answer. */
    async handle({ context: { database }, params }): Promise<AskedView> {
      const since = orNotFound(await requestReading(database, params['sender'] ?? ''));
      return { since: since.toISOString() };
    },
  }),
];

/** A sender that was never activated needs a token, a number and a template that work. @throws ConsoleProblem `sender_not_ready` */
async function refuseUnready({ context: { database }, params }: Call): Promise<void> {
  const sender = (await listSenders(database)).find(({ id }) => id === params['sender']);
  if (sender === undefined || !isNew(sender.stops)) return;
  const [knowledge] = await listSenderKnowledge(database, sender.id);
  const { codeValiditySeconds } = await readSettings(database);
  if (knowledge === undefined || !providerView(sender, knowledge, codeValiditySeconds, new Date()).maySend)
    throw new ConsoleProblem('sender_not_ready');
}

/** Applies a change to the sender in the path. @throws ConsoleProblem `not_found` */
async function changeSender<Given extends unknown[]>(
  { context, actor, params }: Call,
  change: (
    database: Call['context']['database'],
    actor: Call['actor'],
    id: string,
    ...given: Given
  ) => Promise<object | null>,
  ...given: Given
): Promise<void> {
  orNotFound(await change(context.database, actor, params['sender'] ?? '', ...given));
}
