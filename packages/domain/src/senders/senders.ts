/** Messages per second that the provider accepts from one number: initially 80, up to 1,000 on request. */
export const SENDER_THROUGHPUT = { min: 1, max: 1_000, initial: 80 } as const;

/** The default authentication template of a sender. */
export const SENDER_TEMPLATE_INITIAL = 'verification_code';

/** The formats of a sender's fields, as operators enter them. */
export const SENDER_PATTERNS = {
  phoneNumberId: /^[0-9]{1,32}$/,
  businessAccountId: /^[0-9]{1,32}$/,
  template: /^[a-z0-9_]{1,512}$/,
  /** The secret of a Meta app, as its settings show it. */
  appSecret: /^[0-9a-f]{32}$/,
} as const;

/**
 * The form of a provider's access token: the characters of a bearer token (RFC 6750, 2.1), and the vertical bar, which an app's own token
 * contains. Quotes, brackets and commas are excluded: they get into a token by mistake, when the surrounding text is copied.
 */
export const ACCESS_TOKEN = /^(?=.{1,4096}$)[A-Za-z0-9._~+/|-]+=*$/;
