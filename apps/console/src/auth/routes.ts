import { getDomain } from 'tldts';
import { Type, type Static, type TSchema } from 'typebox';
import type { Locale } from '@onecode/domain';
import { isStaffTwoFactorRequired } from '@onecode/store/accounts';
import { sendsMail } from '@onecode/store/mails';
import { logEntry, type Actor } from '@onecode/store/operations';
import {
  confirmSession,
  endOtherSessions,
  endOvertakenSignIn,
  endSession,
  findPasswordHash,
  findPendingPasswordHash,
  forgetSignInTries,
  keepBothFactors,
  logFailedConfirmation,
  logFailedSignIn,
  logOwnSecurityChange,
  logSignIn,
  logSignOut,
  requestSignUp,
  returnSignInTry,
  returnSignUp,
  SIGN_IN_TRIES_MAX,
  SIGN_UP_TRIES_MAX,
  takeSignInTry,
  takeSignUp,
  codeTriesSubject,
  useTwoFactorCode,
  type OwnSecurityChange,
  type Proof,
} from '@onecode/store/users';
import { requireOtherProof } from './access.js';
import type { AuthAnswer } from './betterAuth.js';
import { networkOf } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { createFairLimiter } from '../http/limiters.js';
import { emailField, languageField, nameField, strictObject } from '../http/fields.js';
import type { Person } from './identity.js';
import { judgePassword, limitedPasswordHasher, limitSignUps } from './passwords.js';
import { ConsoleProblem } from '../http/problem.js';

/** The context of a handler: the checked request, and better-auth. */
export interface SignInCall<B> {
  context: ConsoleContext;
  /** The person who is signed in already, if any. */
  person: Person | null;
  clientAddress: string;
  body: B;
  /** Calls better-auth at the route's own path, or at the given one; without a body by GET. @throws ConsoleProblem for a refusal */
  callBetterAuth: (body: object | null, path?: string) => Promise<AuthAnswer>;
  /** @throws ConsoleProblem for a password other than the signed-in person's */
  checkPassword: (password: string) => Promise<void>;
  /** Returns the id of the user who completed the first step in this browser, or null. */
  pendingUser: () => Promise<string | null>;
}

/** The response to the pages; 204 without a body. */
type SignInAnswer = { body?: object; cookies: readonly string[] } | void;

export interface SignInRoute {
  path: string;
  /** `second_step`: a user who entered the right password, or a signed-in user who turns the second factor on. */
  access: 'anyone' | 'second_step' | 'signed_in';
  /** Whether the person must have confirmed their identity in this session within the last ten minutes. */
  confirmed?: true;
  body: TSchema;
  handle(call: SignInCall<never>): Promise<SignInAnswer>;
}

export function signInRoute<B extends TSchema>(
  path: string,
  access: SignInRoute['access'],
  definition: {
    confirmed?: true;
    body: B;
    handle(call: SignInCall<Static<B>>): Promise<SignInAnswer>;
  },
): SignInRoute {
  return { path, access, ...definition };
}

/**
 * The sign-ups of one network lock the same row, each on its own connection, so they run one at a time. The queue is no longer than the
 * number of sign-ups that one network may try in an hour.
 */
const limitSignUpCounts = createFairLimiter({
  concurrency: 2,
  concurrencyPerKey: 1,
  queuedPerKeyMax: SIGN_UP_TRIES_MAX,
});

/** Accepts every password that a user may already have; `judgePassword` checks new ones. */
export const PASSWORD = Type.String({ minLength: 1, maxLength: 500 });
/** The token of a mailed link. */
export const LINK_TOKEN = Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' });
const PASSWORD_ONLY = strictObject({ password: PASSWORD });
const CODE_ONLY = strictObject({ code: Type.String({ minLength: 1, maxLength: 20 }) });

