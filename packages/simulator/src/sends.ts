import express, { Router, type Request, type Response } from 'express';
import { cut, isRefusal, json, metaError, nothing, refuse, webPage, type Refusal } from './answers.js';
import type { BusinessAccountState, SenderState } from './businessStates.js';
import { endedAtOnce, type Fault } from './faults.js';
import { openRequest, waIdOf, type Message, type Outcome, type RequestRecord } from './log.js';
import type { Parts } from './parts.js';
import { readTemplateRequest, type TemplateRequest } from './templateRequest.js';

const BODY_BYTES_MAX = 1024 * 1024;
const IDENTITY_CHANGED = 137000;
const NOT_REGISTERED = 133010;

/** `POST /{version}/{phone number id}/messages`. */
export function sends(parts: Parts): Router {
  const router = Router();
  const readBody = express.json({ type: () => true, limit: BODY_BYTES_MAX });
  router.post(/^\/v\d+\.\d+\/(?<phoneNumberId>[^/]+)\/messages\/?$/, readBody, (request, response) =>
    answer(parts, request, response),
  );
  return router;
}

async function answer(parts: Parts, request: Request, response: Response): Promise<void> {
  const phoneNumberId = String(request.params['phoneNumberId']);
  const record = openRequest(parts.requests, phoneNumberId);
  const wanted = judge(parts, request, phoneNumberId, record);
  if (isRefusal(wanted)) {
    refuse(response, wanted);
    record.outcome = 'refused';
    record.http = wanted.http;
    record.code = wanted.body?.error.code ?? null;
    return;
  }
  const { wabaId } = parts.business.sender(phoneNumberId);
  const rule = parts.rules.take({ recipient: wanted.to, sender: phoneNumberId, wabaId });
  record.rule = rule?.id ?? null;
  await obey(parts, rule?.fault ?? {}, wanted, record, response);
}

/** Runs Meta's checks of a message, in Meta's order. */
function judge(
  { business, limits, throttles }: Parts,
  request: Request,
  phoneNumberId: string,
  record: RequestRecord,
): TemplateRequest | Refusal {
  const refused = business.refusal('post', phoneNumberId, request.headers.authorization);
  if (refused) return refused;
  const { wabaId, status, registered } = business.sender(phoneNumberId);
  const wanted = readTemplateRequest(request.body, (name, language) =>
    business.findTemplate({ wabaId, name, language }),
  );
  if (isRefusal(wanted)) return wanted;
  record.to = wanted.to;
  record.opaque = wanted.opaque;
  record.language = wanted.language;
  const throttled = throttles.take({ sender: phoneNumberId, recipient: wanted.to, wabaId });
  if (throttled) return throttled;
  const blocked =
    ACCOUNT_ERROR[business.account(wabaId).condition] ??
    SENDER_ERROR[status] ??
    (registered ? undefined : NOT_REGISTERED);
  if (blocked !== undefined) return metaError(blocked);
  return limits.take(phoneNumberId) ?? wanted;
}

/** The error of every send by a business account in this condition. */
const ACCOUNT_ERROR: Readonly<Partial<Record<BusinessAccountState['condition'], number>>> = {
  restricted: 368,
  disabled: 131031,
  payment_issue: 131042,
};

/** The error of every send by a number with this status. */
const SENDER_ERROR: Readonly<Partial<Record<SenderState['status'], number>>> = {
  RESTRICTED: 131048,
  RATE_LIMITED: 131048,
  BANNED: 133010,
  PENDING: 133010,
  UNVERIFIED: 133010,
  DISCONNECTED: 133010,
  MIGRATED: 133010,
};

/** Handles a valid request with its fault; without one, creates a message, posts its receipts and answers as Meta does. */
async function obey(
  parts: Parts,
  fault: Fault,
  wanted: TemplateRequest,
  record: RequestRecord,
  response: Response,
): Promise<void> {
  const ended = await endedAtOnce(parts.timers, fault, response);
  if (ended !== null) {
    Object.assign(record, ended);
    return;
  }
  const http = fault.wrongBody === undefined ? 200 : (fault.http ?? 200);
  const message = http < 400 ? accept(parts, wanted, record, fault) : null;
  const followed = message && parts.receipts.follow(message, withIdentityCheck(parts, fault, wanted));
  if (fault.receiptsBeforeAnswer) await followed;
  record.outcome = outcomeOf(fault);
  if (fault.reset === 'after') return void cut(response);
  if (response.destroyed) return;
  record.http = http;
  if (fault.retryAfter !== undefined) response.setHeader('Retry-After', fault.retryAfter);
  if (fault.wrongBody === 'html') webPage(response, http);
  else if (fault.wrongBody === 'empty') nothing(response, http);
  else json(response, http, accepted(wanted, fault, message));
}

/**
 * A message with the identity hash of another person fails after its acceptance: the number has changed hands.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/phone-numbers#identity-change-check
 */
function withIdentityCheck({ business }: Parts, fault: Fault, wanted: TemplateRequest): Fault {
  const { to, identityKeyHash } = wanted;
  if (identityKeyHash === null || identityKeyHash === business.identityOf(to)) return fault;
  return { ...fault, lateFailure: IDENTITY_CHANGED };
}

function outcomeOf(fault: Fault): Outcome {
  if (fault.reset === 'after') return 'reset_after';
  if (fault.wrongBody !== undefined) return 'wrong_body';
  if (fault.acceptThenDrop) return 'dropped';
  return fault.lateFailure === undefined ? 'accepted' : 'late_failure';
}

function accept(parts: Parts, wanted: TemplateRequest, record: RequestRecord, fault: Fault): Message {
  const { input: _input, identityKeyHash: _hash, ...said } = wanted;
  const dropped = fault.acceptThenDrop ?? false;
  const message = parts.messages.accept({ ...said, sender: record.sender, dropped });
  record.messageId = message.id;
  return message;
}

function accepted({ to, input }: TemplateRequest, fault: Fault, message: Message | null) {
  const named = { id: message?.id, message_status: fault.messageStatus ?? 'accepted' };
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input, wa_id: waIdOf(to) }],
    messages: [fault.wrongBody === 'no_id' ? {} : named],
  };
}
