import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import { Chart } from '../../components/chart.js';
import { useNumbers } from '../../hooks/formats.js';
import { Section } from '../../components/page.js';

const OUTCOMES = [
  ['accepted', 'brand-6'],
  ['recipient', 'blue-6'],
  ['retry', 'orange-6'],
  ['unknown', 'yellow-6'],
  ['sender', 'grape-6'],
  ['config', 'red-6'],
] as const;
const HEIGHT = 220;

/** Calls to the provider per minute of the last 30 minutes, by outcome. */
export function AttemptsChart({ attempts }: { attempts: HealthView['attempts'] }) {
  const { t, i18n } = useTranslation('health');
  const { whole } = useNumbers();
  const time = new Intl.DateTimeFormat(i18n.language, { hour: 'numeric', minute: '2-digit' });
  const sums = OUTCOMES.map(([name, color]) => ({
    name,
    color,
    label: t(`outcomes.${name}`),
    sum: (attempts ?? []).reduce((sum, { outcomes }) => sum + (outcomes[name] ?? 0), 0),
  }));
  const seen = sums.filter(({ sum }) => sum > 0);
  return (
    <Section title={t('chart.title')} description={t('chart.text')}>
      {attempts === null && <Text>{t('unreadText')}</Text>}
      {attempts !== null && seen.length === 0 && <Text>{t('chart.none')}</Text>}
      {attempts !== null && seen.length > 0 && (
        <>
          <Chart
            kind="bars"
            height={HEIGHT}
            labels={attempts.map(({ minute }) => time.format(new Date(minute)))}
            series={seen.map(({ name, color, label }) => ({
              label,
              color,
              values: attempts.map(({ outcomes }) => outcomes[name] ?? 0),
            }))}
            format={(value) => whole(value ?? 0)}
          />
          <Text c="dimmed">{seen.map(({ label, sum }) => `${label}: ${whole(sum)}`).join(' · ')}</Text>
        </>
      )}
    </Section>
  );
}