/** The routes below `/api/auth`: the routes of better-auth that the pages use, and two that confirm a session. */
export const SIGN_IN_ROUTES: readonly SignInRoute[] = [
  signInRoute('/sign-up/email', 'anyone', {
    body: strictObject({
      name: nameField(200),
      email: emailField,
      password: PASSWORD,
      language: languageField,
      // The token of the invitation link that led to the sign-up: confirming the address returns to it.
      invitation: Type.Optional(LINK_TOKEN),
    }),
    async handle(call) {
      const { context, person, body, callBetterAuth } = call;
      const { password, language, invitation } = body;
      const wanted = { name: body.name.trim(), email: body.email.toLowerCase() };
      const { body: answer, cookies } = await countSignUp(call, wanted.email, async () => {
        await requireGoodPassword('password', password, wanted);
        return limitSignUps(async () =>
          (await sendsMail(context.database))
            ? mailSignUp(call, { ...wanted, language, password }, invitation)
            : callBetterAuth({ ...wanted, password, language }),
        );
      });
      // The response is the same whether or not the address exists.
      if ('mailed' in answer) return { body: answer, cookies };
      const created = actorOf(await personOfCookies(context, cookies));
      const details = { after: { ...wanted, language } };
      await logEntry(context.database, created, { action: 'user.create', subject: created.id, details });
      await recordSignIn(call, cookies, 'password');
      await endPreviousSession(context, person);
      return { cookies };
    },
  }),
  signInRoute('/sign-in/email', 'anyone', {
    body: strictObject({ email: emailField, password: PASSWORD }),
    async handle(call) {
      const { context, person, body, clientAddress } = call;
      const email = body.email.toLowerCase();
      const onWrong = (isLastTry: boolean): Promise<void> =>
        logFailedSignIn(context.database, { email }, { proof: 'password', clientAddress, isLastTry });
      const hash = await findPasswordHash(context.database, email);
      const { body: answer, cookies } = await limitTries(context, email, onWrong, () =>
        call.callBetterAuth({ email, password: body.password }).catch(async (error: unknown) => {
          const isWrong = error instanceof ConsoleProblem && error.code === 'wrong_credentials';
          if (isWrong && (await isOfPendingSignUp(context, email, body.password)))
            throw new ConsoleProblem('address_unconfirmed');
          throw error;
        }),
      );
      if (await endOvertakenSignIn(context.database, email, hash))
        throw new ConsoleProblem('wrong_credentials');
      const needsSecondStep = answer['twoFactorRedirect'] === true;
      if (!needsSecondStep) await recordSignIn(call, cookies, 'password');
      await endPreviousSession(context, person);
      return { body: { secondStep: needsSecondStep }, cookies };
    },
  }),
  signInRoute('/sign-out', 'signed_in', {
    body: strictObject({}),
    async handle({ context, person, callBetterAuth }) {
      await logSignOut(context.database, actorOf(signedIn(person)));
      const { cookies } = await callBetterAuth({});
      return { cookies };
    },
  }),
  signInRoute('/change-password', 'signed_in', {
    body: strictObject({ password: PASSWORD, newPassword: PASSWORD }),
    async handle(call) {
      const { context, body, person, callBetterAuth } = call;
      // The new password is checked within the counted attempt, so that one client cannot start many checks at once.
      const { cookies } = await withPassword(call, 'user.password', async () => {
        await requireGoodPassword('newPassword', body.newPassword, person);
        return callBetterAuth({
          currentPassword: body.password,
          newPassword: body.newPassword,
          revokeOtherSessions: true,
        });
      });
      // better-auth has replaced this session with a new one.
      const { sessionId } = await personOfCookies(context, cookies);
      if (signedIn(person).showedBothFactors) await keepBothFactors(context.database, sessionId);
      return { cookies };
    },
  }),
  signInRoute('/two-factor/enable', 'signed_in', {
    body: PASSWORD_ONLY,
    async handle(call) {
      await requireOtherProof(call.context, signedIn(call.person));
      // The second factor stays off until the person has entered a first code.
      const { body, cookies } = await withPassword(call, null, () => call.callBetterAuth(call.body));
      return { body: { uri: body['totpURI'], backupCodes: body['backupCodes'] }, cookies };
    },
  }),
  signInRoute('/two-factor/disable', 'signed_in', {
    // A stolen session plus the password must not be enough to remove the second factor.
    confirmed: true,
    body: PASSWORD_ONLY,
    async handle(call) {
      const { staff } = signedIn(call.person);
      if (staff !== null && (await isStaffTwoFactorRequired(call.context.database)))
        throw new ConsoleProblem('second_factor_required');
      const { cookies } = await withPassword(call, 'user.two_factor_turned_off', () =>
        call.callBetterAuth(call.body),
      );
      return { cookies };
    },
  }),
  signInRoute('/two-factor/generate-backup-codes', 'signed_in', {
    // Each backup code confirms a session.
    confirmed: true,
    body: PASSWORD_ONLY,
    async handle(call) {
      const { body, cookies } = await withPassword(call, 'user.backup_codes_replaced', () =>
        call.callBetterAuth(call.body),
      );
      return { body: { backupCodes: body['backupCodes'] }, cookies };
    },
  }),
  signInRoute('/two-factor/verify-totp', 'second_step', {
    body: CODE_ONLY,
    async handle(call) {
      const { context, person, callBetterAuth } = call;
      // A signed-in person may only turn the second factor on here: this path does not count their wrong codes.
      if (person?.hasTwoFactor) throw new ConsoleProblem('conflict');
      if (person !== null) await requireOtherProof(context, person);
      const code = typedCode(call.body.code);
      const answer = await (person === null
        ? takeSecondStep(call, 'code', () => callBetterAuth({ code }))
        : callBetterAuth({ code }));
      const { id } = answer.body['user'] as { id: string };
      const isFresh = await useTwoFactorCode(context.database, id, code);
      if (person === null) {
        if (!isFresh) await refuseUsedCode(call, answer);
        await recordSignIn(call, answer.cookies, 'code');
      } else await finishTwoFactorSetup(call, answer);
      return { cookies: answer.cookies };
    },
  }),
  signInRoute('/two-factor/verify-backup-code', 'second_step', {
    body: CODE_ONLY,
    async handle(call) {
      const { person, body, callBetterAuth } = call;
      if (person !== null) throw new ConsoleProblem('conflict');
      const { cookies } = await takeSecondStep(call, 'backup_code', () =>
        callBetterAuth({ code: body.code.trim() }),
      );
      await recordSignIn(call, cookies, 'backup_code');
      return { cookies };
    },
  }),
  signInRoute('/two-factor/confirm', 'signed_in', {
    body: CODE_ONLY,
    async handle(call) {
      const { context, body, callBetterAuth } = call;
      const person = signedIn(call.person);
      if (!person.hasTwoFactor) throw new ConsoleProblem('conflict');
      const code = typedCode(body.code);
      const isAppCode = /^[0-9]{6}$/.test(code);
      const proof = isAppCode ? 'code' : 'backup_code';
      await proveIdentity(call, codeTriesSubject(person.id), proof, async () => {
        if (!isAppCode) return callBetterAuth({ code: body.code.trim() }, '/two-factor/verify-backup-code');
        const answer = await callBetterAuth({ code }, '/two-factor/verify-totp');
        if (!(await useTwoFactorCode(context.database, person.id, code)))
          throw new ConsoleProblem('wrong_code');
        return answer;
      });
      await confirmCurrentSession(call, proof);
    },
  }),
  signInRoute('/confirm-password', 'signed_in', {
    body: PASSWORD_ONLY,
    async handle(call) {
      const person = signedIn(call.person);
      // Users with a second factor confirm with it.
      if (person.hasTwoFactor) throw new ConsoleProblem('conflict');
      await proveIdentity(call, person.email, 'password', () => call.checkPassword(call.body.password));
      await confirmCurrentSession(call, 'password');
    },
  }),
];

