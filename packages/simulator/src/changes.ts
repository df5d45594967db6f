import {
  MESSAGING_LIMITS,
  type BusinessAccountProfile,
  type PortfolioState,
  type SenderProfile,
  type TemplateProfile,
} from './businessStates.js';

/** One entry of `changes`: a webhook field with its value. */
export interface Change {
  field: string;
  value: Record<string, unknown>;
}

const DAY_S = 86_400;
const now = () => Math.floor(Date.now() / 1000);

/** Builds the webhook of one change of a business account. */
export function changeWebhook(wabaId: string, { field, value }: Change) {
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: wabaId, time: now(), changes: [{ value, field }] }],
  };
}

/**
 * Returns Meta's webhooks about a template's change. They write the language with a hyphen, all other interfaces with `_`.
 * Sources: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/message_template_status_update,
 * /message_template_quality_update, /template_category_update
 */
export function templateChanges(before: TemplateProfile, after: TemplateProfile): Change[] {
  const template = {
    message_template_id: Number(after.id),
    message_template_name: after.name,
    message_template_language: after.language.replace('_', '-'),
  };
  const changes: Change[] = [];
  if (before.status !== after.status)
    changes.push({
      field: 'message_template_status_update',
      value: {
        event: after.status === 'APPROVED' ? returnOf(before.status) : after.status,
        ...template,
        reason: after.rejectedReason,
        message_template_category: after.category,
        ...pauseInfo(before, after),
      },
    });
  if (before.quality !== after.quality)
    changes.push({
      field: 'message_template_quality_update',
      value: { previous_quality_score: before.quality, new_quality_score: after.quality, ...template },
    });
  if (before.category !== after.category)
    changes.push({
      field: 'template_category_update',
      value: { ...template, previous_category: before.category, new_category: after.category },
    });
  return changes;
}

/** Returns the event that makes a template usable again. */
function returnOf(before: TemplateProfile['status']): string {
  if (before === 'DISABLED') return 'REINSTATED';
  return before === 'ARCHIVED' ? 'UNARCHIVED' : 'APPROVED';
}

function pauseInfo(before: TemplateProfile, after: TemplateProfile) {
  if (after.status === 'PAUSED')
    return { other_info: { title: 'FIRST_PAUSE', description: 'Paused for 3 hours for low quality.' } };
  if (before.status === 'PAUSED' && after.status === 'APPROVED')
    return { other_info: { title: 'UNPAUSE', description: 'No longer paused.' } };
  return {};
}

/**
 * Returns Meta's webhook about a number's change: only a higher throughput has one. Status and quality can only be read.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/phone_number_quality_update
 */
export function senderChanges(before: SenderProfile, after: SenderProfile): Change[] {
  if (before.throughputLevel === 'HIGH' || after.throughputLevel !== 'HIGH') return [];
  const value = {
    display_phone_number: after.displayPhoneNumber,
    event: 'THROUGHPUT_UPGRADE',
    current_limit: 'TIER_UNLIMITED',
  };
  return [{ field: 'phone_number_quality_update', value }];
}

/**
 * Returns Meta's webhook about the messaging limit that a business account's numbers share.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/business_capability_update
 */
export function capabilityChange({ messagingLimit }: PortfolioState): Change {
  const value = { max_daily_conversations_per_business: MESSAGING_LIMITS[messagingLimit] };
  return { field: 'business_capability_update', value };
}

/**
 * Returns Meta's webhooks about a business account's change. A payment problem has none: sends fail with 131042, and `health_status` shows it.
 * Sources: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/account_update, /account_review_update
 */
export function accountChanges(before: BusinessAccountProfile, after: BusinessAccountProfile): Change[] {
  const changes: Change[] = [];
  const report = (event: string, value: object) =>
    changes.push({ field: 'account_update', value: { event, ...value } });
  if (before.condition !== after.condition) {
    if (before.condition === 'restricted') report('ACCOUNT_RESTRICTION', { restriction_info: [] });
    if (before.condition === 'disabled') report('DISABLED_UPDATE', banInfo('REINSTATE'));
    if (after.condition === 'restricted')
      report('ACCOUNT_RESTRICTION', { restriction_info: [restriction()] });
    if (after.condition === 'disabled') report('DISABLED_UPDATE', banInfo('DISABLE'));
  }
  if (before.accountReviewStatus !== after.accountReviewStatus)
    changes.push({ field: 'account_review_update', value: { decision: after.accountReviewStatus } });
  return changes;
}

function restriction() {
  return {
    restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING',
    expiration: String(now() + DAY_S),
  };
}

function banInfo(state: 'DISABLE' | 'REINSTATE') {
  const date = new Date().toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
  return { ban_info: { waba_ban_state: state, waba_ban_date: date } };
}
