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

/** A send in a list: never its code, and its recipient masked by `maskRecipient`. */
export interface SendSummary {
  id: string;
  applicationId: string;
  applicationName: string;
  mode: Mode;
  status: DeliveryState;
  /** By the database's clock, as in the API. */
  verification: Verification;
  recipientMasked: string;
  /** ISO 3166, or null for numbers of no country. */
  country: string | null;
  locale: Locale;
  channel: Channel | null;
  createdAt: Date;
  expiresAt: Date;
  failureReason: FailureReason | null;
  /** Where a live send's unit was taken from. */
  chargedFrom: UnitBucket | null;
}

/** A row with the columns of `SUMMARY_COLUMNS` and the database's clock. */
export interface SummaryRow {
  id: string;
  application_id: string;
  application_name: string;
  mode: string;
  status: string;
  verification: string;
  recipient: string;
  country: string | null;
  locale: string;
  channel: string | null;
  created_at: Date;
  expires_at: Date;
  failure_reason: string | null;
  charged_from: string | null;
  now: Date;
}

/** The select list of a summary, from a send `s` and its application `a`. */
export const SUMMARY_COLUMNS = Prisma.sql`s.id, s.application_id, a.name as application_name, s.mode, s.status, s.verification,
  s.recipient, s.country, s.locale, s.channel, s.created_at, s.expires_at, s.failure_reason, s.charged_from`;

/** The casts are safe: the table's checks allow no other words. */
export function summaryOf(row: SummaryRow): SendSummary {
  const stored = { verification: row.verification as StoredVerification, expiresAt: row.expires_at };
  return {
    id: row.id,
    applicationId: row.application_id,
    applicationName: row.application_name,
    mode: row.mode as Mode,
    status: row.status as DeliveryState,
    verification: verificationAt(stored, row.now),
    recipientMasked: maskRecipient(row.recipient),
    country: row.country,
    locale: row.locale as Locale,
    channel: row.channel as Channel | null,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    failureReason: row.failure_reason as FailureReason | null,
    chargedFrom: row.charged_from as UnitBucket | null,
  };
}
