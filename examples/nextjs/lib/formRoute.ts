import 'server-only';
import { cookies } from 'next/headers';
import { findSession, type Session } from './sessions';
import { COOKIE_NAME, COOKIE_OPTIONS } from './sessionCookie';

const FORM_BYTES_MAX = 4096;

/** @returns a session that starts with this form */
type Action = (
  session: Session | undefined,
  form: URLSearchParams,
) => Promise<Session | void> | Session | void;

/**
 * Creates a route for one of the page's forms: checks that the form is from this site, calls `act`, and redirects to the page. Only a new
 * session sets the cookie: a late response must not overwrite the cookie of the sign-in.
 */
export function formRoute(act: Action): (request: Request) => Promise<Response> {
  return async (request) => {
    if (!isOfThisSite(request.headers))
      return new Response('This form is not from this site.', { status: 403 });
    const form = await readForm(request);
    if (!form) return new Response('This form is too long.', { status: 413 });
    const jar = await cookies();
    const begun = await act(findSession(jar.get(COOKIE_NAME)?.value), form);
    if (begun) jar.set(COOKIE_NAME, begun.id, COOKIE_OPTIONS);
    return new Response(null, { status: 303, headers: { location: '/' } });
  };
}

/** All browsers send a form's `Origin`. Newer ones also send `Sec-Fetch-Site`, which works behind any proxy. */
function isOfThisSite(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return headers.get('origin')?.replace(/^https?:\/\//, '') === headers.get('host');
}

/** @returns undefined if the form is too long; a form in chunks does not announce its length */
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
