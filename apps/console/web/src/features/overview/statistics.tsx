import { SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { StatisticsView } from '../../../../src/features/overview/view.js';
import { Statistic } from '../../components/facts.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';

/** Formats shares and seconds in the user's language; null becomes a dash. */
export function useShares(): {
  share: (part: number | null) => string;
  seconds: (seconds: number | null) => string;
} {
  const numbers = useNumbers();
  const durations = useDurations();
  return {
    share: (part) => (part === null ? '–' : numbers.share(part)),
    seconds: (seconds) => (seconds === null ? '–' : durations.seconds(seconds)),
  };
}

/** The totals of the period. */
export function OverviewStatistics({ totals }: { totals: StatisticsView }) {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const { share, seconds } = useShares();
  const items: [label: string, value: string, count?: string][] = [
    [t('statistics.sends'), whole(totals.sends)],
    [t('statistics.delivered'), share(totals.deliveredShare), whole(totals.delivered)],
    [t('statistics.verified'), share(totals.verifiedShare), whole(totals.verified)],
    [t('statistics.failed'), share(totals.failedShare), whole(totals.failed)],
    [t('statistics.median'), seconds(totals.deliverySecondsMedian)],
    [t('statistics.p95'), seconds(totals.deliverySecondsP95)],
  ];
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      {items.map(([label, value, count]) => (
        <Statistic key={label} label={label}>
          {value}
          {count !== undefined && (
            <Text size="xs" c="dimmed" component="span" ml={6}>
              {count}
            </Text>
          )}
        </Statistic>
      ))}
    </SimpleGrid>
  );
}
