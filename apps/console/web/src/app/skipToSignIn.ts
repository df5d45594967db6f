/** Paths of pages for signed-in users. */
const PRIVATE = /^\/(?:$|profile$|accounts\/|staff\/)/;

/**
 * If the server saw no cookie, replaces the URL with the sign-in page's before the router reads it. Otherwise the code and the texts of
 * the other pages would be loaded first.
 */
export function skipToSignIn(): void {
  const session = document.querySelector<HTMLMetaElement>('meta[name=session]')?.content;
  const { pathname, search } = window.location;
  if (session !== 'none' || !PRIVATE.test(pathname)) return;
  // The router's location state, see `SignedIn`.
  window.history.replaceState({ usr: { from: pathname + search } }, '', '/sign-in');
}
