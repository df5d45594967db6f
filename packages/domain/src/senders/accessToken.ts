/**
 * The form of a provider's access token: what a bearer token may hold (RFC 6750, 2.1), and the bar of an app's own token. Quotes, brackets
 * and commas are none of it: they were around it where it was copied.
 */
export const ACCESS_TOKEN = /^(?=.{1,4096}$)[A-Za-z0-9._~+/|-]+=*$/;
