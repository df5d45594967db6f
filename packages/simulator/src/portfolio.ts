import { changeOf, digits, oneOf, text, type Member } from './input.js';

/** How many people a business may write to in 24 hours, by Meta's name of the limit. */
const LIMITS = {
  TIER_50: 50,
  TIER_250: 250,
  TIER_1K: 1000,
  TIER_2K: 2000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
  TIER_UNLIMITED: Infinity,
} as const;

export type MessagingLimit = keyof typeof LIMITS;

/** People in 24 hours. */
export function limitOf(limit: MessagingLimit): number {
  return LIMITS[limit];
}

/** The business portfolio that owns every account, and the app. */
export interface PortfolioState {
  id: string;
  name: string;
  appId: string;
  appName: string;
  verificationStatus: 'VERIFIED' | 'PENDING' | 'UNVERIFIED';
  /** Shared by all numbers of the portfolio since October 2025. */
  messagingLimit: MessagingLimit;
}

const DEFAULTS: PortfolioState = {
  id: '506914307656634',
  name: 'Onecode',
  appId: '634974688087057',
  appName: 'Onecode',
  verificationStatus: 'VERIFIED',
  messagingLimit: 'TIER_UNLIMITED',
};

const name = text(/^.{1,255}$/su, 'a text of at most 255 characters');
const MEMBERS: Readonly<Record<keyof PortfolioState, Member>> = {
  id: digits,
  name,
  appId: digits,
  appName: name,
  verificationStatus: oneOf('VERIFIED', 'PENDING', 'UNVERIFIED'),
  messagingLimit: oneOf(...Object.keys(LIMITS)),
};

const DAY_MS = 86_400_000;

export class Portfolio {
  readonly #initial: PortfolioState;
  #current: PortfolioState;
  /** When each person was last written to, the longest ago first; kept only while there is a limit. */
  readonly #written = new Map<string, number>();

  /** @throws {InvalidInput} */
  constructor(initial: Partial<PortfolioState>) {
    this.#current = DEFAULTS;
    this.#initial = this.change(initial);
  }

  get current(): Readonly<PortfolioState> {
    return this.#current;
  }

  /** Changes what is named, which may come from parsed JSON. @throws {InvalidInput} */
  change(values: unknown): PortfolioState {
    this.#current = { ...this.#current, ...changeOf<PortfolioState>(values, MEMBERS) };
    return this.#current;
  }

  /** Counts one message to a person at a moment in milliseconds; `false` when the limit of 24 hours is reached. */
  take(to: string, now = Date.now()): boolean {
    const most = limitOf(this.#current.messagingLimit);
    if (most === Infinity) return true;
    for (const [other, at] of this.#written) {
      if (at > now - DAY_MS) break;
      this.#written.delete(other);
    }
    if (!this.#written.delete(to) && this.#written.size >= most) return false;
    this.#written.set(to, now);
    return true;
  }

  reset(): void {
    this.#written.clear();
    this.#current = this.#initial;
  }
}
