import { changeOf, digits, faultsOf, oneOf, refuseFaults, text, type Member } from './input.js';
import { DEFAULT_WABA_ID, type Senders } from './senders.js';

/** What Meta knows of a WhatsApp Business account, in Meta's own words where it has some. */
export interface BusinessAccountState {
  name: string;
  /** `restricted`: refuses sends with 368; `disabled`: with 131031; `payment_issue`: with 131042. */
  condition: 'active' | 'restricted' | 'disabled' | 'payment_issue';
  accountReviewStatus: 'APPROVED' | 'PENDING' | 'REJECTED';
  ownershipType: 'SELF' | 'ON_BEHALF_OF' | 'CLIENT_OWNED';
  /** ISO 3166-1 alpha-2. */
  country: string;
  /** ISO 4217. */
  currency: string;
  timezoneId: string;
  /** Whether the app gets this account's webhooks, as `subscribed_apps` tells. */
  subscribed: boolean;
}

export interface BusinessAccount extends Partial<BusinessAccountState> {
  id: string;
}

export interface BusinessAccountProfile extends BusinessAccountState {
  id: string;
}

const DEFAULTS: BusinessAccountState = {
  name: 'Onecode',
  condition: 'active',
  accountReviewStatus: 'APPROVED',
  ownershipType: 'SELF',
  country: 'BR',
  currency: 'BRL',
  timezoneId: '25',
  subscribed: true,
};

const MEMBERS: Readonly<Record<keyof BusinessAccountState, Member>> = {
  name: text(/^.{1,255}$/su, 'a text of at most 255 characters'),
  condition: oneOf('active', 'restricted', 'disabled', 'payment_issue'),
  accountReviewStatus: oneOf('APPROVED', 'PENDING', 'REJECTED'),
  ownershipType: oneOf('SELF', 'ON_BEHALF_OF', 'CLIENT_OWNED'),
  country: text(/^[A-Z]{2}$/, 'two letters'),
  currency: text(/^[A-Z]{3}$/, 'three letters'),
  timezoneId: text(/^\d{1,4}$/, 'a number'),
  subscribed: oneOf(true, false),
};

/** The business accounts: those of the options, and every one that a number belongs to. */
export class BusinessAccounts {
  readonly #configured: ReadonlyMap<string, BusinessAccount>;
  readonly #senders: Senders;
  readonly #changes = new Map<string, Partial<BusinessAccountState>>();

  constructor(accounts: readonly BusinessAccount[], senders: Senders) {
    this.#configured = new Map(accounts.map((account) => [account.id, account]));
    this.#senders = senders;
  }

  exists(id: string): boolean {
    return this.#ids().has(id);
  }

  describe(id: string): BusinessAccountProfile {
    return { ...DEFAULTS, ...this.#configured.get(id), ...this.#changes.get(id), id };
  }

  all(): BusinessAccountProfile[] {
    return Array.from(this.#ids(), (id) => this.describe(id));
  }

  /** Changes what is named, which may come from parsed JSON; an account that nobody knew begins to exist. @throws {InvalidInput} */
  change(id: string, values: unknown): BusinessAccountProfile {
    refuseFaults(faultsOf({ id }, { id: digits }));
    const change = changeOf<BusinessAccountState>(values, MEMBERS);
    this.#changes.set(id, { ...this.#changes.get(id), ...change });
    return this.describe(id);
  }

  reset(): void {
    this.#changes.clear();
  }

  #ids(): Set<string> {
    const owners = this.#senders.all().map(({ wabaId }) => wabaId);
    return new Set([DEFAULT_WABA_ID, ...this.#configured.keys(), ...this.#changes.keys(), ...owners]);
  }
}
