import { newId } from '@onecode/store/client';
import type { ConsoleEnvironment } from './console.js';
import {
  callConsole,
  cookieOf,
  fromNewAddress,
  inSession,
  PASSWORD,
  person,
  type Answer,
  type TestPerson,
} from './people.js';
import { codeOf } from './totp.js';

/** A user with a second factor, in the session that turned it on. */
export interface Protected {
  who: TestPerson;
  /** For `codeOf`. The code of half a minute ago is used up. */
  uri: string;
  backupCodes: string[];
}

/** Signs up a user who turns the second factor on. */
export async function withTwoFactor(
  server: ConsoleEnvironment,
  roles: Parameters<typeof person>[1] = {},
): Promise<Protected> {
  return turnOn(server, await person(server, roles));
}

/** Turns on a user's second factor. */
export async function turnOn(server: ConsoleEnvironment, who: TestPerson): Promise<Protected> {
  const headers = fromNewAddress();
  const begun = await who.call('POST', '/auth/two-factor/enable', { password: PASSWORD }, headers);
  const { uri, backupCodes } = begun.body;
  // An earlier code, which is still valid, so that the current one is not used up.
  const verify = () => who.call('POST', '/auth/two-factor/verify-totp', { code: codeOf(uri, -1) }, headers);
  let on = await verify();
  // A new half-minute began between the code and its check.
  if (on.status === 401) on = await verify();
  if (on.status !== 204) throw new Error(`turning the second factor on answered ${on.status}`);
  const cookie = cookieOf(on);
  const { csrfToken } = (await callConsole(server, 'GET', '/session', { headers: { cookie } })).body;
  return { who: inSession(server, who, { cookie, csrfToken }), uri, backupCodes };
}

/** Signs a user in once more, with the code of their second factor if one is given. @returns the user in the new session */
export async function signInAgain(
  server: ConsoleEnvironment,
  who: TestPerson,
  second?: { uri: string },
): Promise<TestPerson> {
  const post = (path: string, body: object, cookie = ''): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, { body, headers: { cookie, ...fromNewAddress() } });
  let answer = await post('/sign-in/email', { email: who.email, password: PASSWORD });
  if (second !== undefined)
    answer = await post('/two-factor/verify-totp', { code: codeOf(second.uri) }, cookieOf(answer));
  const cookie = cookieOf(answer);
  const { csrfToken } = (await callConsole(server, 'GET', '/session', { headers: { cookie } })).body;
  return inSession(server, who, { cookie, csrfToken });
}

/** Adds a passkey without an authenticator to a user. @returns its id */
export async function givePasskey(
  { db }: ConsoleEnvironment,
  { id }: TestPerson,
  name = 'Key',
): Promise<string> {
  const passkey = newId();
  await db.sql(
    `insert into user_passkeys (id, user_id, name, credential_id, public_key, counter, device_type, backed_up)
     values ($1, $2, $3, $1::uuid::text, 'key', 0, 'singleDevice', false)`,
    [passkey, id, name],
  );
  return passkey;
}

/** Makes the confirmations of a user's sessions this old. */
export const letConfirmationPass = (
  server: ConsoleEnvironment,
  { id }: TestPerson,
  minutes = 11,
): Promise<unknown> =>
  server.db.sql(
    'update user_sessions set confirmed_at = now() - make_interval(mins => $1) where user_id = $2',
    [minutes, id],
  );
