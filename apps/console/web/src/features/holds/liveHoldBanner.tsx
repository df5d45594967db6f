import { Alert, Anchor, Group, Text } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HoldsView } from '../../../../src/features/holds/view.js';
import { useAside } from '../../api/queries.js';
import { Time } from '../../components/times.js';

const REFRESH_MS = 10_000;

/** Shows staff on each of their pages that all live delivery is on hold. */
export function LiveHoldBanner() {
  const { t } = useTranslation('holds');
  const data = useAside<HoldsView>('/staff/holds', { refreshMs: REFRESH_MS });
  const live = data?.holds.find(({ kind }) => kind === 'live');
  if (live === undefined) return null;
  return (
    <Alert color="red.9" variant="filled" icon={<IconHandStop size={20} />} mb="lg" role="alert">
      <Group justify="space-between" gap="xs">
        <div>
          <Text fw={650}>
            {t('banner.title')} <Time at={live.since} />
          </Text>
          <Text>{t('banner.by', { who: live.setBy, reason: live.reason })}</Text>
        </div>
        <Anchor component={Link} to="/staff/holds" c="inherit" underline="always">
          {t('banner.open')}
        </Anchor>
      </Group>
    </Alert>
  );
}