/** Requires a new password that is strong enough. @throws ConsoleProblem `invalid_input` that names `field` */
export async function requireGoodPassword(
  field: string,
  password: string,
  owner: { name: string; email: string } | null,
): Promise<void> {
  const { name, email } = owner ?? { name: '', email: '' };
  const fault = await judgePassword({ password, name, email });
  if (fault !== null) throw new ConsoleProblem('invalid_input', { errors: { [field]: fault } });
}

/** Removes the spaces that authenticator apps show. */
const typedCode = (typed: string): string => typed.replaceAll(/\s/g, '');

/** @throws ConsoleProblem `not_signed_in` for null */
export function signedIn(person: Person | null): Person {
  if (person === null) throw new ConsoleProblem('not_signed_in');
  return person;
}

export const actorOf = ({ id, email }: Person): Actor & { id: string } => ({ kind: 'user', id, name: email });

/**
 * Counts a sign-up before it validates anything, so that refused sign-ups cost almost nothing, even in large numbers. A sign-up that
 * creates no user is not counted.
 */
async function countSignUp(
  { context: { database }, clientAddress }: SignInCall<unknown>,
  email: string,
  signUp: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  const origin = { network: networkOf(clientAddress), mailDomain: mailDomainOf(email) };
  const exceeded = await limitSignUpCounts(origin.network, () => takeSignUp(database, origin));
  if (exceeded !== null)
    throw new ConsoleProblem(exceeded === 'tries' ? 'rate_limited' : 'too_many_sign_ups');
  try {
    return await signUp();
  } catch (error) {
    await returnSignUp(database, origin);
    throw error;
  }
}

