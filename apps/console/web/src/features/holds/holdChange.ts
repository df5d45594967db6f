import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { useStaffChange } from '../../hooks/staffChange.js';

type Hold = Pick<HoldView, 'kind' | 'target'>;

/** Sets and releases kill switches: calls `onDone`, and says that it was done. */
export function useHolds(onDone: () => void) {
  const { t } = useTranslation('staff');
  const { send, ...change } = useStaffChange(['/operations/holds', '/operations/accounts'], onDone);
  return {
    ...change,
    set: ({ kind, target }: Hold, reason: string): void =>
      send(
        { method: 'POST', path: '/operations/holds', body: { kind, target, reason } },
        t(kind === 'live' ? 'switches.live.held' : 'switches.set'),
      ),
    release: ({ kind, target }: Hold): void =>
      send(
        { method: 'POST', path: '/operations/holds/release', body: { kind, target } },
        t('switches.release.done'),
      ),
  };
}
