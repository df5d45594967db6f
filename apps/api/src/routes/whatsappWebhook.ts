import type { Request, RequestHandler } from 'express';
import { Problem, type WebhookResult } from '@onecode/domain';
import { isId } from '@onecode/store/client';
import { findOwnApp, type OwnApp } from '@onecode/store/senders';
import { reportsOfApp, storeReports } from '@onecode/store/sends';
import {
  handshakeAnswer,
  isSignature,
  parseWebhook,
  signatureMatches,
  verifyTokenOf,
} from '@onecode/whatsapp';
import type { ApiContext } from '../context.js';
import { answerText } from '../answer.js';
import { createBodyReader } from '../requests.js';

/**
 * The largest webhook that Meta documents. Real posts are a few kilobytes; after an outage, they have up to 1,000 statuses, about 350 KiB.
 */
const BODY_BYTES_MAX = 3 * 1024 * 1024;
/**
 * The limit for all bodies being read together: any client can post, and the signature can be checked only when the whole body is in
 * memory.
 */
const BODIES_BYTES_MAX = 40 * 1024 * 1024;

/** The path parameters of a webhook: the id of a sender with its own Meta app. */
type OfApp = { id?: string };

/** Returns the sender's own app that posts to this address; null at the shared address. @throws Problem `not_found` */
async function appOf(
  { database, config }: ApiContext,
  { params: { id } }: Request<OfApp>,
): Promise<OwnApp | null> {
  if (id === undefined) return null;
  const app = isId(id) ? await findOwnApp(database, config.SECRET_KEY, id) : null;
  if (app === null) throw new Problem('not_found');
  return app;
}

/** Returns the handler of `GET /webhooks/whatsapp` and `…/<sender>`: Meta's handshake, which verifies the owner of the address. */
export function webhookHandshakeRoute(context: ApiContext): RequestHandler<OfApp> {
  return async (request, response) => {
    const app = await appOf(context, request);
    const { WHATSAPP_VERIFY_TOKEN } = context.config;
    const token = app === null ? WHATSAPP_VERIFY_TOKEN : verifyTokenOf(app.secret, request.params.id ?? '');
    const answer = handshakeAnswer(request.query, token);
    if (answer === null) throw new Problem('forbidden');
    answerText(response, 200, answer);
  };
}

/**
 * Returns the handler of `POST /webhooks/whatsapp` and `…/<sender>`. It stores the reports in the post, responds with 200, and wakes a
 * worker, which applies them.
 *
 * - A post without a well-formed signature is refused before its body is read.
 * - The signature of the raw bytes is checked before they are parsed.
 * - Of an account's own app, only the reports that it may make are stored (`reportsOfApp`).
 */
export function webhookRoute(context: ApiContext): RequestHandler<OfApp> {
  const { database, deliveryQueue, config, traffic } = context;
  const readBody = createBodyReader('payload_too_large', BODY_BYTES_MAX, BODIES_BYTES_MAX);
  const count = (result: WebhookResult): void =>
    traffic.count({ event: 'webhook', country: '', senderId: '', accountId: '', reason: result });

  return async (request, response) => {
    const signature = request.headers['x-hub-signature-256'];
    if (!isSignature(signature)) throw new Problem('invalid_signature');
    const app = await appOf(context, request);
    const secrets = app === null ? config.WHATSAPP_APP_SECRET : [app.secret];
    const body = await readBody(request);
    if (!secrets.some((secret) => signatureMatches(body, signature, secret))) {
      count('invalid_signature');
      throw new Problem('invalid_signature');
    }
    const reports = parseWebhook(body, config.NUMBER_PEPPER);
    if (reports === null) throw new Problem('invalid_json');
    const own = app === null ? reports : await reportsOfApp(database, app, reports);
    // Meta will repeat the post later.
    if (own === null) throw new Problem('too_busy');
    // crash point: api webhook before store
    const stored = await storeReports(database, own, app?.accountId ?? null);
    // crash point: api webhook after store
    if (stored > 0) void deliveryQueue.enqueueReports();
    count('accepted');
    answerText(response, 200, 'ok');
  };
}
