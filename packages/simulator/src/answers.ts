import type { Response } from 'express';
import { metaError, type Refusal } from './errors.js';
import type { Fault } from './faults.js';
import { newMessageId, waIdOf } from './identity.js';
import type { Message, Messages } from './messages.js';
import type { Receipts } from './receipts.js';
import type { Outcome, RequestRecord } from './requests.js';
import { templateText } from './templateText.js';
import type { Timers } from './timers.js';
import type { Business } from './business.js';
import type { TemplateRequest } from './validation.js';

const IDENTITY_CHANGED = 137000;

export interface SendParts {
  business: Business;
  messages: Messages;
  receipts: Receipts;
  timers: Timers;
}

/** Answers with an error. */
export function refuse(response: Response, { http, retryAfter, body }: Refusal): void {
  if (retryAfter !== null) response.setHeader('Retry-After', retryAfter);
  if (body === null) webPage(response, http);
  else json(response, http, body);
}

/**
 * Takes a valid request as its fault says: without one, a message, its receipts and Meta's answer. The record is complete when
 * this resolves.
 */
export async function obey(
  parts: SendParts,
  fault: Fault,
  wanted: TemplateRequest,
  record: RequestRecord,
  response: Response,
): Promise<void> {
  if (await goesWrongAtOnce(parts.timers, fault, record, response)) return;
  const message = isRefusal(fault) ? null : accept(parts, wanted, record, fault);
  const followed = message && parts.receipts.follow(message, withIdentityCheck(parts, fault, wanted));
  if (fault.receiptsBeforeAnswer) await followed;
  record.outcome = outcomeOf(fault);
  if (fault.reset === 'after') return void cut(response);
  const http = fault.wrongBody === undefined ? 200 : (fault.http ?? 200);
  write(response, record, http, () => {
    if (fault.retryAfter !== undefined) response.setHeader('Retry-After', fault.retryAfter);
    if (fault.wrongBody !== undefined) wrongBody(response, http, fault.wrongBody, wanted);
    else if (message) json(response, http, success(message, wanted, fault));
  });
}

/** A read under its fault: it may wait, fail, or be answered as usual. */
export async function obeyRead(
  timers: Timers,
  fault: Fault,
  response: Response,
  answer: () => void,
): Promise<void> {
  if (await goesWrongAtOnce(timers, fault, null, response)) return;
  if (fault.wrongBody === 'html') webPage(response, fault.http ?? 200);
  else if (fault.wrongBody !== undefined) nothing(response, fault.http ?? 200);
  else answer();
}

/** Whether a fault ended the call before anything was done; waits first where it says so. */
async function goesWrongAtOnce(
  { scope }: Timers,
  fault: Fault,
  record: RequestRecord | null,
  response: Response,
): Promise<boolean> {
  const note = (outcome: Outcome) => {
    if (record) record.outcome = outcome;
  };
  if (fault.latencyMs !== undefined && !(await scope.sleep(fault.latencyMs))) cut(response);
  else if (fault.hang) {
    note('hung');
    response.once(
      'close',
      scope.atEnd(() => cut(response)),
    );
  } else if (fault.reset === 'before') {
    note('reset_before');
    cut(response);
  } else if (fault.error !== undefined) {
    note('error');
    if (record) record.code = fault.error;
    const error = metaError(fault.error, fault);
    write(response, record, error.http, () => refuse(response, error));
  } else return false;
  return true;
}

/**
 * A hash that is not the person's own lets the message fail after its acceptance: the number has changed hands.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/phone-numbers#identity-change-check
 */
function withIdentityCheck(
  { business: { identities } }: SendParts,
  fault: Fault,
  { to, identityKeyHash }: TemplateRequest,
): Fault {
  if (identityKeyHash === null || identityKeyHash === identities.hashOf(to)) return fault;
  return { ...fault, lateFailure: IDENTITY_CHANGED };
}

/** A wrong body that comes with an error status refuses the message; with any other status it only hides the success. */
function isRefusal(fault: Fault): boolean {
  return fault.wrongBody !== undefined && (fault.http ?? 200) >= 400;
}

function outcomeOf(fault: Fault): Outcome {
  if (fault.reset === 'after') return 'reset_after';
  if (fault.wrongBody !== undefined) return 'wrong_body';
  if (fault.acceptThenDrop) return 'dropped';
  if (fault.lateFailure !== undefined) return 'late_failure';
  return 'accepted';
}

function accept(parts: SendParts, wanted: TemplateRequest, record: RequestRecord, fault: Fault): Message {
  const waId = waIdOf(wanted.to);
  const message: Message = {
    id: newMessageId(waId),
    sender: record.sender,
    to: wanted.to,
    waId,
    template: wanted.template,
    language: wanted.language,
    code: wanted.code,
    text: templateText(wanted.language, wanted.code),
    opaque: wanted.opaque,
    status: 'accepted',
    dropped: fault.acceptThenDrop ?? false,
    acceptedAt: new Date().toISOString(),
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    failureCode: null,
    reportedAt: null,
    category: wanted.category,
  };
  record.messageId = message.id;
  parts.messages.add(message);
  return message;
}

function success(message: Message, wanted: TemplateRequest, fault: Fault) {
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: wanted.input, wa_id: message.waId }],
    messages: [{ id: message.id, message_status: fault.messageStatus ?? 'accepted' }],
  };
}

function wrongBody(
  response: Response,
  http: number,
  kind: NonNullable<Fault['wrongBody']>,
  wanted: TemplateRequest,
): void {
  if (kind === 'no_id') {
    const contacts = [{ input: wanted.input, wa_id: waIdOf(wanted.to) }];
    json(response, http, { messaging_product: 'whatsapp', contacts, messages: [{}] });
  } else if (kind === 'html') {
    webPage(response, http);
  } else {
    nothing(response, http);
  }
}

function nothing(response: Response, http: number): void {
  response.writeHead(http, { 'Content-Type': 'application/json; charset=UTF-8', 'Content-Length': 0 });
  response.end();
}

function webPage(response: Response, http: number): void {
  response.writeHead(http, { 'Content-Type': 'text/html; charset=utf-8' });
  response.end('<!DOCTYPE html><html><body><h1>Sorry, something went wrong.</h1></body></html>');
}

/** Writes an answer, and notes its status where the caller was still there to get it. */
function write(response: Response, record: RequestRecord | null, http: number, send: () => void): void {
  if (response.destroyed) return;
  send();
  if (record) record.http = http;
}

/** A TCP reset, without an answer. */
function cut(response: Response): void {
  response.socket?.resetAndDestroy();
}

export function json(response: Response, http: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(http, {
    'Content-Type': 'application/json; charset=UTF-8',
    'Content-Length': bytes.length,
    'Cache-Control': 'private, no-cache, no-store, must-revalidate',
  });
  response.end(bytes);
}
