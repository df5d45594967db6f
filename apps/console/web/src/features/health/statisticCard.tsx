import { Badge, Group, Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { FigureName, HealthView } from '../../../../src/features/health/view.js';
import { SEVERITIES } from './severities.js';

/** One figure: how it is, what it is, and what to do when it is not as it should be. */
export function FigureCard({
  name,
  view,
  value,
  detail,
}: {
  name: FigureName;
  view: HealthView;
  /** Null when it could not be read. */
  value: string | null;
  detail: string | null;
}) {
  const { t } = useTranslation('health');
  const state = value === null && view.states[name] === 'good' ? 'odd' : view.states[name];
  const { color, icon: Icon } = SEVERITIES[state];
  const found = view.findings.find(({ figure }) => figure === name);
  return (
    <Paper withBorder p="md" component="section" aria-label={t(`figures.${name}`)}>
      <Stack gap={4}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text size="xs" c="dimmed" fw={550}>
            {t(`figures.${name}`)}
          </Text>
          <Badge color={color} leftSection={<Icon size={13} />}>
            {t(`states.${state}`)}
          </Badge>
        </Group>
        <Text size="xl" fw={650} className="figures">
          {value ?? t('unread')}
        </Text>
        <Text size="sm" c="dimmed">
          {value === null ? t('unreadText') : detail}
        </Text>
        {found !== undefined && <Text size="sm">{t(`findings.${found.what}.todo`)}</Text>}
      </Stack>
    </Paper>
  );
}
