import {
  SENDER_PATTERNS,
  type ProviderChange,
  type ProviderReport,
  type Reported,
  type TemplateValues,
} from '@onecode/domain';
import { isMetaId, members, objects, secondsOf, timeOf, word } from './json.js';

/**
 * Returns a change of a template, a number or a business account, with unknown values unchanged; null for changes of other kinds.
 *
 * @param id the business account of the webhook's entry, which `waba_info` overrides
 * @param time of the entry
 */
export function changeOf(
  field: unknown,
  value: Record<string, unknown>,
  id: unknown,
  time: unknown,
): ProviderChange | null {
  const businessAccountId = members(value['waba_info'])['waba_id'] ?? id;
  const report = reportOf(field, value);
  return report !== null && isMetaId(businessAccountId)
    ? { businessAccountId, report, occurredAt: timeOf(time) }
    : null;
}

/** Returns the report in a change, or null if the change is of an unknown kind. */
function reportOf(field: unknown, value: Record<string, unknown>): ProviderReport | null {
  switch (field) {
    case 'message_template_status_update':
      return templateReport(value, statusValues(value));
    case 'message_template_quality_update':
      return templateReport(value, { quality: word(value['new_quality_score']) });
    case 'template_category_update':
      return templateReport(value, {
        category: word(value['new_category']),
        nextCategory: word(value['correct_category']) ?? null,
      });
    case 'phone_number_quality_update':
    case 'business_capability_update':
      // The `current_limit` of this event is always unlimited, so it is not the messaging limit.
      if (value['event'] === 'THROUGHPUT_UPGRADE') return eventAlert(value);
      return { numbers: { messagingLimit: limitOf(value) } };
    case 'account_update':
      return accountReport(value);
    case 'account_review_update':
      return alertReport(field, null, value);
    case 'account_alerts':
      return accountAlert(members(value['alert_info']));
    case 'security':
      return eventAlert(value);
    default:
      return null;
  }
}

function templateReport(
  value: Record<string, unknown>,
  values: Reported<TemplateValues>,
): ProviderReport | null {
  const { message_template_name: name, message_template_language: tag } = value;
  // Webhooks use `pt-BR`, and all other interfaces of Meta use `pt_BR`.
  const language = typeof tag === 'string' ? tag.replace('-', '_') : '';
  if (typeof name !== 'string' || !SENDER_PATTERNS.template.test(name)) return null;
  return /^\w{2,16}$/.test(language) ? { template: { name, language, values } } : null;
}

/** Events after which a template can be used again. */
const RETURNS = new Set(['REINSTATED', 'UNARCHIVED', 'UNPAUSED', 'UNLOCKED']);

function statusValues(value: Record<string, unknown>): Reported<TemplateValues> {
  const event = word(value['event']);
  if (event === undefined) return {};
  const reason = value['reason'] === 'NONE' ? undefined : word(value['reason']);
  return {
    status: RETURNS.has(event) ? 'APPROVED' : event,
    reason: reason ?? word(members(value['other_info'])['title']) ?? null,
    category: word(value['message_template_category']),
  };
}

/** Returns the name of the messaging limit. Meta reports it by name or as a number, where -1 is unlimited. */
function limitOf(value: Record<string, unknown>): string | undefined {
  const most = value['max_daily_conversations_per_business'] ?? value['current_limit'];
  if (most === -1) return 'TIER_UNLIMITED';
  if (typeof most === 'number') return most % 1_000 === 0 ? `TIER_${most / 1_000}K` : `TIER_${most}`;
  return typeof most === 'string' && /^TIER_\w+$/.test(most) ? most : undefined;
}

function accountReport(value: Record<string, unknown>): ProviderReport | null {
  const alert = eventAlert(value);
  const event = word(value['event']);
  const isRefused = isRefusedAfter(value);
  if (alert === null || event === undefined || isRefused === undefined) return alert;
  return { ...alert, businessAccount: { refusal: isRefused ? event : null } };
}

/** Returns whether Meta refuses a business account's messages after an event; undefined if the event does not concern this. */
function isRefusedAfter({ event, ban_info: ban, restriction_info: restrictions }: Record<string, unknown>) {
  switch (event) {
    case 'DISABLED_UPDATE':
      // The other states announce a ban or end it.
      return members(ban)['waba_ban_state'] === 'DISABLE';
    case 'ACCOUNT_RESTRICTION':
      // The event lists all current restrictions. Only this one applies to codes.
      return objects(restrictions).some(
        ({ restriction_type: type }) => type === 'RESTRICTED_BIZ_INITIATED_MESSAGING',
      );
    case 'ACCOUNT_DELETED':
    // The owner of a number that is also in the WhatsApp Business app can disconnect and connect it in that app.
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED':
      return true;
    case 'ACCOUNT_RECONNECTED':
      return false;
    default:
      return undefined;
  }
}

/** Returns an event with its texts as an alert. */
const eventAlert = ({ event, waba_info: _account, ...others }: Record<string, unknown>) =>
  alertReport(event, null, others);

/** Returns the report of an alert; null without a type. @param detail a text, or an object with texts */
function alertReport(type: unknown, severity: unknown, detail: unknown): ProviderReport | null {
  const known = word(type);
  if (known === undefined) return null;
  return {
    alert: { type: known, severity: word(severity) ?? null, detail: word(textsOf(detail)) ?? null },
  };
}

/** The depth of an alert's objects and lists; deeper ones are left out. */
const DEPTH_MAX = 8;

/** Joins the texts in a value, each with its name: `violation_type: ADULT`. Formats Unix seconds as RFC 3339. */
function textsOf(value: unknown, name = '', depth = 0): string {
  if (typeof value === 'object' && value !== null)
    return Object.entries(depth < DEPTH_MAX ? value : {})
      .map(([member, one]) => textsOf(one, Array.isArray(value) ? name : member, depth + 1))
      .filter((one) => one !== '')
      .join(', ');
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const seconds = name.endsWith('_time') ? secondsOf(value) : null;
  const readable = seconds === null ? String(value) : new Date(seconds * 1000).toISOString();
  return name === '' ? readable : `${name}: ${readable}`;
}

function accountAlert(info: Record<string, unknown>): ProviderReport | null {
  const { alert_status: status, alert_description: detail } = info;
  const shown = status === undefined || status === 'ACTIVE' ? detail : { status, detail };
  return alertReport(info['alert_type'], info['alert_severity'], shown);
}
