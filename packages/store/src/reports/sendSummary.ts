import {
  maskRecipient,
  verificationAt,
  type Channel,
  type DeliveryState,
  type FailureReason,
  type Locale,
  type Mode,
  type StoredVerification,
  type UnitBucket,
  type Verification,
} from '@onecode/domain';
import { Prisma } from '../generated/prisma/client.js';

/** A send in a list, without its code, and with its recipient masked by `maskRecipient`. */
export interface SendSummary {
  id: string;
  applicationId: string;
  applicationName: string;
  mode: Mode;
  status: DeliveryState;
  /** By the database's clock, as in the API. */
  verification: Verification;
  recipientMasked: string;
  country: string;
  locale: Locale;
  channel: Channel | null;
  createdAt: Date;
  expiresAt: Date;
  failureReason: FailureReason | null;
  chargedFrom: UnitBucket | null;
}

/** A row with the columns of `SUMMARY_COLUMNS` and the database's time. */
export interface SummaryRow extends Omit<SendSummary, 'verification' | 'recipientMasked'> {
  verification: StoredVerification;
  recipient: string;
  now: Date;
}

/** The select list of a summary, from a send `s` and its application `a`. */
export const SUMMARY_COLUMNS = Prisma.sql`s.id, s.application_id as "applicationId", a.name as "applicationName", s.mode, s.status,
  s.verification, s.recipient, s.country, s.locale, s.channel, s.created_at as "createdAt", s.expires_at as "expiresAt",
  s.failure_reason as "failureReason", s.charged_from as "chargedFrom", statement_timestamp() as now`;

/** Returns the presentable form of a row; additional columns are kept. */
export const toSummary = <Row extends SummaryRow>({ recipient, now, ...row }: Row) => ({
  ...row,
  verification: verificationAt(row, now),
  recipientMasked: maskRecipient(recipient),
});
