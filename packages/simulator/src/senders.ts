/** One of the business's numbers. */
export interface Sender {
  phoneNumberId: string;
  /** Digits without `+`. */
  displayPhoneNumber?: string;
  /** The WhatsApp Business account that owns it. */
  wabaId?: string;
  /** When given, no other bearer token is accepted for this number. */
  token?: string;
}

/** What webhooks tell of a number. */
export type SenderProfile = Required<Omit<Sender, 'token'>>;

const WABA_ID = '102290129340398';

/** The known senders; without a list every numeric id is one. */
export class Senders {
  readonly #known: ReadonlyMap<string, Sender> | null;

  constructor(senders: readonly Sender[] | undefined) {
    this.#known = senders ? new Map(senders.map((sender) => [sender.phoneNumberId, sender])) : null;
  }

  /** `null` when no such number exists. */
  find(phoneNumberId: string): Sender | null {
    if (this.#known) return this.#known.get(phoneNumberId) ?? null;
    return /^\d{1,32}$/.test(phoneNumberId) ? { phoneNumberId } : null;
  }

  /** What webhooks say about a number; what nobody gave is made up, the same each time. */
  describe(phoneNumberId: string): SenderProfile {
    const sender = this.#known?.get(phoneNumberId);
    return {
      phoneNumberId,
      displayPhoneNumber: sender?.displayPhoneNumber ?? `1555${phoneNumberId.slice(-7).padStart(7, '0')}`,
      wabaId: sender?.wabaId ?? WABA_ID,
    };
  }
}
