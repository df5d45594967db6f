import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../../src/views/switches.js';
import { Confirm } from '../../../parts/dialog.js';
import { useHolds } from './holds.js';

/** Releases a kill switch, once that was confirmed. */
export function ReleaseButton({
  hold: { kind, target },
  size = 'xs',
}: {
  hold: Pick<HoldView, 'kind' | 'target'>;
  size?: 'xs' | 'sm';
}) {
  const { t } = useTranslation('staff');
  const [asking, setAsking] = useState(false);
  const { release } = useHolds();
  return (
    <>
      <Button variant="default" size={size} onClick={() => setAsking(true)}>
        {t('switches.release.button')}
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={t(`switches.release.${kind}`)}
        color="brand"
        action={t('switches.release.button')}
        pending={release.isPending}
        problem={release.error}
        onConfirm={() =>
          release.mutate(
            { method: 'POST', path: '/operations/holds/release', body: { kind, target } },
            {
              onSuccess: () => {
                setAsking(false);
                notifications.show({ message: t('switches.release.done'), color: 'teal' });
              },
            },
          )
        }
      >
        {t('switches.release.what')}
      </Confirm>
    </>
  );
}
