import express, { Router, type Request, type Response } from 'express';
import { obey, refuse, type SendParts } from './answers.js';
import type { BusinessAccountState } from './businessAccounts.js';
import { graphError, metaError, type Refusal } from './errors.js';
import type { Rules } from './faults.js';
import { unknownObject } from './reads.js';
import type { RequestRecord, Requests } from './requests.js';
import type { Throttles } from './throttles.js';
import type { Throughput } from './throughput.js';
import type { SenderState } from './senders.js';
import { bearerOf, invalidToken, noToken } from './tokens.js';
import { readTemplateRequest, type TemplateRequest } from './validation.js';

export interface CloudApiParts extends SendParts {
  requests: Requests;
  rules: Rules;
  throttles: Throttles;
  throughput: Throughput;
}

const BODY_BYTES_MAX = 1024 * 1024;

/** `POST /{version}/{phone number id}/messages`. */
export function cloudApi(parts: CloudApiParts): Router {
  const router = Router();
  const readBody = express.raw({ type: () => true, limit: BODY_BYTES_MAX });
  const path = /^\/v\d+\.\d+\/(?<phoneNumberId>[^/]+)\/messages\/?$/;
  router.post(path, readBody, (request, response) => answerSend(parts, request, response));
  router.all(path, (_request, response) => refuse(response, metaError(131055)));
  return router;
}

/** Meta's answer to a path that does not exist. */
export function answerUnknownPath(request: Request, response: Response): void {
  refuse(response, graphError(404, 2500, `Unknown path components: ${request.path.slice(0, 200)}`));
}

/** Meta's answer to a body that cannot be read: cut off, too large, in an encoding of its own, or no JSON. */
export const unreadable = () => graphError(400, 100, 'Invalid parameter: the body could not be read as JSON');

async function answerSend(parts: CloudApiParts, request: Request, response: Response): Promise<void> {
  const phoneNumberId = String(request.params['phoneNumberId']);
  const record = parts.requests.open(phoneNumberId);
  const wanted = judge(parts, request, phoneNumberId, record);
  if ('body' in wanted) {
    refuse(response, wanted);
    record.outcome = 'refused';
    record.http = wanted.http;
    record.code = wanted.body?.error.code ?? null;
    return;
  }
  const { wabaId } = parts.business.senders.describe(phoneNumberId);
  const rule = parts.rules.take(wanted.to, phoneNumberId, wabaId);
  record.rule = rule?.id ?? null;
  await obey(parts, rule?.fault ?? {}, wanted, record, response);
}

/** Everything that Meta checks before it takes a message, in its order. */
function judge(
  { business, throttles, throughput }: CloudApiParts,
  request: Request,
  phoneNumberId: string,
  record: RequestRecord,
): TemplateRequest | Refusal {
  const token = bearerOf(request.headers.authorization);
  if (token === undefined) return noToken();
  const sender = business.senders.find(phoneNumberId);
  if (!sender) return unknownObject('post', phoneNumberId);
  if (sender.token !== undefined && sender.token !== token) return invalidToken();
  const { wabaId, displayPhoneNumber, status } = business.senders.describe(phoneNumberId);
  const refused = business.tokens.refusal(token, 'whatsapp_business_messaging', wabaId, () =>
    unknownObject('post', phoneNumberId),
  );
  if (refused) return refused;

  const body = readJson(request);
  if (body === undefined) return unreadable();
  const wanted = readTemplateRequest(body, (name, language) =>
    business.templates.find({ wabaId, name, language }),
  );
  if ('body' in wanted) return wanted;
  record.to = wanted.to;
  record.opaque = wanted.opaque;
  record.language = wanted.language;
  if (wanted.to === `+${displayPhoneNumber}`) return metaError(131021);
  const throttled = throttles.take({ sender: phoneNumberId, recipient: wanted.to, wabaId });
  if (throttled) return throttled;
  const stopped = ACCOUNT_ERROR[business.accounts.describe(wabaId).condition] ?? SENDER_ERROR[status];
  if (stopped !== undefined) return metaError(stopped);
  const limited = throughput.take(phoneNumberId, wanted.to);
  if (limited) return limited;
  return business.portfolio.take(wanted.to) ? wanted : metaError(131048);
}

/** What a business account in this condition answers to every send. */
const ACCOUNT_ERROR: Readonly<Record<BusinessAccountState['condition'], number | undefined>> = {
  active: undefined,
  restricted: 368,
  disabled: 131031,
  payment_issue: 131042,
};

/** What a number with this status answers to every send; a flagged one still sends. */
const SENDER_ERROR: Readonly<Partial<Record<SenderState['status'], number>>> = {
  RESTRICTED: 131048,
  RATE_LIMITED: 131048,
  BANNED: 133010,
  PENDING: 133010,
  UNVERIFIED: 133010,
  DISCONNECTED: 133010,
  MIGRATED: 133010,
};

/** The parsed body, `undefined` when it is no JSON. Graph finds no parameters in a body that is not declared as JSON. */
function readJson(request: Request): unknown {
  if (!request.is('application/json') || !Buffer.isBuffer(request.body)) return {};
  try {
    return JSON.parse(request.body.toString('utf8'));
  } catch {
    return undefined;
  }
}
