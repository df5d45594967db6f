import express, { Router, type Request, type Response } from 'express';
import { obey, refuse, type SendParts } from './answers.js';
import { graphError, metaError, type MetaError } from './errors.js';
import type { Rules } from './faults.js';
import type { RequestRecord, Requests } from './requests.js';
import type { Senders } from './senders.js';
import type { Throughput } from './throughput.js';
import { readTemplateRequest, type TemplateRequest, type Templates } from './validation.js';

export interface CloudApiParts extends SendParts {
  requests: Requests;
  rules: Rules;
  senders: Senders;
  templates: Templates;
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
    record.code = wanted.body.error.code;
    return;
  }
  const rule = parts.rules.take(wanted.to, phoneNumberId);
  record.rule = rule?.id ?? null;
  await obey(parts, rule?.fault ?? {}, wanted, record, response);
}

/** Everything that Meta checks before it takes a message, in its order. */
function judge(
  { senders, templates, throughput }: CloudApiParts,
  request: Request,
  phoneNumberId: string,
  record: RequestRecord,
): TemplateRequest | MetaError {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined)
    return graphError(401, 190, 'An access token is required to request this resource.');
  const sender = senders.find(phoneNumberId);
  if (!sender) return unknownSender(phoneNumberId);
  if (sender.token !== undefined && sender.token !== token)
    return graphError(401, 190, 'Invalid OAuth access token - Cannot parse access token');

  const body = readJson(request);
  if (body === undefined) return unreadable();
  const wanted = readTemplateRequest(body, templates);
  if ('body' in wanted) return wanted;
  record.to = wanted.to;
  record.opaque = wanted.opaque;
  if (wanted.to === `+${senders.describe(phoneNumberId).displayPhoneNumber}`) return metaError(131021);
  return throughput.take(phoneNumberId, wanted.to) ?? wanted;
}

function unknownSender(phoneNumberId: string): MetaError {
  return graphError(
    400,
    100,
    `Unsupported post request. Object with ID '${phoneNumberId.slice(0, 64)}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    { type: 'GraphMethodException', subcode: 33 },
  );
}

/** The parsed body, `undefined` when it is no JSON. Graph finds no parameters in a body that is not declared as JSON. */
function readJson(request: Request): unknown {
  if (!request.is('application/json') || !Buffer.isBuffer(request.body)) return {};
  try {
    return JSON.parse(request.body.toString('utf8'));
  } catch {
    return undefined;
  }
}
