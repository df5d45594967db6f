import type { Receipt } from '@onecode/domain';
import { classifyError } from './errors.js';
import { elements, errorNumber, members, parseJson } from './json.js';
import { isMessageId } from './messageId.js';

/** The body of a webhook is not JSON. The message does not repeat it, because it may contain personal data. */
export class UnreadableReceipt extends Error {
  override readonly name = 'UnreadableReceipt';

  constructor() {
    super('The body of the webhook is not JSON.');
  }
}

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** 2009-01-01. WhatsApp did not exist before, so an earlier time is wrong. */
const EARLIEST_SECONDS = 1_230_768_000;
const CLOCK_SKEW_SECONDS = 86_400;

/**
 * The receipts in the raw body of a status webhook, in their order, with duplicates.
 *
 * Other objects, fields, statuses and members are ignored, and so is a status without a possible message id. A missing or impossible
 * time becomes the present, because a receipt must not be lost for its time.
 *
 * @throws {UnreadableReceipt} only if the body is not JSON.
 */
export function parseReceipts(rawBody: Buffer): Receipt[] {
  const parsed = parseJson(new TextDecoder().decode(rawBody));
  if (parsed === undefined) throw new UnreadableReceipt();
  const post = members(parsed);
  if (!isAbsentOr(post['object'], 'whatsapp_business_account')) return [];
  return elements(post['entry'])
    .flatMap((entry) => elements(members(entry)['changes']))
    .map(members)
    .filter((change) => isAbsentOr(change['field'], 'messages'))
    .flatMap((change) => elements(members(change['value'])['statuses']))
    .flatMap((status) => receipt(members(status)) ?? []);
}

function receipt(status: Record<string, unknown>): Receipt | null {
  const { id, status: name, type, timestamp, biz_opaque_callback_data: opaque, errors } = status;
  // This array also has the statuses of payments, which can be `failed` too.
  if (!isAbsentOr(type, 'message') || !isReceiptStatus(name) || !isMessageId(id)) return null;
  return {
    messageId: id,
    attemptId: typeof opaque === 'string' && CANONICAL_UUID.test(opaque) ? opaque : null,
    status: name,
    occurredAt: timeOf(timestamp),
    failure: name === 'failed' ? failureOf(elements(errors)[0]) : null,
  };
}

function isReceiptStatus(name: unknown): name is Receipt['status'] {
  return name === 'sent' || name === 'delivered' || name === 'read' || name === 'failed';
}

function failureOf(error: unknown): Receipt['failure'] {
  const { code, error_subcode: subcode } = members(error);
  return classifyError({ httpStatus: null, code: errorNumber(code), subcode: errorNumber(subcode) });
}

/** The time of a `timestamp`, a string of whole seconds. Milliseconds would give a year that PostgreSQL cannot store. */
function timeOf(timestamp: unknown): Date {
  const text = typeof timestamp === 'string' || typeof timestamp === 'number' ? String(timestamp) : '';
  const now = Date.now();
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  const isPossible = seconds >= EARLIEST_SECONDS && seconds <= now / 1000 + CLOCK_SKEW_SECONDS;
  return new Date(isPossible ? seconds * 1000 : now);
}

function isAbsentOr(value: unknown, expected: string): boolean {
  return value === undefined || value === null || value === expected;
}
