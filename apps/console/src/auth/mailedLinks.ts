import {
  confirmAddressChange,
  confirmSignUp,
  findPasswordReset,
  findSignUp,
  logFailedSignIn,
  requestAddressChange,
  requestPasswordReset,
  resetPassword,
} from '@onecode/store/users';
import { emailField, languageField, strictObject } from '../http/fields.js';
import { ConsoleProblem, orNotFound } from '../http/problem.js';
import { limitedPasswordHasher, limitSignUps } from './passwords.js';
import {
  endPreviousSession,
  limitTries,
  LINK_TOKEN,
  linkRequest,
  PASSWORD,
  recordSignIn,
  requireGoodPassword,
  signedIn,
  signInRoute,
  type SignInRoute,
} from './routes.js';

/** @throws ConsoleProblem `conflict` if no mail is sent */
function requireAccepted(requested: 'accepted' | 'not_sent'): void {
  if (requested === 'not_sent') throw new ConsoleProblem('conflict');
}

/**
 * The routes of mailed links. The response to a request for a link is the same whether or not the address exists. A link that was used,
 * has expired or never existed is `not_found`. The token is in the body, because logs keep URLs.
 */
export const MAILED_LINK_ROUTES: readonly SignInRoute[] = [
  signInRoute('/request-password-reset', 'anyone', {
    body: strictObject({ email: emailField, language: languageField }),
    async handle(call) {
      const { config, database } = call.context;
      const request = linkRequest(call, call.body, 'reset-password');
      requireAccepted(await requestPasswordReset(database, config.SECRET_KEY, request));
    },
  }),
  signInRoute('/reset-password', 'anyone', {
    body: strictObject({ token: LINK_TOKEN, password: PASSWORD }),
    async handle({ context: { database }, body: { token, password } }) {
      const owner = orNotFound(await findPasswordReset(database, token));
      await requireGoodPassword('password', password, owner);
      orNotFound(await limitSignUps(() => resetPassword(database, token, password)));
    },
  }),
  signInRoute('/confirm-sign-up', 'anyone', {
    body: strictObject({ token: LINK_TOKEN, password: PASSWORD }),
    async handle(call) {
      const { context, clientAddress, person, body } = call;
      const { database } = context;
      const { email, passwordHash: hash } = orNotFound(await findSignUp(database, body.token));
      // A recipient who did not sign up does not know the password, so the link does not sign them in to a stranger's account.
      const onWrong = (isLastTry: boolean): Promise<void> =>
        logFailedSignIn(database, { email }, { proof: 'password', clientAddress, isLastTry });
      await limitTries(context, `sign-up ${email}`, onWrong, async () => {
        if (!(await limitedPasswordHasher.verify({ hash, password: body.password })))
          throw new ConsoleProblem('invalid_input', { errors: { password: 'wrong' } });
      });
      orNotFound(await confirmSignUp(database, body.token));
      const { cookies } = await call.callBetterAuth({ email, password: body.password }, '/sign-in/email');
      await recordSignIn(call, cookies, 'password');
      await endPreviousSession(context, person);
      return { cookies };
    },
  }),
  signInRoute('/change-address', 'signed_in', {
    // The owner of the new address can have the password replaced.
    confirmed: true,
    body: strictObject({ email: emailField }),
    async handle(call) {
      const { config, database } = call.context;
      const { id, language } = signedIn(call.person);
      const request = linkRequest(call, { language, email: call.body.email }, 'confirm-address');
      requireAccepted(await requestAddressChange(database, config.SECRET_KEY, request, id));
    },
  }),
  signInRoute('/confirm-address', 'signed_in', {
    body: strictObject({ token: LINK_TOKEN }),
    async handle({ context: { database }, person, body: { token } }) {
      orNotFound(await confirmAddressChange(database, signedIn(person), token));
    },
  }),
];
