import { createHash } from 'node:crypto';
import { messagingLimitName, type ProviderReport } from '@onecode/domain';
import { elements, members } from './json.js';
import { timeOf } from './timestamp.js';

/** Something that Meta told of a template, a number or a business account, as it came. */
export interface ProviderChange {
  /** SHA-256 of all of it: Meta repeats what was not answered. */
  digest: Buffer;
  businessAccountId: string;
  field: string;
  value: Record<string, unknown>;
  occurredAt: Date;
}

/** The webhook fields that tell of such changes. Source: Meta, "Webhooks reference" of the WhatsApp Business Platform. */
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

/** The changes in an entry of a webhook. */
export function changesOf(entry: Record<string, unknown>): ProviderChange[] {
  const { id, time, changes } = entry;
  if (typeof id !== 'string' || !/^[0-9]{1,32}$/.test(id)) return [];
  return elements(changes)
    .map(members)
    .flatMap(({ field, value }) =>
      typeof field === 'string' && FIELDS.has(field)
        ? [
            {
              digest: createHash('sha256')
                .update(JSON.stringify([id, field, time, value]))
                .digest(),
              businessAccountId: id,
              field,
              value: storable(members(value)),
              occurredAt: timeOf(time),
            },
          ]
        : [],
    );
}

/** A JSON value that PostgreSQL can hold: it has no zero characters and no half of a surrogate pair. */
function storable(value: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? member.replaceAll(/\0|\p{Surrogate}/gu, '') : member,
  );
  return members(JSON.parse(text));
}

/** What a stored change says, or null where it says nothing that we know. Unknown words are kept as they are. */
export function reportOf(field: string, value: Record<string, unknown>): ProviderReport | null {
  switch (field) {
    case 'message_template_status_update':
      return templateReport(value, statusValues(value));
    case 'message_template_quality_update':
      return templateReport(value, optional('quality', value['new_quality_score']));
    case 'template_category_update':
      return templateReport(value, optional('category', value['new_category']));
    case 'phone_number_quality_update':
      return numberReport(value);
    case 'business_capability_update':
      return { about: 'all_numbers', values: limitValues(value) };
    case 'account_update':
      return { about: 'business_account', values: accountValues(value) };
    case 'account_review_update':
      return { about: 'business_account', values: optional('review', value['decision']) };
    case 'account_alerts':
      return {
        about: 'business_account',
        values: optional('notice', value['alert_type'] ?? value['alert_description']),
      };
    case 'security':
      return { about: 'business_account', values: optional('notice', value['event']) };
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
  // Webhooks write `pt-BR`, everything else `pt_BR`.
  const language = text(value['message_template_language'])?.replace('-', '_');
  return name === null || language === undefined ? null : { about: 'template', name, language, values };
}

/** Events by which a template comes back into use. */
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
  switch (value['event']) {
    case 'FLAGGED':
      return { status: 'FLAGGED', ...limitValues(value) };
    case 'UNFLAGGED':
      return { status: 'CONNECTED', ...limitValues(value) };
    case 'THROUGHPUT_UPGRADE':
      // Its `current_limit` is always unlimited, and does not speak of people.
      return { throughputLevel: 'HIGH' };
    default:
      return limitValues(value);
  }
}

/** The messaging limit, which Meta tells as its name or as a number. */
function limitValues(value: Record<string, unknown>): { messagingLimit?: string } {
  const most = value['max_daily_conversations_per_business'] ?? value['current_limit'];
  if (typeof most === 'number') {
    const name = messagingLimitName(most);
    return name === null ? {} : { messagingLimit: name };
  }
  return typeof most === 'string' && /^TIER_\w+$/.test(most) ? { messagingLimit: most } : {};
}

function accountValues(
  value: Record<string, unknown>,
): Extract<ProviderReport, { about: 'business_account' }>['values'] {
  switch (value['event']) {
    case 'DISABLED_UPDATE':
      return optional('ban', members(value['ban_info'])['waba_ban_state']);
    case 'ACCOUNT_RESTRICTION':
      return {
        restrictions: elements(value['restriction_info'])
          .map(members)
          .flatMap(({ restriction_type: kind, expiration }) =>
            typeof kind === 'string' ? [{ kind, until: secondsOf(expiration) }] : [],
          ),
      };
    case 'ACCOUNT_DELETED':
      return { isDeleted: true };
    default:
      return optional('notice', value['event']);
  }
}

function secondsOf(value: unknown): number | null {
  const seconds = Number(value);
  return /^[0-9]{1,12}$/.test(String(value)) ? seconds : null;
}
