import { Type } from 'typebox';
import {
  maskRecipient,
  parseRecipient,
  recipientRefusal,
  TEST_CODE,
  type RecipientLimits,
} from '@onecode/domain';
import { findAccount, type Application } from '@onecode/store/accounts';
import {
  logTriedSend,
  hasTriedSend,
  createTryoutKey,
  newTryoutIdempotencyKey,
  takeTryout,
} from '@onecode/store/users';
import { idField, languageField, strictObject } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import { applicationOf } from '../applications/routes.js';
import { HOME_COUNTRY } from '../auth/view.js';
import { callApi } from './apiCall.js';
import { exampleNumber } from './exampleNumber.js';
import { tryoutSamples } from './samples.js';
import type {
  SendStateView,
  TryoutSendView,
  TryoutStatusView,
  TryoutVerifyView,
  TryoutView,
} from './view.js';
import { pastedNumber } from '../../http/pastedNumber.js';

/** The API validates them; only their length is limited here. */
const TO = Type.String({ minLength: 1, maxLength: 320 });
const CODE = Type.String({ minLength: 1, maxLength: 64 });
/** Replaces a code that only its recipient may know, and a recipient that is not a number. It does not reveal their length. */
const HIDDEN = '…';

const PATH = '/accounts/:account/applications/:application/tryout';

/** The “Try it” page: the server calls the API with its own key, and shows the request and the response. */
export const tryoutRoutes: readonly Route[] = [
  route('get', PATH, 'developer', {
    query: strictObject({ send: Type.Optional(idField) }),
    async handle(call): Promise<TryoutView> {
      const { context, person, query } = call;
      const reader = { baseUrl: context.config.BASE_URL, language: person.language };
      const application = await applicationOf(call);
      const limits = await recipientLimits(call);
      const listed = limits.trialCountries ?? limits.allowedCountries ?? [HOME_COUNTRY];
      const allowed = listed.find((code) => recipientRefusal(code, false, limits) === null);
      const recipient = exampleNumber(allowed ?? HOME_COUNTRY);
      return tryoutSamples(application, query.send ?? null, recipient, reader);
    },
  }),
  route('post', '/accounts/:account/tryout/recipient', 'developer', {
    body: strictObject({ to: TO }),
    async handle(call) {
      const recipient = parseRecipient(pastedNumber(call.body.to));
      if (recipient.kind !== 'phone') throw new ConsoleProblem('invalid_input', { errors: { to: 'number' } });
      const limits = await recipientLimits(call);
      if (recipientRefusal(recipient.country, recipient.isPremiumRate, limits) !== null)
        throw new ConsoleProblem('invalid_input', { errors: { to: 'country' } });
    },
  }),
  route('post', `${PATH}/sends`, 'developer', {
    body: strictObject({
      to: TO,
      code: Type.Optional(CODE),
      locale: Type.Optional(languageField),
      /** Confirms that a real message may be sent and a unit used. */
      isLive: Type.Optional(Type.Boolean()),
    }),
    async handle(call): Promise<TryoutSendView> {
      const { context, person, actor, accountId } = call;
      const { isLive = false, ...wanted } = call.body;
      const body = { ...wanted, to: pastedNumber(wanted.to) };
      const application = await applicationOf(call);
      const { mode } = application;
      if (isLive !== (mode === 'live'))
        throw new ConsoleProblem('invalid_input', { errors: { isLive: 'mode' } });
      // Only the recipient may know the code of a live send, so it cannot be chosen here.
      if (isLive && body.code !== undefined)
        throw new ConsoleProblem('invalid_input', { errors: { code: 'mode' } });
      await countCall(call, 'send');

      const recipient = parseRecipient(body.to);
      const number = recipient.kind === 'phone' ? recipient.e164 : null;
      await logTriedSend(context.database, actor, { ...application, accountId }, number);
      const { call: made, success } = await callApi(context.config, {
        method: 'POST',
        path: '/v1/send',
        key: await createTryoutKey(context.database, application),
        idempotencyKey: newTryoutIdempotencyKey(person.id),
        body,
        hidden: { to: number === null ? HIDDEN : maskRecipient(number) },
      });
      const id = success?.['id'];
      const code = isLive ? null : (body.code ?? TEST_CODE);
      const state = stateOf(success);
      return { call: made, send: typeof id === 'string' && state ? { id, mode, code, state } : null };
    },
  }),
  route('get', `${PATH}/sends/:send`, 'developer', {
    async handle(call): Promise<TryoutStatusView> {
      const { application, send } = await triedSend(call);
      const { call: made, success } = await callApi(call.context.config, {
        method: 'GET',
        path: `/v1/send/${send}/status`,
        key: await createTryoutKey(call.context.database, application),
      });
      return { call: made, state: stateOf(success) };
    },
  }),
  route('post', `${PATH}/sends/:send/verify`, 'developer', {
    body: strictObject({ code: CODE }),
    async handle(call): Promise<TryoutVerifyView> {
      const { application, send } = await triedSend(call);
      const { call: made, success } = await callApi(call.context.config, {
        method: 'POST',
        path: `/v1/send/${send}/verify`,
        key: await createTryoutKey(call.context.database, application),
        body: call.body,
        hidden: application.mode === 'live' ? { code: HIDDEN } : {},
      });
      const { valid, verification, attempts_left: attemptsLeft } = success ?? {};
      const result = { valid, verification, attemptsLeft } as NonNullable<TryoutVerifyView['result']>;
      return { call: made, result: typeof valid === 'boolean' ? result : null };
    },
  }),
];

/** Returns the limits on the recipients of the account's live sends. */
async function recipientLimits({ context, accountId }: Call): Promise<RecipientLimits> {
  return orNotFound(await findAccount(context.database, accountId));
}

/** Counts a call of this user. @throws ConsoleProblem `rate_limited` when they made too many in this minute */
async function countCall({ context, person }: Call, kind: 'send' | 'look'): Promise<void> {
  if (!(await takeTryout(context.database, person.id, kind))) throw new ConsoleProblem('rate_limited');
}

/** Returns the send in the path if this user created it on the page of its application and may make one more call about it. */
async function triedSend(call: Call): Promise<{ application: Application; send: string }> {
  const application = await applicationOf(call);
  const { context, person, params } = call;
  const send = params['send'] ?? '';
  const which = { userId: person.id, applicationId: application.id, sendId: send };
  if (!(await hasTriedSend(context.database, which))) throw new ConsoleProblem('not_found');
  await countCall(call, 'look');
  return { application, send };
}

/** Returns the state of a send in a response of the API; null if the response has none. */
function stateOf(answer: Readonly<Record<string, unknown>> | null): SendStateView | null {
  const { status, verification, expires_at: expiresAt } = answer ?? {};
  return typeof status === 'string' ? ({ status, verification, expiresAt } as SendStateView) : null;
}
