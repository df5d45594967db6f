import { getDomain } from 'tldts';
import { Type, type Static, type TSchema } from 'typebox';
import {
  confirmSession,
  endOtherSessions,
  endSession,
  forgetSignInTries,
  isStaffTwoFactorRequired,
  noteFailedConfirmation,
  noteFailedSignIn,
  noteOwnSecurityChange,
  noteSignIn,
  noteSignOut,
  returnSignInTry,
  returnSignUp,
  SIGN_IN_TRIES_MAX,
  SIGN_UP_TRIES_MAX,
  takeSignInTry,
  takeSignUp,
  triesOfCodes,
  useTwoFactorCode,
  type Actor,
  type OwnSecurityChange,
  type Proof,
} from '@onecode/store';
import type { AuthAnswer } from './betterAuth.js';
import { networkOf } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { fairTurns } from '../http/limiters.js';
import { emailField, languageField, nameField } from '../http/fields.js';
import type { Person } from './identity.js';
import { judgePassword } from './judgePassword.js';
import { signUpInTurn } from './passwords.js';
import { ConsoleProblem } from '../http/problem.js';

/** What a handler gets. */
export interface SignInCall<B> {
  context: ConsoleContext;
  /** Whoever is signed in already. */
  person: Person | null;
  clientAddress: string;
  body: B;
  /** Asks better-auth, at the route's own path unless another one is given. */
  ask: (body: object, path?: string) => Promise<AuthAnswer>;
  /** @throws ConsoleProblem for a password that is not the signed-in person's */
  askForPassword: (password: string) => Promise<void>;
  /** Whoever took the first step in this browser, by id. */
  pendingUser: () => Promise<string | null>;
}

/** What goes to the pages: 204 without a body. */
interface SignInAnswer {
  body?: object;
  cookies: readonly string[];
}

export interface SignInRoute {
  path: string;
  /** The second step is taken by somebody whose password was right, or to turn the second factor on, by somebody signed in. */
  access: 'anyone' | 'second_step' | 'signed_in';
  /** Whether the person must have shown within the last ten minutes, in this session, that it is them. */
  confirmed?: true;
  body: TSchema;
  handle(call: SignInCall<never>): Promise<SignInAnswer>;
}

function signInRoute<B extends TSchema>(definition: {
  path: string;
  access: SignInRoute['access'];
  confirmed?: true;
  body: B;
  handle(call: SignInCall<Static<B>>): Promise<SignInAnswer>;
}): SignInRoute {
  return definition;
}

/** Those of one network wait for one row, each with a connection: no more wait than may be taken in an hour. */
const countInTurn = fairTurns({ atOnce: 2, atOnceEach: 1, waitingEachMax: SIGN_UP_TRIES_MAX });

const STRICT = { additionalProperties: false };
/** Long enough for any password that somebody may have; how good a new one is, is judged apart. */
const PASSWORD = Type.String({ minLength: 1, maxLength: 500 });
const PASSWORD_ONLY = Type.Object({ password: PASSWORD }, STRICT);
const CODE_ONLY = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) }, STRICT);

