import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { useStaffChange } from '../../hooks/staffChange.js';

type Hold = Pick<HoldView, 'kind' | 'target'>;

/** Sets holds. */
export function useHoldChange(onDone: () => void) {
  const { t } = useTranslation('holds');
  const { send, ...change } = useStaffChange(['/staff/holds', '/staff/accounts'], onDone);
  return {
    ...change,
    set: ({ kind, target }: Hold, reason: string): void =>
      send(
        { method: 'POST', path: '/staff/holds', body: { kind, target, reason } },
        t(kind === 'live' ? 'live.held' : 'set'),
      ),
  };
}

/** A button that releases a hold after a confirmation. */
export function ReleaseButton({ hold: { kind, target }, size = 'xs' }: { hold: Hold; size?: 'xs' | 'sm' }) {
  const { t } = useTranslation('holds');
  const [confirming, setConfirming] = useState(false);
  return (
    <>
      <Button variant="default" size={size} onClick={() => setConfirming(true)}>
        {t('release.button')}
      </Button>
      <ConfirmChange
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t(`release.${kind}`)}
        color="brand"
        action={t('release.button')}
        change={{ method: 'POST', path: '/staff/holds/release', body: { kind, target } }}
        stale={['/staff/holds', '/staff/accounts', '/staff/audit']}
        done={t('release.done')}
      >
        {t('release.what')}
      </ConfirmChange>
    </>
  );
}
