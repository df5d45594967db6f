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
    const form = await readForm(request);
    if (!form) return new Response('This form is too long.', { status: 413 });
    const jar = await cookies();
    const session = findSession(jar.get(COOKIE_NAME)?.value);
    if (!session || form.get('csrf') !== session.csrf)
      return new Response('This form is too old. Go back and reload the page.', { status: 403 });
    const replacement = await act(session, form);
    if (replacement) jar.set(COOKIE_NAME, replacement.id, COOKIE_OPTIONS);
    return new Response(null, { status: 303, headers: { location: '/' } });
  };
}

/** @returns undefined when the form is too long; it may have come in chunks, which do not say how long they are together */
async function readForm({ body }: Request): Promise<URLSearchParams | undefined> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return new URLSearchParams(text);
    bytes += value.byteLength;
    if (bytes > FORM_BYTES_MAX) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
