import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import {
  bodyHashes,
  encrypt,
  generateCode,
  guessCost,
  hashCode,
  LIMIT_REFUSALS,
  matchesCode,
  Problem,
  RECIPIENT_REFUSALS,
  recipientKeys,
  TEST_CODE,
  verificationAt,
  type CreatedSend,
  type RateWindow,
  type Send,
} from '@onecode/domain';
import { describeSpan, inSpan, requestFacts, SpanKind, traceparentOf, type Queues } from '@onecode/runtime';
import { isId, newId } from '@onecode/store/client';
import { createSend, findSend, verifySend } from '@onecode/store/sends';
import { answerJson } from '../answer.js';
import { invalidKey } from '../auth.js';
import type { ApiContext } from '../context.js';
import { parseCreateSend, parseVerify } from '../contract.js';
import { idempotencyKeyBytes, readJsonBody, setSendId } from '../requests.js';

const IDEMPOTENCY_KEY_BYTES_MAX = 255;

/** Returns the handler of `POST /v1/send`. The order of the checks is part of the contract. */
export function createSendRoute({
  authenticate,
  database,
  deliveryQueue,
  config,
  metrics,
}: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(request, true);
    const { key, body, fields } = await readRequest(request).catch(async (error: unknown) => {
      // Without a creation, nothing else checks the key again. An invalid key takes precedence over an invalid request.
      await authenticate(request);
      throw error;
    });
    const { recipient, code: ownCode, locale } = fields;

    const [recipientKey = '', ...olderRecipientKeys] = recipientKeys(
      config.NUMBER_PEPPER,
      recipient.canonical,
    );
    const id = newId();
    const code = ownCode ?? (caller.mode === 'test' ? TEST_CODE : generateCode());
    // crash point: api create before commit
    const creation = await inSpan('create send', {}, (span) =>
      createSend(database, {
        id,
        keyId: caller.keyId,
        accountId: caller.accountId,
        applicationId: caller.applicationId,
        idempotency: key && { key: key.toString('hex'), bodyHashes: bodyHashes(config.NUMBER_PEPPER, body) },
        recipient: recipient.e164,
        recipientKey,
        olderRecipientKeys,
        country: recipient.country,
        isPremiumRate: recipient.isPremiumRate,
        locale,
        codeHash: hashCode(config.CODE_PEPPER, id, code),
        encryptedCode: caller.mode === 'live' ? encrypt(config.SECRET_KEY, id, code) : null,
        guessCost: guessCost(code),
        requestId: requestFacts(request).request_id,
        traceparent: traceparentOf(span),
      }),
    );
    // crash point: api create after commit
    metrics.creations.inc({ mode: caller.mode, outcome: creation.outcome });
    describeSpan({ 'onecode.outcome': creation.outcome });
    if ('send' in creation) setSendId(request, creation.send.id);
    if ('windows' in creation) setRateLimit(response, creation.windows, creation.outcome !== 'created');

    switch (creation.outcome) {
      case 'reused':
        throw new Problem('idempotency_key_reused');
      case 'key_refused':
        // Replaces a cached caller that is over a second old, so that the key's next requests are refused without a creation.
        await authenticate(request);
        throw invalidKey(creation.cause);
      case 'recipient_refused':
        throw new Problem('invalid_recipient', {
          detail: RECIPIENT_REFUSALS[creation.cause],
          errors: { to: 'Must be a number that this account sends to.' },
        });
      case 'rate_limited':
        throw new Problem('rate_limited', {
          detail: LIMIT_REFUSALS[creation.cause],
          retryAfterSeconds: creation.retryAfterSeconds,
        });
      case 'insufficient_credits':
        throw new Problem('insufficient_credits');
      case 'existing':
        describeSpan({}, creation.send.traceparent);
        break;
      case 'created':
        // A send behind waiting ones needs no job: a worker takes it at its account's turn.
        if (creation.send.phase === 'waiting') break;
        // Not awaited: the row is committed, and the delivery loop takes the send if this fails.
        void enqueue(deliveryQueue, creation.send);
    }
    // crash point: api create before answer
    answerJson(response, 202, sendView(creation.send));
  };
}

async function enqueue(
  deliveryQueue: Queues,
  { id, mode, traceparent }: Pick<Send, 'id' | 'mode' | 'traceparent'>,
): Promise<void> {
  const queue = mode === 'test' ? 'simulate' : 'deliver';
  await inSpan(`publish ${queue}`, { kind: SpanKind.PRODUCER, parent: traceparent }, async (span) => {
    const isAccepted = await deliveryQueue.enqueue(queue, id);
    span.setAttributes({ 'onecode.send_id': id, 'onecode.accepted': isAccepted });
  });
}

