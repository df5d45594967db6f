import { Type } from 'typebox';
import {
  endSession,
  logFailedConfirmation,
  logOwnSecurityChange,
  PASSKEY_NAME_LENGTH_MAX,
} from '@onecode/store/users';
import { nameField, strictObject } from '../http/fields.js';
import { ConsoleProblem } from '../http/problem.js';
import {
  actorOf,
  confirmCurrentSession,
  endPreviousSession,
  personOfCookies,
  recordSignIn,
  signedIn,
  signInRoute,
  type SignInRoute,
} from './routes.js';

/** The browser's response for an authenticator; better-auth checks its content. */
const CREDENTIAL = Type.Record(Type.String(), Type.Unknown());
const RESPONSE = strictObject({ response: CREDENTIAL });
const NOTHING = strictObject({});

/** The routes of passkeys: to add one, to sign in with one, and to confirm a session with one. */
export const PASSKEY_ROUTES: readonly SignInRoute[] = [
  signInRoute('/passkey/generate-register-options', 'signed_in', {
    confirmed: true,
    body: NOTHING,
    handle: ({ callBetterAuth }) => callBetterAuth(null),
  }),
  signInRoute('/passkey/verify-registration', 'signed_in', {
    // A stolen session must not be enough to add a permanent way to sign in.
    confirmed: true,
    body: strictObject({ name: nameField(PASSKEY_NAME_LENGTH_MAX), response: CREDENTIAL }),
    async handle({ context, person, body, callBetterAuth }) {
      const name = body.name.trim();
      const { cookies } = await callBetterAuth({ name, response: body.response });
      const actor = actorOf(signedIn(person));
      await logOwnSecurityChange(context.database, actor, 'user.passkey_added', { name });
      return { cookies };
    },
  }),
  signInRoute('/passkey/generate-authenticate-options', 'anyone', {
    body: NOTHING,
    async handle({ callBetterAuth }) {
      const { body, cookies } = await callBetterAuth(null);
      return { body: { ...body, userVerification: 'required' }, cookies };
    },
  }),
  signInRoute('/passkey/verify-authentication', 'anyone', {
    body: RESPONSE,
    async handle(call) {
      const { cookies } = await call.callBetterAuth(call.body);
      await recordSignIn(call, cookies, 'passkey');
      await endPreviousSession(call.context, call.person);
      return { cookies };
    },
  }),
  signInRoute('/passkey/confirm', 'signed_in', {
    body: RESPONSE,
    async handle(call) {
      const { context, clientAddress, body, callBetterAuth } = call;
      const person = signedIn(call.person);
      // better-auth creates a session that is not needed.
      const { cookies } = await callBetterAuth(body, '/passkey/verify-authentication');
      const owner = await personOfCookies(context, cookies);
      await endSession(context.database, owner.sessionId);
      if (owner.id !== person.id) {
        await logFailedConfirmation(context.database, actorOf(person), { proof: 'passkey', clientAddress });
        throw new ConsoleProblem('wrong_passkey');
      }
      await confirmCurrentSession(call, 'passkey');
    },
  }),
];
