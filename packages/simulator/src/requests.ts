/** What became of a request to `/messages`; `pending` while its answer is still held back. */
export type Outcome =
  | 'pending'
  | 'accepted'
  | 'refused'
  | 'error'
  | 'hung'
  | 'reset_before'
  | 'reset_after'
  | 'dropped'
  | 'late_failure'
  | 'wrong_body';

/** One request to `/messages`, whatever became of it. */
export interface RequestRecord {
  /** Counts from 1. */
  number: number;
  /** Arrival, ISO 8601 in UTC. */
  at: string;
  /** The phone number id in the path. */
  sender: string;
  /** E.164 with `+`; `null` where the body named no recipient. */
  to: string | null;
  opaque: string | null;
  /** The language of the template. */
  language: string | null;
  outcome: Outcome;
  /** The HTTP status that was answered; `null` where no answer was written. */
  http: number | null;
  /** The error code that was answered. */
  code: number | null;
  /** The message that the request made, also where no answer told of it. */
  messageId: string | null;
  /** The fault rule that applied. */
  rule: string | null;
}

/** The log of requests; beyond `keep` the oldest are forgotten. */
export class Requests {
  readonly #log = new Map<number, RequestRecord>();
  readonly #keep: number;
  #count = 0;

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Every request since the start or the last reset, forgotten ones included. */
  get count(): number {
    return this.#count;
  }

  open(sender: string): RequestRecord {
    this.#count += 1;
    const record: RequestRecord = {
      number: this.#count,
      at: new Date().toISOString(),
      sender,
      to: null,
      opaque: null,
      language: null,
      outcome: 'pending',
      http: null,
      code: null,
      messageId: null,
      rule: null,
    };
    this.#log.set(record.number, record);
    this.#log.delete(record.number - this.#keep);
    return record;
  }

  /** Copies, oldest first. */
  all(): RequestRecord[] {
    return Array.from(this.#log.values(), (record) => ({ ...record }));
  }

  /** Copies of the newest ones, newest first. */
  newest(limit: number): RequestRecord[] {
    return this.all().slice(-limit).toReversed();
  }

  clear(): void {
    this.#log.clear();
    this.#count = 0;
  }
}
