import type { FaultScope, Outcome, ThrottleScope } from '@onecode/domain';

export type Failure = Exclude<Outcome, { kind: 'accepted' }>;

/** Makes the failure for the provider's code, or for null where it gave none. */
export type Verdict = (errorCode: number | null) => Failure;

export const retry =
  (reason: string, throttled: 'none' | ThrottleScope = 'none'): Verdict =>
  (errorCode) => ({ kind: 'retry', errorCode, reason, throttled, retryAfterSeconds: null });

export const unknown =
  (reason: string): Verdict =>
  (errorCode) => ({ kind: 'unknown', errorCode, reason });

export const sender =
  (reason: string): Verdict =>
  (errorCode) => ({ kind: 'sender', errorCode, reason });

export const recipient =
  (reason: string): Verdict =>
  (errorCode) => ({ kind: 'recipient', errorCode, reason });

export const config =
  (scope: FaultScope, reason: string): Verdict =>
  (errorCode) => ({ kind: 'config', errorCode, reason, scope });

const MARKETING_API = 'The provider took the request for one of its marketing interface.';

/**
 * What each error code of the Cloud API means for a send. Source of the codes: Meta, "Error codes" of the WhatsApp Business
 * Platform. 104, 131030 and 137000 are not in that table but occur in practice. The sentences are ours.
 */
export const ERROR_TABLE: ReadonlyMap<number, Verdict> = new Map<number, Verdict>([
  // The token and its permissions. 3 comes with HTTP 500 but does not pass by itself.
  [0, config('token', 'The access token is no longer accepted.')],
  [3, config('token', 'The access token lacks a capability or permission.')],
  [10, config('token', 'A permission was never granted or was taken away.')],
  [104, config('token', 'The provider saw no access token.')],
  [190, config('token', 'The access token has expired or is not valid.')],
  [200, config('token', 'The access token is missing or lacks a permission.')],
  [131005, config('token', 'The access token lacks the permission for this call.')],

  // The business account.
  [368, config('business', 'The business account is restricted for breaking a policy.')],
  [131031, config('business', 'The business account is locked.')],
  [131042, config('business', 'The business account has a payment or eligibility problem.')],
  [131064, config('business', 'The business account is limited for wrongly classified templates.')],
  [134011, config('business', 'The business account has not accepted the terms for payments.')],
  [130497, config('country', "The business account may not message the recipient's country.")],

  // The app.
  [131030, config('app', 'The app is in test mode and the recipient is not on its list.')],

  // Limits. 4 is a limit of the whole app and 80007 of the whole business account: another sender of the same one would not help.
  [4, retry('The app has made too many calls.', 'app')],
  [80007, retry('The business account has made too many calls.', 'business')],
  [130429, retry('The sender has reached its throughput.', 'sender')],
  [131056, retry('Too many messages from this sender to this recipient.', 'recipient_window')],

  // The platform.
  [1, retry('The provider had an error that it does not explain.')],
  [2, retry('The provider is down or overloaded.')],
  [131000, retry('The provider had an internal error.')],
  [131016, retry('A service of the provider is unavailable.')],
  [133004, retry("The provider's server is unavailable.")],
  // Meta calls this an error of the request but says no more, and another attempt may succeed. It is as vague as 1, and so is retried
  // like that, up to the limit of attempts. To fail or pause on it would be worse.
  [135000, retry('The provider refused the request without saying why.')],

  // The sender.
  [33, sender("The sender's number was deleted.")],
  [131037, sender("The sender's display name is not approved.")],
  [131045, sender("The sender's number is not registered correctly.")],
  [131048, sender('The sender is limited because too many people block or report it.')],
  [131057, sender('The sender is under maintenance for a moment.')],
  [133000, sender('The sender was not completely deregistered.')],
  [133005, sender("The sender's two-step PIN is wrong.")],
  [133006, sender('The sender must be verified again.')],
  [133008, sender("The sender's two-step PIN was guessed too often.")],
  [133009, sender("The sender's two-step PIN was guessed too fast.")],
  [133010, sender('The sender is not registered.')],
  [133015, sender('The sender was deleted a moment ago and cannot be registered yet.')],
  [133016, sender('The sender was registered or deregistered too often.')],
  [2494100, sender('The sender is being moved and is under maintenance.')],

  // The recipient.
  [130403, recipient('The business has blocked the recipient.')],
  [130472, recipient("The recipient is in an experiment of the provider's and gets no message.")],
  [131021, recipient('The recipient is the sender itself.')],
  [131026, recipient('The recipient cannot be reached on WhatsApp.')],
  [131049, recipient('The provider chose not to deliver to this recipient.')],
  // With `recipient_identity_key_hash`; in a `failed` receipt, as a rule.
  [137000, recipient("The recipient's number has changed hands, or WhatsApp was installed anew.")],
  [131050, recipient('The recipient has stopped messages from this business.')],

  // The request that we make.
  [100, config('request', 'A parameter of the request is unknown or too long.')],
  [131008, config('request', 'A required parameter of the request is missing.')],
  [131009, config('request', 'A parameter of the request has a wrong value.')],
  [131047, config('request', 'Only a template may be sent outside an open conversation.')],
  [131051, config('request', 'The type of message is not supported.')],
  [131052, config('request', 'A file from the recipient could not be fetched.')],
  [131053, config('request', 'A file in the message could not be taken over.')],
  [131055, config('request', MARKETING_API)],
  [131062, config('request', 'A code can be sent to a phone number only.')],
  [134100, config('request', MARKETING_API)],
  [134101, config('request', MARKETING_API)],
  [134102, config('request', MARKETING_API)],

  // The template.
  [131063, config('template', 'The template counts as marketing, which is switched off.')],
  [132000, config('template', 'The template expects another number of parameters.')],
  [132001, config('template', 'The template does not exist in this language or is not approved.')],
  [132005, config('template', 'The text of the template is too long once filled in.')],
  [132007, config('template', "The text of the template breaks the provider's rules.")],
  [132012, config('template', 'The template expects its parameters in another form.')],
  [132015, config('template', 'The template is paused for low quality.')],
  [132016, config('template', 'The template is disabled for good.')],
  [132018, config('template', "The template's parameters are not valid.")],
  [132068, config('template', "The template's flow is blocked.")],
  [132069, config('template', "The template's flow is throttled.")],
  [2388019, config('template', 'The business account has too many templates.')],
  [2388039, config('template', "The template's status cannot be changed.")],
  [2388040, config('template', 'A field of the template is too long.')],
  [2388047, config('template', "The template's header has a wrong format.")],
  [2388072, config('template', "The template's body has a wrong format.")],
  [2388073, config('template', "The template's footer has a wrong format.")],
  [2388293, config('template', 'The template has too many parameters for its length.')],
  [2388299, config('template', 'The template begins or ends with a parameter.')],
]);