/** Returns the idempotency key, the body and its fields. @throws Problem for the first invalid one, or as `readJsonBody` */
async function readRequest(request: IncomingMessage) {
  const key = idempotencyKeyBytes(request);
  if (key !== null && key.length > IDEMPOTENCY_KEY_BYTES_MAX)
    throw new Problem('invalid_idempotency_key', {
      detail: `The key is longer than ${IDEMPOTENCY_KEY_BYTES_MAX} bytes.`,
    });
  const body = await readJsonBody(request);
  return { key, body, fields: parseCreateSend(body) };
}

/**
 * Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): for each active limit its quota, window and remainder.
 * For a refused request, `t` is set for exhausted limits only. The draft requires `Retry-After` to be no earlier than any `t`, but a limit
 * that is not exhausted may reset later than that.
 */
function setRateLimit(response: ServerResponse, windows: readonly RateWindow[], isRefused: boolean): void {
  const policies = windows.map(({ limit, quota, windowMs }) => `"${limit}";q=${quota};w=${windowMs / 1000}`);
  const states = windows.map(({ limit, left, opensInMs }) => {
    const state = `"${limit}";r=${Math.max(left, 0)}`;
    return isRefused && left > 0 ? state : `${state};t=${Math.ceil(opensInMs / 1000)}`;
  });
  response.setHeader('RateLimit-Policy', policies.join(', '));
  response.setHeader('RateLimit', states.join(', '));
}

/** Returns the handler of `GET /v1/send/{id}/status`. It answers 404 for sends of other accounts. */
export function sendStatusRoute({ authenticate, database }: ApiContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const caller = await authenticate(request);
    const { id } = request.params;
    if (isId(id)) setSendId(request, id);
    const send = isId(id) ? await findSend(database, { id, accountId: caller.accountId }) : undefined;
    if (send === undefined) throw new Problem('send_not_found');
    describeSpan({}, send.traceparent);
    answerJson(response, 200, sendView(send));
  };
}

/**
 * Returns the handler of `POST /v1/send/{id}/verify`. A guess is committed before the response, so it counts even if the response is lost.
 */
export function verifyRoute({
  authenticate,
  database,
  config,
  metrics,
}: ApiContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const caller = await authenticate(request);
    const { id } = request.params;
    if (!isId(id)) throw new Problem('send_not_found');
    setSendId(request, id);
    const body = await readJsonBody(request);
    // The body may arrive long after the headers, and a guess at a finished code does not check the key again.
    await authenticate(request);
    const code = parseVerify(body);
    // crash point: api verify before commit
    const guessed = await verifySend(database, {
      id,
      accountId: caller.accountId,
      keyId: caller.keyId,
      matches: (codeHash) => matchesCode(config.CODE_PEPPER, id, code, codeHash),
    });
    // crash point: api verify after commit
    if (guessed.outcome === 'not_found') throw new Problem('send_not_found');
    if (guessed.outcome === 'key_refused') throw invalidKey(guessed.cause);
    const { valid, verification, attemptsLeft } = guessed.judgement;
    describeSpan({ 'onecode.verification': verification }, guessed.traceparent);
    metrics.verifications.inc({ verification, valid: String(valid) });
    answerJson(response, 200, { valid, verification, attempts_left: attemptsLeft });
  };
}

/**
 * Returns the public form of a send (`Send` in `openapi.yaml`): always with all fields, never with the code.
 *
 * @param send a new send, or one that was read at its time `now`
 */
function sendView(send: CreatedSend & Partial<Send> & { now?: Date }): object {
  return {
    id: send.id,
    status: send.status,
    verification: verificationAt(send, send.now ?? send.createdAt),
    mode: send.mode,
    channel: send.channel ?? null,
    from: send.from ?? null,
    expires_at: send.expiresAt.toISOString(),
    created_at: send.createdAt.toISOString(),
    sent_at: send.sentAt?.toISOString() ?? null,
    delivered_at: send.deliveredAt?.toISOString() ?? null,
    read_at: send.readAt?.toISOString() ?? null,
    verified_at: send.verifiedAt?.toISOString() ?? null,
    failed_at: send.failedAt?.toISOString() ?? null,
    failure_reason: send.failureReason ?? null,
  };
}
