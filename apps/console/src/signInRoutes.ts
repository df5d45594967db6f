import { getDomain } from 'tldts';
import { Type, type Static, type TSchema } from 'typebox';
import {
  endSession,
  forgetSignInTries,
  noteOwnSecurityChange,
  returnSignInTry,
  returnSignUp,
  SIGN_UP_TRIES_MAX,
  takeSignInTry,
  takeSignUp,
  useTwoFactorCode,
  type OwnSecurityChange,
} from '@onecode/store';
import type { AuthAnswer } from './betterAuth.js';
import { networkOf } from './clientAddress.js';
import type { ConsoleContext } from './context.js';
import { fairTurns } from './fairTurns.js';
import { emailField, languageField, nameField } from './fields.js';
import type { Person } from './identity.js';
import { judgePassword } from './judgePassword.js';
import { signUpInTurn } from './passwordsInTurn.js';
import { ConsoleProblem } from './problem.js';

/** What a handler gets. */
export interface SignInCall<B> {
  context: ConsoleContext;
  /** Whoever is signed in already. */
  person: Person | null;
  body: B;
  clientAddress: string;
  /** Asks better-auth at the route's own path. */
  ask: (body: object) => Promise<AuthAnswer>;
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
  body: TSchema;
  handle(call: SignInCall<never>): Promise<SignInAnswer>;
}

function signInRoute<B extends TSchema>(definition: {
  path: string;
  access: SignInRoute['access'];
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

/** The routes of better-auth that the pages use, below `/api/auth`. */
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
      await endFormer(context, person);
      return { cookies };
    },
  }),
  signInRoute({
    path: '/sign-in/email',
    access: 'anyone',
    body: Type.Object({ email: emailField, password: PASSWORD }, STRICT),
    async handle({ context, person, body, ask }) {
      const email = body.email.toLowerCase();
      const { body: answer, cookies } = await judged(context, email, () =>
        ask({ email, password: body.password }),
      );
      await endFormer(context, person);
      return { body: { secondStep: answer['twoFactorRedirect'] === true }, cookies };
    },
  }),
  signInRoute({
    path: '/sign-out',
    access: 'signed_in',
    body: Type.Object({}, STRICT),
    async handle({ ask }) {
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
    body: PASSWORD_ONLY,
    async handle(call) {
      const { cookies } = await withPassword(call, 'user.two_factor_turned_off', () => call.ask(call.body));
      return { cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/generate-backup-codes',
    access: 'signed_in',
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
    async handle({ context, person, body, ask }) {
      const code = body.code.replaceAll(/\s/g, '');
      const answer = await ask({ code });
      const { id } = answer.body['user'] as { id: string };
      const isFresh = await useTwoFactorCode(context.database, id, code);
      if (person === null) {
        if (!isFresh) await refuseUsedCode(context, answer);
      } else if (!person.hasTwoFactor) await note(context, person, 'user.two_factor_turned_on');
      return { cookies: answer.cookies };
    },
  }),
  signInRoute({
    path: '/two-factor/verify-backup-code',
    access: 'second_step',
    body: CODE_ONLY,
    async handle({ body, ask }) {
      const { cookies } = await ask({ code: body.code.trim() });
      return { cookies };
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
 * Lets a password be judged if its e-mail address has a try left. Wrong ones keep theirs, so that no number of clients gets more
 * than a handful of guesses at one person; the same goes for an address that nobody has.
 */
async function judged(
  { database }: ConsoleContext,
  email: string,
  judge: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  if (!(await takeSignInTry(database, email))) throw new ConsoleProblem('too_many_tries');
  try {
    const answer = await judge();
    await forgetSignInTries(database, email);
    return answer;
  } catch (error) {
    if (!isWrongPassword(error)) await returnSignInTry(database, email);
    throw error;
  }
}

const isWrongPassword = (error: unknown): boolean =>
  error instanceof ConsoleProblem &&
  (error.code === 'wrong_credentials' || error.more.errors?.['password'] === 'wrong');

/** A change of a signed-in person's own security, for which they give their password. */
async function withPassword(
  { context, person }: SignInCall<unknown>,
  change: OwnSecurityChange | null,
  judge: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  if (person === null) throw new ConsoleProblem('not_signed_in');
  const answer = await judged(context, person.email, judge);
  if (change !== null) await note(context, person, change);
  return answer;
}

async function note({ database }: ConsoleContext, person: Person, change: OwnSecurityChange): Promise<void> {
  await noteOwnSecurityChange(database, { kind: 'user', id: person.id, name: person.email }, change);
}

/** Whoever signs in leaves the session that their browser had before. */
async function endFormer({ database }: ConsoleContext, person: Person | null): Promise<void> {
  if (person !== null) await endSession(database, person.sessionId);
}

/** Ends the session that a code began which had begun one before. @throws ConsoleProblem `wrong_code` */
async function refuseUsedCode(
  { database, identity }: ConsoleContext,
  { cookies }: AuthAnswer,
): Promise<never> {
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
  const begun = await identity.personOf({ cookie });
  if (begun !== null) await endSession(database, begun.sessionId);
  throw new ConsoleProblem('wrong_code');
}
