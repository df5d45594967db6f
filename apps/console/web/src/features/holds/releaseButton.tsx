import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { Confirm } from '../../components/dialog.js';
import { useHolds } from './holdChange.js';

/** Releases a kill switch, once that was confirmed. */
export function ReleaseButton({
  hold,
  size = 'xs',
}: {
  hold: Pick<HoldView, 'kind' | 'target'>;
  size?: 'xs' | 'sm';
}) {
  const { t } = useTranslation('staff');
  const [asking, setAsking] = useState(false);
  const { release, pending, problem } = useHolds(() => setAsking(false));
  return (
    <>
      <Button variant="default" size={size} onClick={() => setAsking(true)}>
        {t('switches.release.button')}
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={t(`switches.release.${hold.kind}`)}
        color="brand"
        action={t('switches.release.button')}
        pending={pending}
        problem={problem}
        onConfirm={() => release(hold)}
      >
        {t('switches.release.what')}
      </Confirm>
    </>
  );
}
