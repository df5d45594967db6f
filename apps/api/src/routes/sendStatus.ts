import type { RequestHandler } from 'express';
import { Problem, verificationAt, type CreatedSend, type Send } from '@onecode/domain';
import { describeSpan } from '@onecode/runtime';
import { isId } from '@onecode/store/client';
import { findSend } from '@onecode/store/sends';
import { answerJson } from '../answer.js';
import type { ApiContext } from '../context.js';
import { setSendId } from '../requests.js';

/** Returns the handler of `GET /v1/send/{id}/status`. It answers 404 for sends of other accounts. */
export function sendStatusRoute({ authenticate, database }: ApiContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const caller = await authenticate(request);
    const { id } = request.params;
    if (isId(id)) setSendId(request, id);
    const send = isId(id) ? await findSend(database, { id, accountId: caller.accountId }) : undefined;
    if (send === undefined) throw new Problem('send_not_found');
    describeSpan({}, send.traceparent);
    answerJson(response, 200, sendView(send, send.now));
  };
}

/** Returns the public form of a send (`Send` in `openapi.yaml`): always with all fields, never with the code. */
export function sendView(send: CreatedSend & Partial<Send>, now: Date): object {
  return {
    id: send.id,
    status: send.status,
    verification: verificationAt(send, now),
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
