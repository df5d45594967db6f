import { verificationAt, type Send } from '@onecode/domain';
import type { CreatedSend } from '@onecode/store/sends';

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
