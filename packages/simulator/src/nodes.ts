import type { Business } from './business.js';
import type { BusinessAccountProfile } from './businessAccounts.js';
import type { NodeType } from './graphFields.js';
import { healthStatus } from './healthStatus.js';
import type { SenderProfile } from './senders.js';
import type { TemplateProfile } from './templates.js';
import { templateText } from './templateText.js';

/**
 * A number's node.
 * Source: https://developers.facebook.com/docs/graph-api/reference/whats-app-business-account-to-number-current-status/
 */
export function senderNode({
  portfolio,
  accounts,
}: Pick<Business, 'portfolio' | 'accounts'>): NodeType<SenderProfile & { id: string }> {
  return {
    name: 'WhatsAppBusinessPhoneNumber',
    defaults: ['verified_name', 'code_verification_status', 'display_phone_number', 'quality_rating'],
    fields: {
      id: ({ id }) => id,
      display_phone_number: ({ displayPhoneNumber }) => `+${displayPhoneNumber}`,
      verified_name: ({ verifiedName }) => verifiedName,
      quality_rating: ({ qualityRating }) => qualityRating,
      quality_score: ({ qualityRating }) => ({ score: qualityRating }),
      throughput: ({ throughputLevel }) => ({ level: throughputLevel }),
      status: ({ status }) => status,
      messaging_limit_tier: () => portfolio.current.messagingLimit,
      whatsapp_business_manager_messaging_limit: () => portfolio.current.messagingLimit,
      code_verification_status: ({ codeVerificationStatus }) => codeVerificationStatus,
      name_status: ({ nameStatus }) => nameStatus,
      account_mode: () => 'LIVE',
      platform_type: () => 'CLOUD_API',
      is_official_business_account: () => false,
      health_status: (sender) => healthStatus(portfolio.current, accounts.describe(sender.wabaId), sender),
    },
  };
}

/** A business account's node. Source: Meta's OpenAPI, `WhatsAppBusinessAccount`. */
export function accountNode({ portfolio }: Pick<Business, 'portfolio'>): NodeType<BusinessAccountProfile> {
  return {
    name: 'WhatsAppBusinessAccount',
    defaults: ['name', 'timezone_id', 'currency'],
    fields: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      status: ({ condition }) => (condition === 'disabled' ? 'DISABLED' : 'ACTIVE'),
      account_review_status: ({ accountReviewStatus }) => accountReviewStatus,
      business_verification_status: () => portfolio.current.verificationStatus,
      ownership_type: ({ ownershipType }) => ownershipType,
      owner_business_info: () => ({ id: portfolio.current.id, name: portfolio.current.name }),
      country: ({ country }) => country,
      currency: ({ currency }) => currency,
      timezone_id: ({ timezoneId }) => timezoneId,
      whatsapp_business_manager_messaging_limit: () => portfolio.current.messagingLimit,
      health_status: (account) => healthStatus(portfolio.current, account, null),
    },
  };
}

/** One language of a template. Source: Meta's OpenAPI, `/{WABA-ID}/message_templates`. */
export const TEMPLATE_NODE: NodeType<TemplateProfile> = {
  name: 'WhatsAppMessageTemplate',
  defaults: ['name', 'parameter_format', 'components', 'language', 'status', 'category'],
  fields: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    language: ({ language }) => language,
    status: ({ status }) => status,
    category: ({ category }) => category,
    previous_category: ({ previousCategory }) => previousCategory ?? undefined,
    quality_score: ({ quality, qualityAt }) => ({ score: quality, date: qualityAt }),
    rejected_reason: ({ rejectedReason }) => rejectedReason,
    message_send_ttl_seconds: ({ ttlSeconds }) => ttlSeconds ?? undefined,
    parameter_format: () => 'POSITIONAL',
    components: componentsOf,
  },
};

function componentsOf(template: TemplateProfile): unknown[] {
  const { language, securityRecommendation, codeExpirationMinutes } = template;
  const portuguese = language.startsWith('pt');
  const footer = portuguese
    ? `Este código expira em ${codeExpirationMinutes} minutos.`
    : `This code expires in ${codeExpirationMinutes} minutes.`;
  return [
    {
      type: 'BODY',
      text: templateText(language, '{{1}}', securityRecommendation),
      add_security_recommendation: securityRecommendation,
      example: { body_text: [['123456']] },
    },
    ...(codeExpirationMinutes === null
      ? []
      : [{ type: 'FOOTER', text: footer, code_expiration_minutes: codeExpirationMinutes }]),
    ...(template.otpType === null ? [] : [{ type: 'BUTTONS', buttons: [buttonOf(template, portuguese)] }]),
  ];
}

function buttonOf({ otpType, buttonForm, codeExpirationMinutes }: TemplateProfile, portuguese: boolean) {
  const text = portuguese ? 'Copiar código' : 'Copy code';
  if (buttonForm === 'OTP') return { type: 'OTP', otp_type: otpType, text };
  const validity = codeExpirationMinutes === null ? '' : `&code_expiration_minutes=${codeExpirationMinutes}`;
  const url = `https://www.whatsapp.com/otp/code/?otp_type=${otpType}${validity}&code=otp`;
  return { type: 'URL', text, url: `${url}{{1}}`, example: [`${url}123456`] };
}
