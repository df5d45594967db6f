import { maskRecipient, type Mode } from '@onecode/domain';
import type { ExhaustedRecipient } from '@onecode/store';

/** A recipient who gets no new code for now, because too many wrong ones in a row were given. */
export interface ExhaustedRecipientView {
  /** Stands for the recipient in addresses. */
  id: string;
  mode: Mode;
  /** Its calling code and last digits. */
  recipient: string;
  wrongInARow: number;
  lastWrongAt: string;
  /** When another code may be asked for, if nobody guesses on. */
  recoversAt: string;
}

export interface ExhaustedRecipientsView {
  /** Those with the last wrong code in front. */
  recipients: ExhaustedRecipientView[];
  /** The cursor of the next page. */
  next: string | null;
}

export function exhaustedRecipientView(exhausted: ExhaustedRecipient): ExhaustedRecipientView {
  const { id, mode, recipient, wrongInARow, lastWrongAt, recoversAt } = exhausted;
  return {
    id,
    mode,
    recipient: maskRecipient(recipient),
    wrongInARow,
    lastWrongAt: lastWrongAt.toISOString(),
    recoversAt: recoversAt.toISOString(),
  };
}
