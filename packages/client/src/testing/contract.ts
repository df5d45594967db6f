/** The fields of the contract that this server writes and reads. */
export type Mode = 'test' | 'live';
export type Locale = 'pt-BR' | 'en';
export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed';
export type Verification = 'pending' | 'verified' | 'expired' | 'locked';
export type FailureReason = 'expired_before_delivery' | 'attempts_exhausted' | 'rejected_by_provider';

export interface Send {
  id: string;
  status: DeliveryStatus;
  verification: Verification;
  mode: Mode;
  channel: string | null;
  from: string | null;
  expires_at: string;
  created_at: string;
  sent_at: string | null;
  delivered_at: string | null;
  read_at: string | null;
  verified_at: string | null;
  failed_at: string | null;
  failure_reason: FailureReason | null;
}

export interface VerifyResult {
  valid: boolean;
  verification: Verification;
  attempts_left: number;
}
