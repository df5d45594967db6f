import { Button, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconHandStop, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HoldsView } from '../../../../src/features/holds/view.js';
import { useMayStop } from '../../app/session.js';
import { useNumbers } from '../../hooks/formats.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { Time } from '../../components/times.js';
import { ReleaseButton, useHoldChange } from './holdChange.js';

/** Whether live delivery is running, and the hold of all of it. */
export function LiveDelivery({ view }: { view: HoldsView }) {
  const { t } = useTranslation('holds');
  const { whole } = useNumbers();
  const mayStop = useMayStop();
  const [confirming, setConfirming] = useState(false);
  const { set, pending, problem } = useHoldChange(() => setConfirming(false));
  const hold = view.holds.find(({ kind }) => kind === 'live');
  const Icon = hold === undefined ? IconPlayerPlay : IconHandStop;
  const waiting = `${whole(view.waiting)}${view.isCapped ? '+' : ''}`;
  return (
    <Paper withBorder p="lg" component="section" aria-label={t('live.title')}>
      <Group justify="space-between" gap="md">
        <Group gap="md" wrap="nowrap" align="flex-start">
          <ThemeIcon size={48} radius="xl" color={hold === undefined ? 'teal.9' : 'red.9'}>
            <Icon size={26} />
          </ThemeIcon>
          <Stack gap={2}>
            <Title order={2} size="h3">
              {hold === undefined ? t('live.runs') : t('live.held')}
            </Title>
            {hold !== undefined && (
              <Text size="sm">
                {t('since')} <Time at={hold.since} /> ·{' '}
                {t('banner.by', { who: hold.setBy, reason: hold.reason })}
              </Text>
            )}
            <Text size="sm" c="dimmed">
              {t('waiting', { count: view.waiting, waiting })}
            </Text>
          </Stack>
        </Group>
        {mayStop && hold === undefined && (
          <Button color="red.9" onClick={() => setConfirming(true)} leftSection={<IconHandStop size={18} />}>
            {t('live.set')}
          </Button>
        )}
        {mayStop && hold !== undefined && <ReleaseButton hold={hold} size="sm" />}
      </Group>
      <ReasonDialog
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t('live.confirm')}
        action={t('live.set')}
        pending={pending}
        problem={problem}
        onConfirm={(reason) => set({ kind: 'live', target: '' }, reason)}
      >
        {t('live.what')}
      </ReasonDialog>
    </Paper>
  );
}
