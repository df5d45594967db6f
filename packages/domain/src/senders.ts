/** A sender's leave to send one message, from a time on. */
export interface SendSlot {
  sender: {
    id: string;
    /** E.164. */
    number: string;
  };
  /** Milliseconds from now until the message may go. */
  waitMs: number;
}

/** How far ahead a slot may lie: so long a send waits for it inside the worker. One that would wait longer waits in its row. */
export const SLOT_WAIT_MS_MAX = 1_000;

const PAUSE_SECONDS_MIN = 60;
const PAUSE_SECONDS_MAX = 3600;

/** Seconds for which a sender rests after its nth fault in a row (1 for the first): a minute, doubling, an hour at most. */
export function coolDownSeconds(faults: number): number {
  return Math.min(PAUSE_SECONDS_MAX, PAUSE_SECONDS_MIN * 2 ** Math.min(faults - 1, 10));
}
