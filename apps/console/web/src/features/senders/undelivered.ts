import { useTranslation } from 'react-i18next';
import type { SenderView } from '../../../../src/features/senders/view.js';
import { useNumbers } from '../../hooks/formats.js';

/** Returns the function that gives the share of messages that never arrived, and the number of accepted messages. */
export function useUndelivered(): (messages: NonNullable<SenderView['deliveries']>['lastDay']) => string {
  const { t } = useTranslation('senders');
  const { share, whole } = useNumbers();
  return ({ accepted, undelivered }) =>
    accepted === 0
      ? '–'
      : t('deliveries.share', {
          count: accepted,
          share: share(undelivered / accepted),
          accepted: whole(accepted),
        });
}
