import type { BusinessAccountProfile } from './businessAccounts.js';
import { limitOf, type PortfolioState } from './portfolio.js';
import type { SenderProfile } from './senders.js';
import type { TemplateProfile } from './templates.js';

/** One entry of `changes`: what happened, under the webhook field that tells it. */
export interface Change {
  field: string;
  value: Record<string, unknown>;
}

const DAY_S = 86_400;

/** The webhook of one change of a business account. */
export function changeWebhook(wabaId: string, { field, value }: Change, at = new Date()) {
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: wabaId, time: secondsOf(at), changes: [{ value, field }] }],
  };
}

/**
 * What Meta tells of a template's change. Its language is written with a hyphen here, and with `_` everywhere else.
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
    changes.push({ field: 'message_template_status_update', value: statusUpdate(before, after, template) });
  if (before.quality !== after.quality)
    changes.push({
      field: 'message_template_quality_update',
      value: {
        previous_quality_score: before.quality,
        new_quality_score: after.quality,
        ...template,
      },
    });
  if (before.category !== after.category)
    changes.push({
      field: 'template_category_update',
      value: { ...template, previous_category: before.category, new_category: after.category },
    });
  return changes;
}

function statusUpdate(before: TemplateProfile, after: TemplateProfile, template: Record<string, unknown>) {
  const { status, rejectedReason } = after;
  return {
    event: status === 'APPROVED' ? returnOf(before.status) : status,
    ...template,
    reason: status === 'PENDING_DELETION' ? null : rejectedReason,
    message_template_category: after.category,
    ...(status === 'DISABLED' ? { disable_info: { disable_date: secondsOf(new Date()) } } : {}),
    ...(status === 'PAUSED' ? { other_info: PAUSE } : {}),
    ...(before.status === 'PAUSED' && status === 'APPROVED' ? { other_info: UNPAUSE } : {}),
    ...(rejectedReason === 'INVALID_FORMAT' ? { rejection_info: REJECTION } : {}),
  };
}

const PAUSE = {
  title: 'FIRST_PAUSE',
  description: 'Your WhatsApp message template has been paused for 3 hours until its quality improves.',
};
const UNPAUSE = { title: 'UNPAUSE', description: 'Your WhatsApp message template has been unpaused.' };
const REJECTION = {
  reason: 'Your template has parameters placed next to each other without text or punctuation between them.',
  recommendation: 'Separate parameters with descriptive text.',
};

/** The event by which a template comes back into use. */
function returnOf(before: TemplateProfile['status']): string {
  if (before === 'DISABLED') return 'REINSTATED';
  return before === 'ARCHIVED' ? 'UNARCHIVED' : 'APPROVED';
}

/**
 * What Meta tells of a number's change: that it is flagged, or no longer, and a higher throughput. Of other states and colours it tells
 * nothing: they are read.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/phone_number_quality_update
 */
export function senderChanges(before: SenderProfile, after: SenderProfile, limit: string): Change[] {
  const changes: Change[] = [];
  const tell = (event: string, currentLimit: string) =>
    changes.push(qualityUpdate(after, { event, current_limit: currentLimit }));
  if (isFlagged(before) !== isFlagged(after)) tell(isFlagged(after) ? 'FLAGGED' : 'UNFLAGGED', limit);
  if (before.throughputLevel !== 'HIGH' && after.throughputLevel === 'HIGH')
    tell('THROUGHPUT_UPGRADE', 'TIER_UNLIMITED');
  return changes;
}

function isFlagged({ status, qualityRating }: SenderProfile): boolean {
  return status === 'FLAGGED' || qualityRating === 'RED';
}

function qualityUpdate({ displayPhoneNumber }: SenderProfile, parts: Record<string, unknown>): Change {
  return {
    field: 'phone_number_quality_update',
    value: { display_phone_number: displayPhoneNumber, ...parts },
  };
}

/**
 * What Meta tells a number of the messaging limit that it shares.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/phone_number_quality_update
 */
export function limitChange(sender: SenderProfile, before: PortfolioState, after: PortfolioState): Change {
  const raised = limitOf(after.messagingLimit) > limitOf(before.messagingLimit);
  return qualityUpdate(sender, {
    event: raised ? 'UPGRADE' : 'DOWNGRADE',
    old_limit: before.messagingLimit,
    current_limit: after.messagingLimit,
    max_daily_conversations_per_business: after.messagingLimit,
  });
}

/**
 * What Meta tells a business account of the limits that it shares; -1 is unlimited.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/business_capability_update
 */
export function capabilityChange({ messagingLimit }: PortfolioState): Change {
  const most = limitOf(messagingLimit);
  return {
    field: 'business_capability_update',
    value: {
      max_daily_conversations_per_business: most === Infinity ? -1 : most,
      ...(most === 250 ? { max_phone_numbers_per_business: 2 } : { max_phone_numbers_per_waba: 25 }),
    },
  };
}

/**
 * What Meta tells of a business account's change. A payment problem it does not tell: sends fail with 131042, and `health_status` says it.
 * Sources: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/account_update, /account_review_update
 */
export function accountChanges(before: BusinessAccountProfile, after: BusinessAccountProfile): Change[] {
  const changes: Change[] = [];
  const tell = (value: Record<string, unknown>) => changes.push({ field: 'account_update', value });
  if (before.condition !== after.condition) {
    if (before.condition === 'restricted') tell({ event: 'ACCOUNT_RESTRICTION', restriction_info: [] });
    if (before.condition === 'disabled') tell(disabledUpdate('REINSTATE'));
    if (after.condition === 'restricted')
      tell({
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [
          {
            restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING',
            expiration: String(secondsOf(new Date()) + DAY_S),
          },
        ],
      });
    if (after.condition === 'disabled') tell(disabledUpdate('DISABLE'));
  }
  if (before.accountReviewStatus !== after.accountReviewStatus)
    changes.push({ field: 'account_review_update', value: { decision: after.accountReviewStatus } });
  return changes;
}

function disabledUpdate(state: 'DISABLE' | 'REINSTATE') {
  const date = new Date().toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
  return { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: state, waba_ban_date: date } };
}

function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
