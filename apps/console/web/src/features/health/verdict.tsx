import { Group, List, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconPlugConnectedX } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { HealthView, Severity } from '../../../../src/features/health/view.js';
import type { ApiProblem } from '../../api/http.js';
import { Time } from '../../components/times.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

/** The verdict: where the problem is, what to do, and other findings. */
export function VerdictBanner({ view: { verdict, findings, senders, at } }: { view: HealthView }) {
  const { t } = useTranslation('health');
  const sentence = useSentence(senders);
  const others = findings.slice(1);
  return (
    <Banner
      severity={verdict.severity}
      icon={SEVERITIES[verdict.severity].icon}
      whose={t(`whose.${verdict.whose}`)}
      title={sentence(verdict)}
      todo={t(`findings.${verdict.what}.todo`)}
    >
      {others.length > 0 && (
        <div>
          <Text size="sm" fw={550}>
            {t('also')}
          </Text>
          <List size="sm">
            {others.map((finding) => (
              <List.Item key={JSON.stringify(finding)}>
                {sentence(finding)} <Text span c="dimmed" inherit>{`· ${t(`whose.${finding.whose}`)}`}</Text>
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

/** Statuses for which there is a word. */
const STATUSES = [
  'PAUSED',
  'DISABLED',
  'REJECTED',
  'ARCHIVED',
  'DELETED',
  'RECATEGORIZED',
  'REFUSED',
] as const;

type Named = Pick<HealthView['verdict'], 'what' | 'template' | 'failures' | 'refusal'>;

/** The sentence of a finding, with the template, the sends or the refusal that it names. */
function useSentence(senders: HealthView['senders']): (finding: Named) => string {
  const { t, i18n } = useTranslation('health');
  const { whole } = useNumbers();
  const failed = useFailures(senders);
  return ({ what, template, failures, refusal }) => {
    if (failures !== undefined) return failed(failures);
    if (refusal !== undefined) return t(`refusals.${refusal}`);
    if (template === undefined) return t(`findings.${what}.title`);
    const { language, serving, at } = template;
    const status = STATUSES.find((known) => known === template.status) ?? 'other';
    const time = new Date(at).toLocaleString(i18n.language, { dateStyle: 'short', timeStyle: 'short' });
    const cause = t(`templates.${status}`, { template: template.template, language, time });
    const name = t(`languages.${language === 'pt_BR' ? 'pt_BR' : 'en'}`);
    return serving === 0
      ? t('templates.noneServes', { cause, name })
      : t('templates.serves', { cause, name, count: serving, number: whole(serving) });
  };
}

/** The share of sends that failed, of whom, and why. */
function useFailures(senders: HealthView['senders']): (failures: NonNullable<Named['failures']>) => string {
  const { t, i18n } = useTranslation('health');
  const { whole } = useNumbers();
  const countryName = useCountryName();
  return ({ country, senderId, reason, failed, ended }) => {
    const name = country === undefined ? '' : countryName(country);
    const sender = senders?.find(({ id }) => id === senderId)?.number ?? senderId ?? '';
    const why =
      reason === ''
        ? t('failures.whyUnknown')
        : t('failures.why', { reason: t(`failures.reasons.${reason}`) });
    const kind = country !== undefined ? 'country' : senderId !== undefined ? 'sender' : 'all';
    return t(`failures.${kind}`, {
      share: new Intl.NumberFormat(i18n.language, { style: 'percent' }).format(failed / ended),
      country: name,
      sender,
      failed: whole(failed),
      ended: whole(ended),
      why,
    });
  };
}

/** Shown when the health data cannot be read, which is a finding of its own. */
export function Unavailable({ problem, since }: { problem: ApiProblem; since: string | undefined }) {
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
                {whose}
              </Title>
            </Group>
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

/** Colour and icon of each severity, always shown beside its text. */
export const SEVERITIES = {
  ok: { color: 'teal', icon: IconCircleCheck },
  degraded: { color: 'orange', icon: IconAlertTriangle },
  failing: { color: 'red', icon: IconCircleX },
} as const;
