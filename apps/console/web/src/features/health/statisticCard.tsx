import { Badge, Group, Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HealthCheck, HealthView } from '../../../../src/features/health/view.js';
import { useRemedy } from './findingText.js';
import { SEVERITIES } from './verdict.js';

/** One statistic. */
export interface Statistic {
  name: HealthCheck;
  /** Null when it could not be read. */
  value: string | null;
  detail: string | null;
}

/** One statistic: state, value, detail, and what to do unless it is OK. */
export function StatisticCard({ name, view, value, detail }: Statistic & { view: HealthView }) {
  const { t } = useTranslation('health');
  const remedyOf = useRemedy();
  const state = value === null && view.states[name] === 'ok' ? 'degraded' : view.states[name];
  const { color, icon: Icon } = SEVERITIES[state];
  const found = view.findings.find(({ check }) => check === name);
  return (
    <Paper withBorder p="md" component="section" aria-label={t(`statistics.${name}`)}>
      <Stack gap={4}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text size="xs" c="dimmed" fw={550}>
            {t(`statistics.${name}`)}
          </Text>
          <Badge color={color} leftSection={<Icon size={13} />}>
            {t(`states.${state}`)}
          </Badge>
        </Group>
        <Text size="xl" fw={650} className="tabular">
          {value ?? t('unread')}
        </Text>
        <Text size="sm" c="dimmed">
          {value === null ? t('unreadText') : detail}
        </Text>
        {found !== undefined && <Text size="sm">{remedyOf(found)}</Text>}
      </Stack>
    </Paper>
  );
}
