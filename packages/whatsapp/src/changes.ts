import { createHash } from 'node:crypto';
import {
  messagingLimitName,
  SENDER_PATTERNS,
  type BusinessAccountAlert,
  type ProviderChange,
  type ProviderReport,
} from '@onecode/domain';
import { elements, errorNumber, isMetaId, members, storable, storableText } from './json.js';
import { timeOf } from './timestamp.js';

/** The webhook fields with changes that are stored. Source: Meta, "Webhooks reference" of the WhatsApp Business Platform. */
const FIELDS = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'template_category_update',
  'phone_number_quality_update',
  'account_update',
  'account_alerts',
  'account_review_update',
  'business_capability_update',
  'security',
]);

/** Returns the changes in an entry of a webhook, including errors of its business account that do not concern a message. */
export function changesOf(entry: Record<string, unknown>): ProviderChange[] {
  const { id, time, changes } = entry;
  return elements(changes)
    .map(members)
    .flatMap(({ field, value }) => {
      const known = knownValue(field, members(value));
      const businessAccountId = members(members(value)['waba_info'])['waba_id'] ?? id;
      if (known === null || !isMetaId(businessAccountId)) return [];
      return [
        {
          digest: createHash('sha256')
            .update(JSON.stringify([businessAccountId, known.field, storable(time), known.value]))
            .digest(),
          businessAccountId,
          ...known,
          occurredAt: timeOf(time),
        },
      ];
    });
}

/** Returns the stored part of a change, or null for a field that is not about a template, a number or a business account. */
function knownValue(
  field: unknown,
  value: Record<string, unknown>,
): Pick<ProviderChange, 'field' | 'value'> | null {
  if (typeof field === 'string' && FIELDS.has(field)) return { field, value: members(storable(value)) };
  const errors = field === 'messages' ? elements(value['errors']) : [];
  return errors.length === 0 ? null : { field: 'messages', value: { errors: storable(errors) } };
}

