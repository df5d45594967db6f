import 'server-only';
import { cookies } from 'next/headers';
import { findSession, type Session } from './sessions';
import { COOKIE_NAME, COOKIE_OPTIONS } from './sessionCookie';

const FORM_BYTES_MAX = 4096;

/** @returns a new session in the place of the one that the form came from, if it gets one */
type Action = (session: Session, form: URLSearchParams) => Promise<Session | void> | Session | void;

/** A route for one of the page's forms: checks the session's token, acts, and goes back to the page. */
export function formRoute(act: Action): (request: Request) => Promise<Response> {
  return async (request) => {
    // A form says how long it is, and Node reads no more than that.
    if (!(Number(request.headers.get('content-length') ?? Infinity) <= FORM_BYTES_MAX))
      return new Response('This form is too long.', { status: 413 });
    const form = new URLSearchParams(await request.text());
    const jar = await cookies();
    const session = findSession(jar.get(COOKIE_NAME)?.value);
    if (!session || form.get('csrf') !== session.csrf)
      return new Response('This form is too old. Go back and reload the page.', { status: 403 });
    const replacement = await act(session, form);
    if (replacement) jar.set(COOKIE_NAME, replacement.id, COOKIE_OPTIONS);
    return new Response(null, { status: 303, headers: { location: '/' } });
  };
}
