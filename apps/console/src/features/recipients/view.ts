import { maskRecipient } from '@onecode/domain';
import type { ExhaustedRecipient } from '@onecode/store/reports';
import type { Json } from '../../http/json.js';

/** A recipient who gets no new code for now because of too many wrong guesses in a row. */
export type ExhaustedRecipientView = Json<ReturnType<typeof exhaustedRecipientView>>;

export interface ExhaustedRecipientsView {
  /** Ordered by the latest wrong guess, newest first. */
  recipients: ExhaustedRecipientView[];
}

export const exhaustedRecipientView = (exhausted: ExhaustedRecipient) => ({
  ...exhausted,
  recipient: maskRecipient(exhausted.recipient ?? ''),
});