/** Returns the request for a mailed link. @param page the page of the console that it opens */
export const linkRequest = (
  { context, clientAddress }: SignInCall<unknown>,
  { email, language }: { email: string; language: Locale },
  page: string,
) => ({
  email: email.toLowerCase(),
  language,
  network: networkOf(clientAddress),
  page: `${context.config.CONSOLE_URL}/${page}`,
});

/** Queues the mail with the link that confirms the address of a sign-up. Takes the same time for an address that is already registered. */
async function mailSignUp(
  call: SignInCall<unknown>,
  { password, ...person }: { name: string; email: string; language: Locale; password: string },
  invitation: string | undefined,
): Promise<AuthAnswer> {
  const { config, database } = call.context;
  const passwordHash = await limitedPasswordHasher.hash(password);
  const request = {
    ...linkRequest(call, person, 'confirm-sign-up'),
    ...(invitation !== undefined && { suffix: `.${invitation}` }),
  };
  await requestSignUp(database, config.SECRET_KEY, request, { ...person, passwordHash });
  return { body: { mailed: true }, cookies: [] };
}

/**
 * Returns whether a sign-up with this address and password is waiting for confirmation. It depends only on sign-ups, so the response is
 * the same whether or not a user has the address, and it always computes one hash, so that its duration is the same too.
 */
async function isOfPendingSignUp(
  { database }: ConsoleContext,
  email: string,
  password: string,
): Promise<boolean> {
  if (!(await sendsMail(database))) return false;
  const hash = await findPendingPasswordHash(database, email);
  if (hash !== null) return limitedPasswordHasher.verify({ hash, password });
  await limitedPasswordHasher.hash(password);
  return false;
}

/** Returns the registered domain of an e-mail address: its owner controls every name below it. */
function mailDomainOf(email: string): string {
  const host = email.slice(email.lastIndexOf('@') + 1);
  return getDomain(host) ?? host;
}

/**
 * Reserves one attempt of an e-mail address or a user, then checks a password or code. Only a wrong one uses up the attempt, so any number
 * of clients together gets only a few guesses at one user. Unregistered addresses have the same limit.
 *
 * @param key the key by which attempts are counted
 * @param onWrong adds a wrong password or code to the audit log
 * @throws ConsoleProblem `too_many_tries`, or what `judge` throws
 */
export async function limitTries<Answer>(
  { database }: Pick<ConsoleContext, 'database'>,
  key: string,
  onWrong: (isLastTry: boolean) => Promise<void>,
  judge: () => Promise<Answer>,
): Promise<Answer> {
  const tryNumber = await takeSignInTry(database, key);
  if (tryNumber === null) throw new ConsoleProblem('too_many_tries');
  try {
    const answer = await judge();
    await forgetSignInTries(database, key);
    return answer;
  } catch (error) {
    if (isWrongProof(error)) await onWrong(tryNumber === SIGN_IN_TRIES_MAX);
    else await returnSignInTry(database, key);
    throw error;
  }
}

