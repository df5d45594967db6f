import { maskRecipient, type Mode } from '@onecode/domain';
import type { ExhaustedRecipient } from '@onecode/store';

/** A recipient who gets no new code for now because of too many wrong guesses in a row. */
export interface ExhaustedRecipientView {
  /** Names the recipient in URLs. */
  id: string;
  mode: Mode;
  /** The calling code and the last digits. */
  recipient: string;
  wrongInARow: number;
  lastWrongAt: string;
  /** When the recipient can get a new code, if no further wrong guess comes. */
  recoversAt: string;
}

export interface ExhaustedRecipientsView {
  /** The latest wrong guess first. */
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
