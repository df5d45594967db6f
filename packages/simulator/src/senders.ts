import { changeOf, digits, oneOf, refuseFaults, faultsOf, text, type Member } from './input.js';

/** What Meta knows of a number, in Meta's own words. */
export interface SenderState {
  /** Digits without `+`. */
  displayPhoneNumber: string;
  /** The name that people see. */
  verifiedName: string;
  /** The WhatsApp Business account that owns it. */
  wabaId: string;
  status: (typeof STATUSES)[number];
  qualityRating: (typeof QUALITIES)[number];
  throughputLevel: 'STANDARD' | 'HIGH' | 'NOT_APPLICABLE';
  codeVerificationStatus: 'VERIFIED' | 'NOT_VERIFIED' | 'EXPIRED';
  nameStatus: 'APPROVED' | 'AVAILABLE_WITHOUT_REVIEW' | 'DECLINED' | 'EXPIRED' | 'PENDING_REVIEW' | 'NONE';
  /** Whether webhooks tell the identity hash of the person; `POST /{version}/{number}/settings` switches it. */
  identityKeyCheck: boolean;
}

/** One of the business's numbers; what is left out is made up, the same each time. */
export interface Sender extends Partial<SenderState> {
  phoneNumberId: string;
  /** When given, no other bearer token is accepted for this number. */
  token?: string;
}

/** A number with everything that Meta knows of it. */
export interface SenderProfile extends SenderState {
  phoneNumberId: string;
}

/** The business account of every number that names no other. */
export const DEFAULT_WABA_ID = '102290129340398';

const STATUSES = [
  'CONNECTED',
  'FLAGGED',
  'RESTRICTED',
  'RATE_LIMITED',
  'BANNED',
  'PENDING',
  'UNVERIFIED',
  'DISCONNECTED',
  'MIGRATED',
  'DELETED',
] as const;
const QUALITIES = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN', 'NA'] as const;

const MEMBERS: Readonly<Record<keyof SenderState, Member>> = {
  displayPhoneNumber: text(/^\d{7,15}$/, '7 to 15 digits'),
  verifiedName: text(/^.{1,512}$/su, 'a text of at most 512 characters'),
  wabaId: digits,
  status: oneOf(...STATUSES),
  qualityRating: oneOf(...QUALITIES),
  throughputLevel: oneOf('STANDARD', 'HIGH', 'NOT_APPLICABLE'),
  codeVerificationStatus: oneOf('VERIFIED', 'NOT_VERIFIED', 'EXPIRED'),
  nameStatus: oneOf('APPROVED', 'AVAILABLE_WITHOUT_REVIEW', 'DECLINED', 'EXPIRED', 'PENDING_REVIEW', 'NONE'),
  identityKeyCheck: oneOf(true, false),
};

/** The known senders; without a list every numeric id is one. */
export class Senders {
  readonly #displayPhoneNumbers: Readonly<Record<string, string>>;
  readonly #configured: ReadonlyMap<string, Sender> | null;
  /** What changed since the start, and every number that was heard of. */
  readonly #changes = new Map<string, Partial<SenderState>>();

  constructor(
    senders: readonly Sender[] | undefined,
    displayPhoneNumbers: Readonly<Record<string, string>> = {},
  ) {
    this.#displayPhoneNumbers = displayPhoneNumbers;
    this.#configured = senders ? new Map(senders.map((sender) => [sender.phoneNumberId, sender])) : null;
  }

  /** `null` when no such number exists, or no longer. */
  find(phoneNumberId: string): Sender | null {
    const exists = this.#configured
      ? this.#configured.has(phoneNumberId) || this.#changes.has(phoneNumberId)
      : /^\d{1,32}$/.test(phoneNumberId);
    if (!exists || this.#changes.get(phoneNumberId)?.status === 'DELETED') return null;
    if (!this.#changes.has(phoneNumberId)) this.#changes.set(phoneNumberId, {});
    return this.#configured?.get(phoneNumberId) ?? { phoneNumberId };
  }

  /** What Meta tells about a number. */
  describe(phoneNumberId: string): SenderProfile {
    const { token: _token, ...configured } = this.#configured?.get(phoneNumberId) ?? {};
    return {
      displayPhoneNumber:
        this.#displayPhoneNumbers[phoneNumberId] ?? `1555${phoneNumberId.slice(-7).padStart(7, '0')}`,
      verifiedName: 'Onecode',
      wabaId: DEFAULT_WABA_ID,
      status: 'CONNECTED',
      qualityRating: 'GREEN',
      throughputLevel: 'STANDARD',
      codeVerificationStatus: 'VERIFIED',
      nameStatus: 'APPROVED',
      identityKeyCheck: false,
      ...configured,
      ...this.#changes.get(phoneNumberId),
      phoneNumberId,
    };
  }

  /** The numbers that are configured or were heard of, and still exist; of one business account or of all. */
  all(wabaId?: string): SenderProfile[] {
    const ids = new Set([...(this.#configured?.keys() ?? []), ...this.#changes.keys()]);
    return [...ids]
      .map((id) => this.describe(id))
      .filter((sender) => sender.status !== 'DELETED' && (wabaId === undefined || sender.wabaId === wabaId));
  }

  /** Changes what is named, which may come from parsed JSON; a number that nobody knew begins to exist. @throws {InvalidInput} */
  change(phoneNumberId: string, values: unknown): SenderProfile {
    refuseFaults(faultsOf({ id: phoneNumberId }, { id: digits }));
    const change = changeOf<SenderState>(values, MEMBERS);
    this.#changes.set(phoneNumberId, { ...this.#changes.get(phoneNumberId), ...change });
    return this.describe(phoneNumberId);
  }

  reset(): void {
    this.#changes.clear();
  }
}
