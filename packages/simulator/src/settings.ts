import { faultsOf, integer, oneOf, orNull, refuseFaults, type Member } from './input.js';

/** When receipts are posted, counted from the acceptance of a message. */
export interface Delays {
  sentMs: number;
  deliveredMs: number;
  /** `null`: a message is read only when the person marks it. */
  readMs: number | null;
}

/** What may change while the simulator runs. */
export interface SettingValues extends Delays {
  /** Collects receipts for so long and posts them together; 0 posts each by itself. */
  batchMs: number;
  /** One message every 6 s to the same recipient, after a burst of 45 (error 131056). */
  pairLimit: boolean;
  /** 80 messages a second for each sender (error 130429). */
  senderLimit: boolean;
}

const DEFAULTS: SettingValues = {
  sentMs: 300,
  deliveredMs: 900,
  readMs: null,
  batchMs: 0,
  pairLimit: false,
  senderLimit: false,
};

const delay = integer(0, 86_400_000);
const MEMBERS: Readonly<Record<keyof SettingValues, Member>> = {
  sentMs: delay,
  deliveredMs: delay,
  readMs: orNull(delay),
  batchMs: delay,
  pairLimit: oneOf(true, false),
  senderLimit: oneOf(true, false),
};

export class Settings {
  readonly #initial: SettingValues;
  #current: SettingValues;

  /** @throws {InvalidInput} */
  constructor(initial: Partial<SettingValues>) {
    this.#current = DEFAULTS;
    this.change(initial);
    this.#initial = this.#current;
  }

  get current(): Readonly<SettingValues> {
    return this.#current;
  }

  /** Changes the named settings, which may come from parsed JSON, and leaves the others. @throws {InvalidInput} */
  change(values: unknown): void {
    refuseFaults(faultsOf(values, MEMBERS));
    this.#current = { ...this.#current, ...(values as Partial<SettingValues>) };
  }

  reset(): void {
    this.#current = this.#initial;
  }
}
