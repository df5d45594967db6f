/**
 * The form of a provider's access token: the characters of a bearer token (RFC 6750, 2.1), and the vertical bar, which an app's own token
 * contains. Quotes, brackets and commas are excluded: they get into a token by mistake, when the surrounding text is copied.
 */
export const ACCESS_TOKEN = /^(?=.{1,4096}$)[A-Za-z0-9._~+/|-]+=*$/;
