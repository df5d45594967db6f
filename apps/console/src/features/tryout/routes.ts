import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Type } from 'typebox';
import { parseRecipient, TEST_CODE } from '@onecode/domain';
import { idField, languageField } from '../../http/fields.js';
import { ConsoleProblem } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { applicationOf } from '../applications/routes.js';
import { resultIn, sendIn } from './answers.js';
import { applicationOfTried, countCall, samplesFor, withApi } from './calls.js';
import { hiddenRecipient, HIDDEN_CODE } from './exchange.js';
import { proofOf } from './proof.js';
import type { TryoutSendView, TryoutStatusView, TryoutVerifyView, TryoutView } from './view.js';

const STRICT = { additionalProperties: false };
/** The API judges what is in them; here only their length is bounded. */
const TO = Type.String({ minLength: 1, maxLength: 320 });
const CODE = Type.String({ minLength: 1, maxLength: 64 });
const TRIED = { send: idField, proof: Type.String({ minLength: 1, maxLength: 100 }) };

/** A look at a send lasts this long while nothing changes: each one costs a key, and with it every API's cache of callers. */
const LOOK_MS = 4_000;
const LOOK_PAUSE_MS = 400;

const PATH = '/accounts/:account/applications/:application/tryout';

/** Trying an application: the server makes real requests to the API with a key of its own, and shows what went over the wire. */
export const tryoutRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: PATH,
    access: 'developer',
    async handle(call): Promise<TryoutView> {
      return { samples: samplesFor(call, await applicationOf(call), { name: 'createSend' }) };
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/send`,
    access: 'developer',
    body: Type.Object(
      {
        to: TO,
        code: Type.Optional(CODE),
        locale: Type.Optional(languageField),
        /** Says that a real message may go out and a unit may be used. */
        isLive: Type.Optional(Type.Boolean()),
      },
      STRICT,
    ),
    async handle(call): Promise<TryoutSendView> {
      const { context, person } = call;
      const { to, code, locale, isLive = false } = call.body;
      const application = await applicationOf(call);
      const { id, mode } = application;
      if (isLive !== (mode === 'live'))
        throw new ConsoleProblem('invalid_input', { errors: { isLive: 'mode' } });
      // The code of a live send is for its recipient alone, and so nobody chooses it here.
      if (isLive && code !== undefined)
        throw new ConsoleProblem('invalid_input', { errors: { code: 'mode' } });
      await countCall(call, 'send');

      const recipient = hiddenRecipient(to);
      const number = parseRecipient(to);
      const tried = { recipient: number.kind === 'phone' ? number.e164 : null };
      return withApi(call, application, tried, async (make) => {
        const { answer, exchange, problem } = await make({
          method: 'POST',
          path: '/v1/send',
          body: { to, ...(code !== undefined && { code }), ...(locale !== undefined && { locale }) },
          hidden: { to: recipient },
          recipient: to,
          idempotencyKey: randomUUID(),
        });
        const send = sendIn(answer);
        const proof = (sendId: string): string =>
          proofOf(context.config.SESSION_SECRET, { userId: person.id, applicationId: id, sendId });
        return {
          exchange,
          problem,
          hiddenRecipient: recipient,
          samples: samplesFor(call, application, {
            name: 'createSend',
            ...(code !== undefined && { code }),
            ...(locale !== undefined && { locale }),
          }),
          send: send && { ...send, proof: proof(send.id), mode, code: isLive ? null : (code ?? TEST_CODE) },
        };
      });
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/status`,
    access: 'developer',
    body: Type.Object({ ...TRIED, seen: Type.Optional(Type.String({ maxLength: 20 })) }, STRICT),
    /** Looks until the status is another one than the one that was seen, for a while. */
    async handle(call): Promise<TryoutStatusView> {
      const { send, seen } = call.body;
      const application = await applicationOfTried(call);
      return withApi(call, application, null, async (make) => {
        for (const endsAt = Date.now() + LOOK_MS; ; await setTimeout(LOOK_PAUSE_MS)) {
          const made = await make({ method: 'GET', path: `/v1/send/${send}/status`, body: null });
          const state = sendIn(made.answer)?.state ?? null;
          if (state !== null && state.status === seen && Date.now() < endsAt) continue;
          const { exchange, problem } = made;
          const samples = samplesFor(call, application, { name: 'getSendStatus', send });
          return { exchange, problem, samples, state };
        }
      });
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/verify`,
    access: 'developer',
    body: Type.Object({ ...TRIED, code: CODE }, STRICT),
    async handle(call): Promise<TryoutVerifyView> {
      const { send, code } = call.body;
      const application = await applicationOfTried(call);
      const isLive = application.mode === 'live';
      return withApi(call, application, null, async (make) => {
        const { answer, exchange, problem } = await make({
          method: 'POST',
          path: `/v1/send/${send}/verify`,
          body: { code },
          hidden: isLive ? { code: HIDDEN_CODE } : {},
        });
        const samples = samplesFor(call, application, {
          name: 'verifyCode',
          send,
          ...(!isLive && { code }),
        });
        return { exchange, problem, samples, result: resultIn(answer) };
      });
    },
  }),
];
