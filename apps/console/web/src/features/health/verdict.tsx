import { Group, List, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconPlugConnectedX } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import type { ApiProblem } from '../../api/http.js';
import { Time } from '../../components/times.js';
import { useRemedy, useSentence } from './findingText.js';

/** The verdict: where the problem is by the worst finding, what to do, and the other findings. */
export function VerdictBanner({ view: { findings, senders, at } }: { view: HealthView }) {
  const { t } = useTranslation('health');
  const sentenceOf = useSentence(senders);
  const remedyOf = useRemedy();
  const [worst, ...others] = findings;
  const severity = worst?.severity ?? 'ok';
  return (
    <Banner
      severity={severity}
      icon={SEVERITIES[severity].icon}
      title={worst === undefined ? t('allClear.title') : t(`owners.${worst.owner}`)}
      sentence={worst === undefined ? t('allClear.sentence') : sentenceOf(worst)}
      remedy={worst === undefined ? t('allClear.remedy') : remedyOf(worst)}
    >
      {others.length > 0 && (
        <div>
          <Text size="sm" fw={550}>
            {t('also')}
          </Text>
          <List size="sm">
            {others.map((finding) => (
              <List.Item key={JSON.stringify(finding)}>
                {sentenceOf(finding)}{' '}
                <Text span c="dimmed" inherit>{`· ${t(`owners.${finding.owner}`)}`}</Text>
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

/** Shown when the health data cannot be read, which is a finding of its own. */
export function Unavailable({ problem, since }: { problem: ApiProblem; since: string | undefined }) {
  const { t } = useTranslation('health');
  const isConsoleAway = problem.status === 0;
  const name = isConsoleAway ? 'console_away' : 'session_unread';
  return (
    <Banner
      severity="failing"
      icon={IconPlugConnectedX}
      title={t(isConsoleAway ? 'owners.us' : 'owners.postgresql')}
      sentence={t(`lost.${name}.sentence`)}
      remedy={t(`lost.${name}.remedy`)}
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
  title,
  sentence,
  remedy,
  children,
}: {
  severity: keyof typeof SEVERITIES;
  icon: ComponentType<{ size?: number }>;
  title: string;
  sentence: string;
  remedy: string;
  children: ReactNode;
}) {
  const color = `${SEVERITIES[severity].color}.9`;
  return (
    <Paper withBorder p="lg" component="section">
      <Group gap="md" wrap="nowrap" align="flex-start">
        <ThemeIcon size={48} radius="xl" color={color} visibleFrom="xs">
          <Icon size={26} />
        </ThemeIcon>
        <Stack gap="xs">
          {/* A live region for the verdict alone: the time would be read out with every refresh. */}
          <div role="status">
            <Group gap="xs" wrap="nowrap">
              <ThemeIcon size={28} radius="xl" color={color} hiddenFrom="xs">
                <Icon size={18} />
              </ThemeIcon>
              <Title order={2} size="h3">
                {title}
              </Title>
            </Group>
            <Text fw={550}>{sentence}</Text>
          </div>
          <Text size="sm" maw={720}>
            {remedy}
          </Text>
          {children}
        </Stack>
      </Group>
    </Paper>
  );
}

/** Colour and icon of each severity, always shown beside its text. */
export const SEVERITIES = {
  ok: { color: 'teal', icon: IconCircleCheck },
  degraded: { color: 'orange', icon: IconAlertTriangle },
  failing: { color: 'red', icon: IconCircleX },
} as const;
