import type { CreationRequest } from '@onecode/domain';

/** What a creation stores. The caller makes the id, because the code's hash and the encrypted code are bound to it. */
export interface NewSend extends CreationRequest {
  /** The key of the request, which is checked again. */
  keyId: string;
  /** E.164, as the request gave it. The message is sent to this form, and this form is shown. */
  recipient: string;
  /** The keys of the older peppers during a rotation of `NUMBER_PEPPER`. */
  olderRecipientKeys: readonly string[];
  codeHash: Uint8Array;
  /** Null in test mode. */
  encryptedCode: Uint8Array | null;
  /** A UUID, which log lines about the send carry. */
  requestId: string;
  /** The trace that the creation belongs to, as W3C's `traceparent`. */
  traceparent: string | null;
}
