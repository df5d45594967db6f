import { Group, List, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconPlugConnectedX } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { HealthView, Severity } from '../../../../src/features/health/view.js';
import type { ApiProblem } from '../../api/http.js';
import { Time } from '../../components/times.js';

/** Whose matter it is, in one sentence, what to do, and what else was found. */
export function VerdictBanner({ view: { verdict, findings, at } }: { view: HealthView }) {
  const { t } = useTranslation('health');
  const others = findings.slice(1);
  return (
    <Banner
      severity={verdict.severity}
      icon={SEVERITIES[verdict.severity].icon}
      whose={t(`whose.${verdict.whose}`)}
      title={t(`findings.${verdict.what}.title`)}
      todo={t(`findings.${verdict.what}.todo`)}
    >
      {others.length > 0 && (
        <div>
          <Text size="sm" fw={550}>
            {t('also')}
          </Text>
          <List size="sm">
            {others.map(({ what, whose }) => (
              <List.Item key={what}>
                {t(`findings.${what}.title`)}{' '}
                <Text span c="dimmed" inherit>{`· ${t(`whose.${whose}`)}`}</Text>
              </List.Item>
            ))}
          </List>
        </div>
      )}
      <Text size="xs" c="dimmed">
        {t('asOf')} <Time at={at} seconds />
      </Text>
    </Banner>
  );
}

/** Nothing can be read any more: what that says by itself. */
export function Lost({ problem, since }: { problem: ApiProblem; since: string | undefined }) {
  const { t } = useTranslation('health');
  const what = problem.status === 0 ? 'console_away' : 'session_unread';
  return (
    <Banner
      severity="failing"
      icon={IconPlugConnectedX}
      whose={t(problem.status === 0 ? 'whose.us' : 'whose.postgresql')}
      title={t(`lost.${what}.title`)}
      todo={t(`lost.${what}.todo`)}
    >
      {since !== undefined && (
        <Text size="xs" c="dimmed">
          {t('old')} <Time at={since} seconds />
        </Text>
      )}
    </Banner>
  );
}

function Banner({
  severity,
  icon: Icon,
  whose,
  title,
  todo,
  children,
}: {
  severity: Severity;
  icon: ComponentType<{ size?: number }>;
  whose: string;
  title: string;
  todo: string;
  children: ReactNode;
}) {
  return (
    <Paper withBorder p="lg" component="section">
      <Group gap="md" wrap="nowrap" align="flex-start">
        <ThemeIcon size={48} radius="xl" color={`${SEVERITIES[severity].color}.9`} visibleFrom="xs">
          <Icon size={26} />
        </ThemeIcon>
        <Stack gap="xs">
          {/* Only what changes with the verdict is read out, and not the time. */}
          <div role="status">
            <Title order={2} size="h3">
              {whose}
            </Title>
            <Text fw={550}>{title}</Text>
          </div>
          <Text size="sm" maw={720}>
            {todo}
          </Text>
          {children}
        </Stack>
      </Group>
    </Paper>
  );
}

/** How each state looks; the word is always beside it. */
export const SEVERITIES = {
  ok: { color: 'teal', icon: IconCircleCheck },
  degraded: { color: 'orange', icon: IconAlertTriangle },
  failing: { color: 'red', icon: IconCircleX },
} as const;
