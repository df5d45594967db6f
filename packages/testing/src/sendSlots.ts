import type { Locale, Send } from '@onecode/domain';
import type { Database } from '@onecode/store';

/** The message that a send slot is for. */
export type SlotRequest = Pick<Send, 'accountId' | 'recipient' | 'country'> & {
  /** `pt-BR` unless given. */
  locale?: Locale;
};

/** A sender's leave to send one message. */
export interface TakenSlot {
  senderId: string;
  /** Milliseconds from the database's now until the message may go. */
  waitMs: number;
}

/**
 * Takes a send slot for each request, in their order, through `take_send_slots`. The answer is null where the request is
 * held, or where no sender that may serve it has a slot within the horizon.
 */
export async function takeSlots(
  database: Database,
  requests: readonly SlotRequest[],
  horizonMs: number,
): Promise<(TakenSlot | null)[]> {
  const rows = await database.sql.query<{ sender_id: string | null; wait_ms: number }[]>`
    select sender_id, wait_ms from take_send_slots(
      ${requests.map(({ accountId }) => accountId)}::uuid[], ${requests.map(({ recipient }) => recipient)}::text[], ${requests.map(({ country }) => country)}::text[],
      ${requests.map(({ locale = 'pt-BR' }) => locale)}::text[], ${horizonMs}::integer, false
    ) order by ordinal`;
  return rows.map((row) =>
    row.sender_id === null ? null : { senderId: row.sender_id, waitMs: row.wait_ms },
  );
}
