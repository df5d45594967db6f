import {
  ACCESS_TOKEN,
  parseRecipient,
  pastedNumber,
  SENDER_PATTERNS,
  SENDER_THROUGHPUT,
} from '@onecode/domain';
import {
  addSender,
  changeThroughput,
  listSenderKnowledge,
  readSettings,
  requestReading,
  listSenders,
  pauseSender,
  readSenderActivity,
  resumeSender,
  setSenderToken,
} from '@onecode/store';
import { Type } from 'typebox';
import { nameField } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import { providerView } from './providerView.js';
import { SENDER_RULES, senderView } from './view.js';

const STRICT = { additionalProperties: false };
const TOKEN = Type.String({ pattern: ACCESS_TOKEN.source });
const THROUGHPUT = Type.Integer({ minimum: SENDER_THROUGHPUT.min, maximum: SENDER_THROUGHPUT.max });

/** Senders: the WhatsApp numbers that send the codes. */
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
    body: Type.Object(
      {
        phoneNumberId: Type.String({ pattern: SENDER_PATTERNS.phoneNumberId.source }),
        businessAccountId: Type.Optional(Type.String({ pattern: SENDER_PATTERNS.businessAccountId.source })),
        number: Type.String({ maxLength: 1000 }),
        token: TOKEN,
        template: Type.String({ pattern: SENDER_PATTERNS.template.source }),
        englishTemplateLanguage: Type.Enum(['en', 'en_US']),
        throughput: THROUGHPUT,
      },
      STRICT,
    ),
    async handle({ context, actor, body }) {
      const number = parseRecipient(pastedNumber(body.number));
      if (number.kind !== 'phone')
        throw new ConsoleProblem('invalid_input', { errors: { number: 'format' } });
      const wanted = { ...body, number: number.e164 };
      const made = await addSender(context.database, actor, context.config.SECRET_KEY, wanted);
      if (made === null) throw new ConsoleProblem('invalid_input', { errors: { phoneNumberId: 'taken' } });
      return { id: made.id };
    },
  }),
  route({
    method: 'put',
    path: '/staff/senders/:sender/token',
    access: 'operator',
    confirmed: true,
    body: Type.Object({ token: TOKEN }, STRICT),
    async handle({ context, actor, params, body }) {
      const keyring = context.config.SECRET_KEY;
      const isFound = await setSenderToken(
        context.database,
        actor,
        keyring,
        params['sender'] ?? '',
        body.token,
      );
      orNotFound(isFound || null);
    },
  }),
  route({
    method: 'put',
    path: '/staff/senders/:sender/throughput',
    access: 'operator',
    body: Type.Object({ throughput: THROUGHPUT }, STRICT),
    async handle(call) {
      await changeSender(call, changeThroughput, call.body.throughput);
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders/:sender/pause',
    access: 'operator',
    body: Type.Object({ reason: nameField(200) }, STRICT),
    async handle(call) {
      await changeSender(call, pauseSender, call.body.reason.trim());
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders/:sender/resume',
    access: 'operator',
    async handle(call) {
      await changeSender(call, resumeSender);
    },
  }),
  route({
    method: 'post',
    path: '/staff/senders/:sender/check',
    access: 'operator',
    async handle({ context: { database }, params }) {
      orNotFound(await requestReading(database, params['sender'] ?? ''));
    },
  }),
];

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
