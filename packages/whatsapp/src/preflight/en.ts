import type { PreflightTexts } from './texts.js';

export const EN: PreflightTexts = {
  fine: {
    token_valid: 'Meta accepts the access token.',
    token_scopes: 'The access token has the permissions that are needed.',
    number_connected: 'The number is connected.',
    template_pt_br: 'The template {template} ({language}) is approved and copies the code.',
    template_en: 'The template {template} ({language}) is approved and copies the code.',
    template_ttl: 'Meta delivers no message after its code has expired.',
    template_footer: 'The footers say how long codes live.',
    webhook_subscribed: "Meta sends this business account's webhooks to the app.",
    business_verified: 'Nothing says that the business is not verified.',
    messaging_limit: '{people} people in the last 24 hours, within the limit {limit}.',
  },
  findings: {
    unknown: 'Meta has not told this. Check again, and look in WhatsApp Manager if it stays so.',
    not_read:
      'It could not be read: {why} Check the token, the network and that a worker is running, then check again.',
    token_invalid:
      'Meta does not accept the access token. Make a new one in Business settings, and replace it here.',
    token_expires:
      'The access token ends at {at}. Replace it with a token of a system user that does not expire.',
    scopes_missing:
      'The access token lacks {scopes}. Give the system user these permissions, and replace the token here.',
    number_status: 'Meta says of the number: {status}. Connect or register it in WhatsApp Manager.',
    number_blocked: 'Meta does not let the number send: {why}. Do what WhatsApp Manager asks for.',
    template_missing:
      'Meta has no template {template} in {language}. Create it in WhatsApp Manager, category authentication.',
    template_status:
      'The template {template} ({language}) is {status}{reason}. Look in WhatsApp Manager what Meta asks for.',
    template_category:
      'The template {template} ({language}) is in the category {category}. Create one in the category authentication.',
    template_button: 'The template {template} ({language}) has no button that copies the code. Add one.',
    ttl_too_long:
      'The template ({language}) is delivered for up to {seconds} s, but codes live {validity} s. Shorten its validity period in WhatsApp Manager.',
    footer_differs:
      'The footer of the template ({language}) says {footer} min, but codes live {validity} s. Change the template or code_validity_seconds.',
    not_subscribed:
      'Meta sends no webhooks of this business account to the app. Subscribe the app: POST /{business account}/subscribed_apps.',
    not_verified:
      'The business is not verified ({status}). Verify it in Business settings; until then its limit stays low.',
    limit_near:
      '{people} people in the last 24 hours, close to the limit {limit} that all numbers of the business share. Ask Meta for a higher one.',
    limit_reached:
      '{people} people in the last 24 hours have reached the limit {limit} that all numbers of the business share. Meta refuses new ones.',
  },
};