/** Returns the fact in a stored change, or null if the change is of an unknown kind. Unknown values are kept unchanged. */
export function reportOf(field: string, value: Record<string, unknown>): ProviderReport | null {
  switch (field) {
    case 'message_template_status_update':
      return templateReport(value, statusValues(value));
    case 'message_template_quality_update':
      return templateReport(value, optional('quality', value['new_quality_score']));
    case 'template_category_update':
      return templateReport(value, {
        ...optional('category', value['new_category']),
        nextCategory: text(value['correct_category']),
      });
    case 'phone_number_quality_update':
      return numberReport(value);
    case 'business_capability_update':
      return { about: 'all_numbers', values: limitValues(value) };
    case 'account_update':
      return accountReport(value);
    case 'account_review_update':
      return ofAccount({ values: optional('review', value['decision']) });
    case 'account_alerts':
      return ofAccount({ alerts: accountAlert(members(value['alert_info'])) });
    case 'security': {
      const { event: type, ...others } = value;
      return ofAccount({ alerts: parseAlerts(type, null, others) });
    }
    case 'messages':
      return ofAccount({ alerts: elements(value['errors']).map(members).flatMap(errorAlert) });
    default:
      return null;
  }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function optional<Name extends string>(name: Name, value: unknown): { [N in Name]?: string } {
  const known = text(value);
  return (known === null ? {} : { [name]: known }) as { [N in Name]?: string };
}

type TemplateReport = Extract<ProviderReport, { about: 'template' }>;

function templateReport(
  value: Record<string, unknown>,
  values: TemplateReport['values'],
): TemplateReport | null {
  const name = text(value['message_template_name']);
  // Webhooks use `pt-BR`, and all other interfaces of Meta use `pt_BR`.
  const language = text(value['message_template_language'])?.replace('-', '_');
  const isKnown =
    name !== null &&
    SENDER_PATTERNS.template.test(name) &&
    language !== undefined &&
    /^\w{2,16}$/.test(language);
  return isKnown ? { about: 'template', name, language, values } : null;
}

/** Events after which a template can be used again. */
const RETURNS = new Set(['REINSTATED', 'UNARCHIVED', 'UNPAUSED', 'UNLOCKED']);

function statusValues(value: Record<string, unknown>): TemplateReport['values'] {
  const event = text(value['event']);
  if (event === null) return {};
  const reason = text(value['reason']);
  const title = text(members(value['other_info'])['title']);
  return {
    status: RETURNS.has(event) ? 'APPROVED' : event,
    reason: reason === null || reason === 'NONE' ? title : reason,
    ...optional('category', value['message_template_category']),
  };
}

function numberReport(value: Record<string, unknown>): ProviderReport | null {
  const displayNumber = text(value['display_phone_number'])?.replaceAll(/\D/g, '');
  if (displayNumber === undefined) return null;
  return { about: 'number', displayNumber, values: numberValues(value) };
}

function numberValues(
  value: Record<string, unknown>,
): Extract<ProviderReport, { about: 'number' }>['values'] {
  // The `current_limit` of this event is always unlimited, so it is not the messaging limit.
  return value['event'] === 'THROUGHPUT_UPGRADE' ? { throughputLevel: 'HIGH' } : limitValues(value);
}

/** Returns the messaging limit, which Meta reports by name or as a number. */
function limitValues(value: Record<string, unknown>): { messagingLimit?: string } {
  const most = value['max_daily_conversations_per_business'] ?? value['current_limit'];
  if (typeof most === 'number') {
    const name = messagingLimitName(most);
    return name === null ? {} : { messagingLimit: name };
  }
  return typeof most === 'string' && /^TIER_\w+$/.test(most) ? { messagingLimit: most } : {};
}

type AccountReport = Extract<ProviderReport, { about: 'business_account' }>;

const ofAccount = (parseAlerts: Partial<Pick<AccountReport, 'values' | 'alerts'>>): AccountReport => ({
  about: 'business_account',
  values: {},
  alerts: [],
  ...parseAlerts,
});

function accountReport(value: Record<string, unknown>): AccountReport {
  const { event, waba_info: _account, ...others } = value;
  switch (event) {
    case 'DISABLED_UPDATE':
      return ofAccount({ values: optional('ban', members(value['ban_info'])['waba_ban_state']) });
    case 'ACCOUNT_RESTRICTION':
      return ofAccount({
        values: {
          restrictions: elements(value['restriction_info'])
            .map(members)
            .flatMap(({ restriction_type: kind, expiration }) =>
              typeof kind === 'string' ? [{ kind, until: secondsOf(expiration) }] : [],
            ),
        },
      });
    case 'ACCOUNT_DELETED':
      return ofAccount({ values: { isDeleted: true } });
    // The owner of a number that is also in the WhatsApp Business app can disconnect and connect it in that app.
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED':
      return ofAccount({ values: { disconnection: event } });
    case 'ACCOUNT_RECONNECTED':
      return ofAccount({ values: { disconnection: null } });
    default:
      return ofAccount({ alerts: parseAlerts(event, null, others) });
  }
}

/** Returns a list with the alert, or an empty list without a type. @param detail a text, or an object with texts */
function parseAlerts(type: unknown, severity: unknown, detail: unknown): BusinessAccountAlert[] {
  const known = text(type);
  return known === null ? [] : [{ type: known, severity: text(severity), detail: text(textsOf(detail)) }];
}

/** Joins the texts in a value, each with its name: `violation_type: ADULT`. Formats Unix seconds as RFC 3339. */
function textsOf(value: unknown, name = ''): string {
  if (typeof value === 'object' && value !== null)
    return storableText(
      Object.entries(value)
        .map(([member, one]) => textsOf(one, Array.isArray(value) ? name : member))
        .filter((one) => one !== '')
        .join(', '),
    );
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const seconds = name.endsWith('_time') ? secondsOf(value) : null;
  const readable = seconds === null ? String(value) : new Date(seconds * 1000).toISOString();
  return name === '' ? readable : `${name}: ${readable}`;
}

function accountAlert(info: Record<string, unknown>): BusinessAccountAlert[] {
  const {
    alert_type: type,
    alert_severity: severity,
    alert_status: status,
    alert_description: detail,
  } = info;
  return parseAlerts(
    type,
    severity,
    status === undefined || status === 'ACTIVE' ? detail : { status, detail },
  );
}

/** Returns the alert for an error of the whole account. Its type is Meta's error code. */
function errorAlert({
  code,
  title,
  message,
  error_data: data,
}: Record<string, unknown>): BusinessAccountAlert[] {
  const number = errorNumber(code);
  const details = members(data)['details'];
  return number === null ? [] : parseAlerts(String(number), null, [...new Set([title ?? message, details])]);
}

function secondsOf(value: unknown): number | null {
  const seconds = Number(value);
  return /^[0-9]{1,12}$/.test(String(value)) ? seconds : null;
}
