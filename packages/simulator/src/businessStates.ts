import { id, integer, oneOf, orNull, text, yesOrNo, type Member, type ValuesOf } from './input.js';

/** Meta's state of a number, in Meta's words. */
export const SENDER = {
  /** Digits without `+`. */
  displayPhoneNumber: text(/^\d{7,15}$/, '7 to 15 digits'),
  /** The WhatsApp Business account that owns it. */
  wabaId: id,
  status: oneOf(
    'CONNECTED',
    'RESTRICTED',
    'RATE_LIMITED',
    'BANNED',
    'PENDING',
    'UNVERIFIED',
    'DISCONNECTED',
    'MIGRATED',
    'DELETED',
  ),
  qualityRating: oneOf('GREEN', 'YELLOW', 'RED', 'UNKNOWN', 'NA'),
  throughputLevel: oneOf('STANDARD', 'HIGH', 'NOT_APPLICABLE'),
  /** Whether it is also in the WhatsApp Business app. */
  isOnBusinessApp: yesOrNo,
  /** Whether webhooks contain the identity hash of the phone's owner. */
  identityKeyCheck: yesOrNo,
  verifiedName: text(/^[^\p{Cc}]{1,100}$/u, 'a name of up to 100 characters'),
  /** Whether the owner has entered the code that Meta sent by SMS or voice. */
  codeVerificationStatus: oneOf('VERIFIED', 'NOT_VERIFIED', 'EXPIRED'),
  /** Whether it is registered with the Cloud API. Without it, sends are refused with 133010, whatever the status is. */
  registered: yesOrNo,
  /** The two-step PIN; `null` until the first registration sets it. */
  pin: orNull(text(/^\d{6}$/, 'six digits')),
};
export type SenderState = ValuesOf<typeof SENDER>;
export type SenderProfile = SenderState & { phoneNumberId: string };

/** Meta's state of a WhatsApp Business account. */
export const ACCOUNT = {
  /** `restricted`: refuses sends with 368; `disabled`: with 131031; `payment_issue`: with 131042. */
  condition: oneOf('active', 'restricted', 'disabled', 'payment_issue'),
  accountReviewStatus: oneOf('APPROVED', 'PENDING', 'REJECTED'),
  /** Whether the app gets this account's webhooks; read as `subscribed_apps`. */
  subscribed: yesOrNo,
  /** Whether it has only those numbers and templates that were created or changed here. */
  startsEmpty: yesOrNo,
};
export type BusinessAccountState = ValuesOf<typeof ACCOUNT>;
export type BusinessAccountProfile = BusinessAccountState & { id: string };
export const ACCOUNT_DEFAULTS: BusinessAccountState = {
  condition: 'active',
  accountReviewStatus: 'APPROVED',
  subscribed: true,
  startsEmpty: false,
};

/** Meta's state of one language of a message template. */
export const TEMPLATE = {
  status: oneOf(
    'APPROVED',
    'PENDING',
    'REJECTED',
    'PAUSED',
    'DISABLED',
    'ARCHIVED',
    'IN_APPEAL',
    'PENDING_DELETION',
    'DELETED',
    'LIMIT_EXCEEDED',
  ),
  category: oneOf('AUTHENTICATION', 'MARKETING', 'UTILITY'),
  quality: oneOf('GREEN', 'YELLOW', 'RED', 'UNKNOWN'),
  /** `NONE` unless Meta rejected it. */
  rejectedReason: text(/^[A-Z_]{1,64}$/, 'a reason as Meta writes it'),
  /** Seconds after which Meta stops trying to deliver; `null` is Meta's default: ten minutes, or 30 days for older templates. */
  ttlSeconds: orNull(integer(-1, 43_200)),
  /** The code's validity in the footer; `null` for no footer. */
  codeExpirationMinutes: orNull(integer(1, 90)),
  /** The button of a one-time code; `null` for none. */
  otpType: oneOf('COPY_CODE', 'ONE_TAP', 'ZERO_TAP', null),
};
export type TemplateState = ValuesOf<typeof TEMPLATE>;
export interface TemplateKey {
  wabaId: string;
  name: string;
  /** Meta's form, `pt_BR`. */
  language: string;
}
export type TemplateProfile = TemplateState & TemplateKey & { id: string };
export const TEMPLATE_DEFAULTS: TemplateState = {
  status: 'APPROVED',
  category: 'AUTHENTICATION',
  quality: 'GREEN',
  rejectedReason: 'NONE',
  ttlSeconds: 600,
  codeExpirationMinutes: 10,
  otpType: 'COPY_CODE',
};

/** Maximum recipients in 24 hours by Meta's name of the limit, lowest first; -1 is unlimited. */
export const MESSAGING_LIMITS = {
  TIER_50: 50,
  TIER_250: 250,
  TIER_1K: 1000,
  TIER_2K: 2000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
  TIER_UNLIMITED: -1,
} as const;

/** Meta's state of the business portfolio that owns all accounts. */
export const PORTFOLIO = {
  verificationStatus: oneOf('VERIFIED', 'PENDING', 'UNVERIFIED'),
  /** Shared by all numbers. It is reported, but not enforced. */
  messagingLimit: oneOf(...(Object.keys(MESSAGING_LIMITS) as (keyof typeof MESSAGING_LIMITS)[])),
};
export type PortfolioState = ValuesOf<typeof PORTFOLIO>;
export const PORTFOLIO_DEFAULTS: PortfolioState = {
  verificationStatus: 'VERIFIED',
  messagingLimit: 'TIER_UNLIMITED',
};

const texts: Member<string[]> = {
  fits: (value): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  wanted: 'a list of texts',
};

/** Meta's state of an access token. */
export const TOKEN = {
  /** `false` after it was revoked. */
  valid: yesOrNo,
  scopes: texts,
  /** Unix seconds; 0 never expires. */
  expiresAt: integer(0, 10_000_000_000),
};
export type TokenState = ValuesOf<typeof TOKEN>;
export const TOKEN_DEFAULTS: TokenState = {
  valid: true,
  scopes: ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'],
  expiresAt: 0,
};
