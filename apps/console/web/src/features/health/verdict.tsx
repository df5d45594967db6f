import { Group, Paper, Stack, Text, ThemeIcon, Title, VisuallyHidden } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import type { ApiProblem } from '../../api/http.js';
import { Time } from '../../components/times.js';
import { Small } from '../../components/facts.js';
import { useDurations } from '../../hooks/formats.js';
import { useSentence } from './findingText.js';
import { IncidentCard } from './incidentCard.js';
import { SEVERITIES } from './severities.js';

/** The current problems, worst first, or that there are none. */
export function Verdict({ view }: { view: HealthView }) {
  const { t } = useTranslation(['health', 'common']);
  const sentenceOf = useSentence(view.senders);
  const evidence = useEvidence(view);
  const [worst] = view.findings;
  const at = (
    <Small>
      {t('common:words.asOf')} <Time at={view.at} seconds />
    </Small>
  );
  return (
    <>
      {/* Only the worst problem is a live region. Otherwise, screen readers would read out ages at every refresh. */}
      <VisuallyHidden role="status">
        {worst === undefined ? t('allClear.title') : `${t(`owners.${worst.owner}`)}: ${sentenceOf(worst)}`}
      </VisuallyHidden>
      {worst === undefined ? (
        <Banner severity="ok" icon={SEVERITIES.ok.icon} title={t('allClear.title')} {...evidence}>
          {at}
        </Banner>
      ) : (
        <Stack gap="sm">
          {view.findings.map((incident, index) => (
            <IncidentCard
              key={`${incident.name} ${sentenceOf(incident)}`}
              view={view}
              incident={incident}
              isFirst={index === 0}
            />
          ))}
          {at}
        </Stack>
      )}
    </>
  );
}

/** After this many seconds without a call, it is unknown whether sends would be delivered. */
const IDLE_SECONDS = 120;

/** The basis of the verdict that all is well: live traffic, or the lack of it. */
function useEvidence({ provider, receipts }: HealthView): { sentence: string; remedy: string } {
  const { t } = useTranslation('health');
  const { seconds } = useDurations();
  const idle = provider?.idleSeconds ?? null;
  if (idle === null) return { sentence: t('allClear.noTraffic'), remedy: t('allClear.unproven') };
  if (idle >= IDLE_SECONDS)
    return { sentence: t('allClear.idle', { time: seconds(idle) }), remedy: t('allClear.unproven') };
  const isReported = (receipts?.lastTenMinutes ?? 0) > 0;
  return {
    sentence: t('allClear.sentence'),
    remedy: t(isReported ? 'allClear.remedy' : 'allClear.unreported'),
  };
}

/** Shown when the health data cannot be read, which is itself a finding. */
export function Unavailable({ problem, since }: { problem: ApiProblem; since: string | undefined }) {
  const { t } = useTranslation('health');
  const isConsoleAway = problem.status === 0;
  const name = isConsoleAway ? 'console_away' : 'session_unread';
  return (
    <div role="status">
      <Banner
        severity="failing"
        icon={IconPlugConnectedX}
        title={t(isConsoleAway ? 'owners.us' : 'owners.postgresql')}
        sentence={t(`lost.${name}.sentence`)}
        remedy={t(`lost.${name}.remedy`)}
      >
        {since !== undefined && (
          <Small>
            {t('old')} <Time at={since} seconds />
          </Small>
        )}
      </Banner>
    </div>
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
          <div>
            <Group gap="xs" wrap="nowrap">
              <ThemeIcon size={28} radius="xl" color={color} hiddenFrom="xs">
                <Icon size={18} />
              </ThemeIcon>
              <Title order={2} size="h3">
                {title}
              </Title>
            </Group>
            <Text size="md" fw={550}>
              {sentence}
            </Text>
          </div>
          <Text maw={720}>{remedy}</Text>
          {children}
        </Stack>
      </Group>
    </Paper>
  );
}