/** The routes of better-auth that the pages use, and those that confirm a session, below `/api/auth`. */
export const SIGN_IN_ROUTES: readonly SignInRoute[] = [
  signInRoute({
    path: '/sign-up/email',
    access: 'anyone',
    body: Type.Object(
      { name: nameField(200), email: emailField, password: PASSWORD, language: languageField },
      STRICT,
    ),
    async handle(call) {
      const { context, person, body, ask } = call;
      const { password, language } = body;
      const wanted = { name: body.name.trim(), email: body.email.toLowerCase() };
      const { cookies } = await counted(call, wanted.email, async () => {
        await requireGoodPassword('password', password, wanted);
        return signUpInTurn(() => ask({ ...wanted, password, language }));
      });
      await begin(call, cookies, 'password');
      await endFormer(context, person);
      return { cookies };
    },
  }),
  signInRoute({
    path: '/sign-in/email',
    access: 'anyone',
    body: Type.Object({ email: emailField, password: PASSWORD }, STRICT),
    async handle(call) {
      const { context, person, body, clientAddress } = call;
      const email = body.email.toLowerCase();
      const refused = (isLastTry: boolean): Promise<void> =>
        noteFailedSignIn(context.database, { email }, { proof: 'password', clientAddress, isLastTry });
      const { body: answer, cookies } = await judged(context, email, refused, () =>
        call.ask({ email, password: body.password }),
      );
      const isHalfWay = answer['twoFactorRedirect'] === true;
      if (!isHalfWay) await begin(call, cookies, 'password');
      await endFormer(context, person);
      return { body: { secondStep: isHalfWay }, cookies };
    },
  }),
  signInRoute({
    path: '/sign-out',
    access: 'signed_in',
    body: Type.Object({}, STRICT),
    async handle({ context, person, ask }) {
      await noteSignOut(context.database, actorOf(signedIn(person)));
      const { cookies } = await ask({});
      return { cookies };
    },
  }),
  signInRoute({
    path: '/change-password',
    access: 'signed_in',
    body: Type.Object({ password: PASSWORD, newPassword: PASSWORD }, STRICT),
    async handle(call) {
      const { body, person, ask } = call;
      // Judged within the try that is taken first: nobody has more than a handful judged at once.
      const { cookies } = await withPassword(call, 'user.password', async () => {
        await requireGoodPassword('newPassword', body.newPassword, person);
        return ask({
          currentPassword: body.password,
          newPassword: body.newPassword,
          revokeOtherSessions: true,
        });
      });
      return { cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/enable',
    access: 'signed_in',
    body: PASSWORD_ONLY,
    async handle(call) {
      // Nothing is turned on before a code was given back.
      const { body, cookies } = await withPassword(call, null, () => call.ask(call.body));
      return { body: { uri: body['totpURI'], backupCodes: body['backupCodes'] }, cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/disable',
    access: 'signed_in',
    // With the password alone, whoever has it and a session could take away what else they would be asked for.
    confirmed: true,
    body: PASSWORD_ONLY,
    async handle(call) {
      const { staff } = signedIn(call.person);
      if (staff !== null && (await isStaffTwoFactorRequired(call.context.database)))
        throw new ConsoleProblem('second_factor_required');
      const { cookies } = await withPassword(call, 'user.two_factor_turned_off', () => call.ask(call.body));
      return { cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/generate-backup-codes',
    access: 'signed_in',
    // Each of them confirms a session.
    confirmed: true,
    body: PASSWORD_ONLY,
    async handle(call) {
      const { body, cookies } = await withPassword(call, 'user.backup_codes_replaced', () =>
        call.ask(call.body),
      );
      return { body: { backupCodes: body['backupCodes'] }, cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/verify-totp',
    access: 'second_step',
    body: CODE_ONLY,
    async handle(call) {
      const { context, person, ask } = call;
      // Signed in, a code is for turning the second factor on; elsewhere its guesses would not be counted.
      if (person?.hasTwoFactor) throw new ConsoleProblem('conflict');
      const code = typedCode(call.body.code);
      const answer = await (person === null ? secondStep(call, 'code', () => ask({ code })) : ask({ code }));
      const { id } = answer.body['user'] as { id: string };
      const isFresh = await useTwoFactorCode(context.database, id, code);
      if (person === null) {
        if (!isFresh) await refuseUsedCode(call, answer);
        await begin(call, answer.cookies, 'code');
      } else await turnedOn(call, answer);
      return { cookies: answer.cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/verify-backup-code',
    access: 'second_step',
    body: CODE_ONLY,
    async handle(call) {
      const { person, body, ask } = call;
      if (person !== null) throw new ConsoleProblem('conflict');
      const { cookies } = await secondStep(call, 'backup_code', () => ask({ code: body.code.trim() }));
      await begin(call, cookies, 'backup_code');
      return { cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/confirm',
    access: 'signed_in',
    body: CODE_ONLY,
    async handle(call) {
      const { context, body, ask } = call;
      const person = signedIn(call.person);
      if (!person.hasTwoFactor) throw new ConsoleProblem('conflict');
      const code = typedCode(body.code);
      const isOfApp = /^[0-9]{6}$/.test(code);
      const proof = isOfApp ? 'code' : 'backup_code';
      await proved(call, triesOfCodes(person.id), proof, async () => {
        if (!isOfApp) return ask({ code: body.code.trim() }, '/two-factor/verify-backup-code');
        const answer = await ask({ code }, '/two-factor/verify-totp');
        if (!(await useTwoFactorCode(context.database, person.id, code)))
          throw new ConsoleProblem('wrong_code');
        return answer;
      });
      await confirm(call, proof);
      return { cookies: [] };
    },
  }),
  signInRoute({
    path: '/confirm-password',
    access: 'signed_in',
    body: PASSWORD_ONLY,
    async handle(call) {
      const person = signedIn(call.person);
      // Whoever has a second factor shows that.
      if (person.hasTwoFactor) throw new ConsoleProblem('conflict');
      await proved(call, person.email, 'password', () => call.askForPassword(call.body.password));
      await confirm(call, 'password');
      return { cookies: [] };
    },
  }),
];

/** @throws ConsoleProblem `invalid_input` at this field */
async function requireGoodPassword(
  field: string,
  password: string,
  owner: { name: string; email: string } | null,
): Promise<void> {
  const { name, email } = owner ?? { name: '', email: '' };
  const fault = await judgePassword({ password, name, email });
  if (fault !== null) throw new ConsoleProblem('invalid_input', { errors: { [field]: fault } });
}

const typedCode = (typed: string): string => typed.replaceAll(/\s/g, '');

/** Whoever is signed in, on a route for nobody else. */
function signedIn(person: Person | null): Person {
  if (person === null) throw new ConsoleProblem('not_signed_in');
  return person;
}

const actorOf = ({ id, email }: Person): Actor & { id: string } => ({ kind: 'user', id, name: email });

/**
 * Counts a sign-up before anything of it is judged, so that those which are refused cost next to nothing, however many come at once.
 * One that makes nobody gives its place back.
 */
async function counted(
  { context: { database }, clientAddress }: SignInCall<unknown>,
  email: string,
  signUp: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  const origin = { network: networkOf(clientAddress), mailDomain: mailDomainOf(email) };
  const lacking = await countInTurn(origin.network, () => takeSignUp(database, origin));
  if (lacking !== null) throw new ConsoleProblem(lacking === 'tries' ? 'rate_limited' : 'too_many_sign_ups');
  try {
    return await signUp();
  } catch (error) {
    await returnSignUp(database, origin);
    throw error;
  }
}

/** The domain that somebody registered: whoever has one has all names below it. */
function mailDomainOf(email: string): string {
  const host = email.slice(email.lastIndexOf('@') + 1);
  return getDomain(host) ?? host;
}

/**
 * Lets a password or code be judged if its e-mail address, or person, has a try left. Wrong ones keep theirs, so that no number of
 * clients gets more than a handful of guesses at one person; the same goes for an address that nobody has.
 *
 * @param refused puts a wrong one into the audit log
 */
async function judged<Answer>(
  { database }: Pick<ConsoleContext, 'database'>,
  whose: string,
  refused: (isLastTry: boolean) => Promise<void>,
  judge: () => Promise<Answer>,
): Promise<Answer> {
  const which = await takeSignInTry(database, whose);
  if (which === null) throw new ConsoleProblem('too_many_tries');
  try {
    const answer = await judge();
    await forgetSignInTries(database, whose);
    return answer;
  } catch (error) {
    if (isWrongProof(error)) await refused(which === SIGN_IN_TRIES_MAX);
    else await returnSignInTry(database, whose);
    throw error;
  }
}

const isWrongProof = (error: unknown): boolean =>
  error instanceof ConsoleProblem &&
  (error.code === 'wrong_credentials' ||
    error.code === 'wrong_code' ||
    error.more.errors?.['password'] === 'wrong');

/** Something by which a signed-in person shows again that it is them. */
async function proved<Answer>(
  { context: { database }, person, clientAddress }: SignInCall<unknown>,
  whose: string,
  proof: Proof,
  judge: () => Promise<Answer>,
): Promise<Answer> {
  const actor = actorOf(signedIn(person));
  const refused = (): Promise<void> => noteFailedConfirmation(database, actor, { proof, clientAddress });
  return judged({ database }, whose, refused, judge);
}

/** A change of a signed-in person's own security, for which they give their password. */
async function withPassword(
  call: SignInCall<unknown>,
  change: OwnSecurityChange | null,
  judge: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  const person = signedIn(call.person);
  const answer = await proved(call, person.email, 'password', judge);
  if (change !== null) await noteOwnSecurityChange(call.context.database, actorOf(person), change);
  return answer;
}

/** The second step of a sign-in; better-auth counts its wrong codes. */
async function secondStep(
  { context, clientAddress, pendingUser }: SignInCall<unknown>,
  proof: Proof,
  judge: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  try {
    return await judge();
  } catch (error) {
    const id = isWrongProof(error) ? await pendingUser() : null;
    if (id !== null) await noteFailedSignIn(context.database, { id }, { proof, clientAddress });
    throw error;
  }
}

/** The session that an answer of better-auth's began, by the cookies that it sets. */
async function begunBy({ identity }: ConsoleContext, cookies: readonly string[]): Promise<Person> {
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
  const begun = await identity.personOf({ cookie });
  if (begun === null) throw new Error('the sign-in began no session');
  return begun;
}

/** Puts a new session into the audit log, and confirms it. */
async function begin(
  { context, clientAddress }: SignInCall<unknown>,
  cookies: readonly string[],
  proof: Proof,
): Promise<void> {
  const begun = await begunBy(context, cookies);
  await noteSignIn(context.database, actorOf(begun), begun.sessionId, { proof, clientAddress });
}

/** Marks the present session as confirmed. */
async function confirm(
  { context: { database }, person, clientAddress }: SignInCall<unknown>,
  proof: Proof,
): Promise<void> {
  const who = signedIn(person);
  await confirmSession(database, actorOf(who), who.sessionId, { proof, clientAddress });
}

/** Somebody has a second factor from now on: sessions that never showed it end, and the new one of this browser has. */
async function turnedOn(call: SignInCall<unknown>, { cookies }: AuthAnswer): Promise<void> {
  const { context } = call;
  const person = await begunBy(context, cookies);
  await noteOwnSecurityChange(context.database, actorOf(person), 'user.two_factor_turned_on');
  await endOtherSessions(context.database, actorOf(person), person.sessionId);
  await confirm({ ...call, person }, 'code');
}

/** Whoever signs in leaves the session that their browser had before. */
async function endFormer({ database }: ConsoleContext, person: Person | null): Promise<void> {
  if (person !== null) await endSession(database, person.sessionId);
}

/** Ends the session that a code began which had begun one before. @throws ConsoleProblem `wrong_code` */
async function refuseUsedCode(
  { context, clientAddress }: SignInCall<unknown>,
  { cookies }: AuthAnswer,
): Promise<never> {
  const { id, sessionId } = await begunBy(context, cookies);
  await endSession(context.database, sessionId);
  await noteFailedSignIn(context.database, { id }, { proof: 'code', clientAddress });
  throw new ConsoleProblem('wrong_code');
}
