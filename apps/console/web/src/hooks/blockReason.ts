import { useTranslation } from 'react-i18next';
import type { SenderView } from '../../../src/features/senders/view.js';
import { useErrorText } from './errorText.js';

/** Onecode's own reasons for a block. All other reasons are texts of the provider's error codes, or text that the provider sent. */
const SENTENCES = [
  ['blocked', /^Meta reports that it cannot send: (.*)$/],
  ['category', /^category (.*)$/],
  ['unreadableToken', /^the sender’s token cannot be decrypted$/],
  ['denied', /^The provider denied access or redirected the request, without an error code\.$/],
  ['slowDown', /^The provider asked to slow down\.$/],
  ['retryLater', /^The provider asked to retry later\.$/],
  ['byOperator', /^paused by an operator$/],
  ['notActivated', /^added, not activated yet$/],
] as const;

/** Returns Onecode's sentence for a reason; undefined if the provider or a person wrote the reason. */
function blockSentence(reason: string): { name: (typeof SENTENCES)[number][0]; word: string } | undefined {
  for (const [name, pattern] of SENTENCES) {
    const match = pattern.exec(reason);
    if (match !== null) return { name, word: match[1] ?? '' };
  }
  return undefined;
}

/** Returns the function that gives why a sender is blocked, in the user's language. Text that a person wrote is not translated. */
export function useBlockReason(): (
  block: Pick<SenderView['blocks'][number], 'reason' | 'explanation'>,
) => string {
  const { t } = useTranslation('senders');
  const errorText = useErrorText();
  return ({ reason, explanation }) => {
    const sentence = blockSentence(reason);
    if (sentence !== undefined) return t(`reasons.${sentence.name}`, { word: sentence.word });
    return explanation === null ? reason : errorText('meaning', explanation);
  };
}