const isWrongProof = (error: unknown): boolean =>
  error instanceof ConsoleProblem &&
  (error.code === 'wrong_credentials' ||
    error.code === 'wrong_code' ||
    error.more.errors?.['password'] === 'wrong');

/** Checks a signed-in user's password or code. */
async function proveIdentity<Answer>(
  { context: { database }, person, clientAddress }: SignInCall<unknown>,
  key: string,
  proof: Proof,
  judge: () => Promise<Answer>,
): Promise<Answer> {
  const actor = actorOf(signedIn(person));
  const onWrong = (): Promise<void> => logFailedConfirmation(database, actor, { proof, clientAddress });
  return limitTries({ database }, key, onWrong, judge);
}

/** Changes a signed-in user's own security settings after they entered their password. `change` is added to the audit log. */
async function withPassword(
  call: SignInCall<unknown>,
  change: OwnSecurityChange | null,
  apply: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  const person = signedIn(call.person);
  const answer = await proveIdentity(call, person.email, 'password', apply);
  if (change !== null) await logOwnSecurityChange(call.context.database, actorOf(person), change);
  return answer;
}

/** Checks the second step of a sign-in; better-auth counts its wrong codes. */
async function takeSecondStep(
  { context, clientAddress, pendingUser }: SignInCall<unknown>,
  proof: Proof,
  judge: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  try {
    return await judge();
  } catch (error) {
    const id = isWrongProof(error) ? await pendingUser() : null;
    if (id !== null) await logFailedSignIn(context.database, { id }, { proof, clientAddress });
    throw error;
  }
}

/** Returns the user of the session for which better-auth sets cookies, or null if it creates none. */
export function findPersonOfCookies(
  { identity }: ConsoleContext,
  cookies: readonly string[],
): Promise<Person | null> {
  return identity.personOf({ cookie: cookies.map((line) => line.split(';')[0]).join('; ') });
}

/** Returns the user of the new session for which better-auth sets cookies. */
export async function personOfCookies(context: ConsoleContext, cookies: readonly string[]): Promise<Person> {
  const person = await findPersonOfCookies(context, cookies);
  if (person === null) throw new Error('the sign-in created no session');
  return person;
}

/** Adds a sign-in to the audit log, and confirms its new session. */
export async function recordSignIn(
  { context, clientAddress }: SignInCall<unknown>,
  cookies: readonly string[],
  proof: Proof,
): Promise<void> {
  const person = await personOfCookies(context, cookies);
  await logSignIn(context.database, actorOf(person), person.sessionId, { proof, clientAddress });
}

/** Marks the session of this call as confirmed. */
export async function confirmCurrentSession(
  { context: { database }, person, clientAddress }: SignInCall<unknown>,
  proof: Proof,
): Promise<void> {
  const who = signedIn(person);
  await confirmSession(database, actorOf(who), who.sessionId, { proof, clientAddress });
}

/** Finishes turning the second factor on: ends the other sessions, which never used it, and confirms this browser's new one. */
async function finishTwoFactorSetup(call: SignInCall<unknown>, { cookies }: AuthAnswer): Promise<void> {
  const { context } = call;
  const person = await personOfCookies(context, cookies);
  await logOwnSecurityChange(context.database, actorOf(person), 'user.two_factor_turned_on');
  await endOtherSessions(context.database, actorOf(person), person.sessionId);
  await confirmCurrentSession({ ...call, person }, 'code');
}

/** Ends the session that the browser had before this sign-in. */
export async function endPreviousSession({ database }: ConsoleContext, person: Person | null): Promise<void> {
  if (person !== null) await endSession(database, person.sessionId);
}

/** Ends the session that better-auth created for a code that was used before. @throws ConsoleProblem `wrong_code` */
async function refuseUsedCode(
  { context, clientAddress }: SignInCall<unknown>,
  { cookies }: AuthAnswer,
): Promise<never> {
  const { id, sessionId } = await personOfCookies(context, cookies);
  await endSession(context.database, sessionId);
  await logFailedSignIn(context.database, { id }, { proof: 'code', clientAddress });
  throw new ConsoleProblem('wrong_code');
}
