import type { BreakerRule, Locale } from '@onecode/domain';
import type { AccountDetails, Defences, FoundAccount, MemberRole } from '@onecode/store';
import { applicationView, type ApplicationView } from '../applications/view.js';

/** An account in the list of operators. */
export interface StaffAccountView {
  id: string;
  name: string;
  freeQuota: number;
  credits: number;
  sendsCreated: number;
  createdAt: string;
  suspendedAt: string | null;
  /** Whether a kill switch of its own holds its live sends. */
  held: boolean;
}

export interface StaffAccountsView {
  accounts: StaffAccountView[];
  /** The cursor of the next page. */
  next: string | null;
}

/** An account and all that operators decide about it. */
export interface StaffAccountDetailsView extends StaffAccountView {
  language: Locale;
  suspensionReason: string | null;
  /** The limit in force: its own, or the setting's when that is null. */
  ratePerMinute: number;
  ownRatePerMinute: number | null;
  /** ISO 3166 codes; null is every country. */
  allowedCountries: string[] | null;
  /** Where it may send while it is on trial; null when it is not. */
  trialCountries: string[] | null;
  /** Null is off. */
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
  { allowedCountries, breaker, stoppedCountries, stoppedUntil, refusedRecipients }: Defences,
): StaffAccountDetailsView {
  const { language, suspensionReason, ratePerMinute, ownRatePerMinute, trialCountries, members } = account;
  return {
    ...staffAccountView(account),
    language,
    suspensionReason,
    ratePerMinute,
    ownRatePerMinute,
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
