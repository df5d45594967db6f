import { SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { StatisticsView } from '../../../../src/features/overview/view.js';
import { Statistic, Small } from '../../components/facts.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';

/** The address of the list of sends with these filters. */
export type LinkToSends = (filter?: Readonly<Record<string, string>>) => string;

/** Formats shares and seconds in the user's language; null becomes a dash. */
export function useShares() {
  const numbers = useNumbers();
  const durations = useDurations();
  return {
    share: (part: number | null): string => (part === null ? '–' : numbers.share(part)),
    seconds: (seconds: number | null): string => (seconds === null ? '–' : durations.countedSeconds(seconds)),
  };
}

/** The totals of the period, each next to the previous period's total, as a link to its sends. */
export function OverviewStatistics({
  totals,
  previous,
  linkTo,
}: {
  totals: StatisticsView;
  previous: StatisticsView;
  linkTo: LinkToSends;
}) {
  const { t } = useTranslation(['overview', 'common']);
  const { whole } = useNumbers();
  const { share, seconds } = useShares();
  const arrived = { status: 'arrived' };
  const items: [
    label: string,
    filter: Readonly<Record<string, string>>,
    value: (of: StatisticsView) => string,
    count?: number,
  ][] = [
    [t('common:nav.sends'), {}, ({ sends }) => whole(sends)],
    [t('statistics.delivered'), arrived, ({ deliveredShare }) => share(deliveredShare), totals.delivered],
    [
      t('statistics.verified'),
      { verification: 'verified' },
      ({ verifiedShare }) => share(verifiedShare),
      totals.verified,
    ],
    [
      t('statistics.undelivered'),
      { status: 'sent', verification: 'expired' },
      ({ undeliveredShare }) => share(undeliveredShare),
      totals.undelivered,
    ],
    [t('statistics.failed'), { status: 'failed' }, ({ failedShare }) => share(failedShare), totals.failed],
    [t('statistics.median'), arrived, (of) => seconds(of.deliverySecondsMedian)],
    [t('statistics.p95'), arrived, (of) => seconds(of.deliverySecondsP95)],
  ];
  return (
    <SimpleGrid cols={{ base: 2, sm: 4, xl: 7 }} spacing="sm">
      {items.map(([label, filter, value, count]) => (
        <UnstyledButton key={label} component={Link} to={linkTo(filter)}>
          <Statistic label={label}>
            {value(totals)}
            {count !== undefined && (
              <Text size="xs" c="dimmed" component="span" ml={6}>
                {whole(count)}
              </Text>
            )}
            <Small>
              {previous.sends === 0 ? t('before.none') : t('before.value', { value: value(previous) })}
            </Small>
          </Statistic>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  );
}
