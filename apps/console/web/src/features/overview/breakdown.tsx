import { Anchor } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { StatisticsView } from '../../../../src/features/overview/view.js';
import { useNumbers } from '../../hooks/formats.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { useShares } from './statistics.js';

/** Statistics by application, country or language, most sends first, each a link to its sends. */
export function OverviewBreakdown({
  title,
  description,
  column,
  rows,
  linkTo,
}: {
  title: string;
  description?: string;
  /** The heading of the first column. */
  column: string;
  rows: readonly (StatisticsView & { id: string; name: string })[];
  linkTo: (id: string) => string;
}) {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const { share, seconds } = useShares();
  return (
    <Section title={title} description={description}>
      <DataTable
        label={title}
        horizontalSpacing={4}
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            title: column,
            render: ({ id, name }) => (
              <Anchor component={Link} to={linkTo(id)} size="sm" display="block" maw={{ base: 84, sm: 180 }}>
                {name}
              </Anchor>
            ),
          },
          { title: t('statistics.sends'), ta: 'right', render: ({ sends }) => whole(sends) },
          {
            title: t('statistics.delivered'),
            ta: 'right',
            render: ({ deliveredShare }) => share(deliveredShare),
          },
          {
            title: t('statistics.verified'),
            ta: 'right',
            render: ({ verifiedShare }) => share(verifiedShare),
          },
          {
            title: t('columns.time'),
            ta: 'right',
            visibleFrom: 'sm',
            render: ({ deliverySecondsMedian }) => seconds(deliverySecondsMedian),
          },
        ]}
      />
    </Section>
  );
}
