import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { useStaffChange } from '../../hooks/staffChange.js';

type Hold = Pick<HoldView, 'kind' | 'target'>;

/** Sets and releases holds. */
export function useHoldChange(onDone: () => void) {
  const { t } = useTranslation('holds');
  const { send, ...change } = useStaffChange(['/staff/holds', '/staff/accounts', '/staff/health'], onDone);
  return {
    ...change,
    set: ({ kind, target }: Hold, reason: string): void =>
      send(
        { method: 'POST', path: '/staff/holds', body: { kind, target, reason } },
        t(kind === 'live' ? 'live.held' : 'set'),
      ),
    release: ({ kind, target }: Hold, reason: string): void =>
      send(
        { method: 'POST', path: '/staff/holds/release', body: { kind, target, reason } },
        t('release.done'),
      ),
  };
}

/** A button that releases a hold, with a reason. */
export function ReleaseButton({ hold: { kind, target }, size = 'xs' }: { hold: Hold; size?: 'xs' | 'sm' }) {
  const { t } = useTranslation('holds');
  const [confirming, setConfirming] = useState(false);
  const { release, pending, problem } = useHoldChange(() => setConfirming(false));
  return (
    <>
      <Button variant="default" size={size} onClick={() => setConfirming(true)}>
        {t('release.button')}
      </Button>
      <ReasonDialog
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t(`release.${kind}`)}
        color="brand"
        action={t('release.button')}
        pending={pending}
        problem={problem}
        onConfirm={(reason) => release({ kind, target }, reason)}
      >
        {t('release.what')}
      </ReasonDialog>
    </>
  );
}
