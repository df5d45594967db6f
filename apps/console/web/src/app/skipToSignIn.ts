/** Paths of pages for signed-in users. */
const PRIVATE = /^\/(?:$|profile$|accounts\/|staff\/)/;

/**
 * Replaces the address by the sign-in page's where the server saw no cookie, before the router reads it: the code and the texts of the other
 * pages would be loaded to find that out.
 */
export function skipToSignIn(): void {
  const session = document.querySelector<HTMLMetaElement>('meta[name=session]')?.content;
  const { pathname, search } = window.location;
  if (session !== 'none' || !PRIVATE.test(pathname)) return;
  // What the router keeps of a location, see `SignedIn`.
  window.history.replaceState({ usr: { from: pathname + search } }, '', '/sign-in');
}
