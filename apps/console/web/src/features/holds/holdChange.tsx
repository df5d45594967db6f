import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { Confirm } from '../../components/dialog.js';
import { useStaffChange } from '../../hooks/staffChange.js';

type Hold = Pick<HoldView, 'kind' | 'target'>;

/** Sets and releases holds. */
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
    release: ({ kind, target }: Hold): void =>
      send({ method: 'POST', path: '/staff/holds/release', body: { kind, target } }, t('release.done')),
  };
}

/** A button that releases a hold after a confirmation. */
export function ReleaseButton({
  hold,
  size = 'xs',
}: {
  hold: Pick<HoldView, 'kind' | 'target'>;
  size?: 'xs' | 'sm';
}) {
  const { t } = useTranslation('holds');
  const [confirming, setConfirming] = useState(false);
  const { release, pending, problem } = useHoldChange(() => setConfirming(false));
  return (
    <>
      <Button variant="default" size={size} onClick={() => setConfirming(true)}>
        {t('release.button')}
      </Button>
      <Confirm
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t(`release.${hold.kind}`)}
        color="brand"
        action={t('release.button')}
        pending={pending}
        problem={problem}
        onConfirm={() => release(hold)}
      >
        {t('release.what')}
      </Confirm>
    </>
  );
}
