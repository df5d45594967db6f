import type { BreakerRule, Locale } from '@onecode/domain';
import type { AccountDetails, AbuseControls, FoundAccount, MemberRole } from '@onecode/store';
import { applicationView, type ApplicationView } from '../applications/view.js';

/** An account in the staff's list. */
export interface StaffAccountView {
  id: string;
  name: string;
  freeQuota: number;
  credits: number;
  sendsCreated: number;
  createdAt: string;
  suspendedAt: string | null;
  /** Whether a hold of its own stops its live sends. */
  held: boolean;
}

export interface StaffAccountsView {
  accounts: StaffAccountView[];
  /** The cursor of the next page. */
  next: string | null;
}

/** An account and everything that operators decide about it. */
export interface StaffAccountDetailsView extends StaffAccountView {
  language: Locale;
  suspensionReason: string | null;
  /** The limit in force: `ownRatePerMinute`, or the setting when that is null. */
  ratePerMinute: number;
  ownRatePerMinute: number | null;
  /** How many turns it gets for one of another account while the senders cannot keep up. */
  weight: number;
  /** ISO 3166 codes; null means every country. */
  allowedCountries: string[] | null;
  /** Countries it may send to while on trial; null when it is not on trial. */
  trialCountries: string[] | null;
  /** Null means off. */
  breaker: BreakerRule | null;
  stoppedCountries: string[];
  stoppedUntil: string | null;
  refusedRecipients: number;
  /** Latest first. */
  trips: { country: string; trippedAt: string; openUntil: string; sends: number; unverified: number }[];
  applications: ApplicationView[];
  members: { id: string; name: string; role: MemberRole }[];
}

export function staffAccountView(account: FoundAccount): StaffAccountView {
  const { id, name, freeQuota, credits, sendsCreated, createdAt, suspendedAt, held } = account;
  return {
    id,
    name,
    freeQuota,
    credits,
    sendsCreated,
    createdAt: createdAt.toISOString(),
    suspendedAt: suspendedAt?.toISOString() ?? null,
    held,
  };
}

export function staffAccountDetailsView(
  account: AccountDetails,
  { allowedCountries, breaker, stoppedCountries, stoppedUntil, refusedRecipients }: AbuseControls,
): StaffAccountDetailsView {
  const { language, suspensionReason, ratePerMinute, ownRatePerMinute, weight, trialCountries, members } =
    account;
  return {
    ...staffAccountView(account),
    language,
    suspensionReason,
    ratePerMinute,
    ownRatePerMinute,
    weight,
    allowedCountries,
    trialCountries,
    breaker,
    stoppedCountries,
    stoppedUntil: stoppedUntil?.toISOString() ?? null,
    refusedRecipients,
    trips: account.trips.map(({ trippedAt, openUntil, ...trip }) => ({
      ...trip,
      trippedAt: trippedAt.toISOString(),
      openUntil: openUntil.toISOString(),
    })),
    applications: account.applications.map(applicationView),
    members,
  };
}
