import { noteMailSender } from '@onecode/store/mails';
import type { ConsoleEnvironment } from '../console.js';
import {
  callConsole,
  cookieOf,
  fromNewAddress,
  inSession,
  PASSWORD,
  type Answer,
  type TestPerson,
} from '../people.js';

let strangers = 0;

/** Requests a route of the sign-in from an unused client address. */
export const postFromNewAddress = (
  server: ConsoleEnvironment,
  path: string,
  body: object,
  cookie = '',
): Promise<Answer> =>
  callConsole(server, 'POST', `/auth${path}`, { body, headers: { cookie, ...fromNewAddress() } });

/** Signs up a stranger with the address of another person, as is possible without mail. */
export async function stranger(server: ConsoleEnvironment): Promise<TestPerson> {
  strangers += 1;
  const email = `colleague${strangers}@example.com`;
  const body = { name: 'A stranger', email, password: PASSWORD, language: 'en' };
  const cookie = cookieOf(await postFromNewAddress(server, '/sign-up/email', body));
  const { user, csrfToken } = (await callConsole(server, 'GET', '/session', { headers: { cookie } })).body;
  return inSession(server, user, { cookie, csrfToken });
}

/** Returns the passkeys of a user. */
export const passkeysOf = ({ db }: ConsoleEnvironment, { id }: TestPerson): Promise<object[]> =>
  db.sql('select from user_passkeys where user_id = $1', [id]);

/** Runs `use` while the console can send mail. */
export async function withMail({ db }: ConsoleEnvironment, use: () => Promise<void>): Promise<void> {
  await noteMailSender(db.database, 'codes@onecode.example');
  try {
    await use();
  } finally {
    await noteMailSender(db.database, null);
  }
}
