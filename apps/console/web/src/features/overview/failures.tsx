import { Anchor } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { OverviewView } from '../../../../src/features/overview/view.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { useNumbers } from '../../hooks/formats.js';
import { useShares, type LinkToSends } from './statistics.js';

/** Why sends failed, the most frequent reason first, each a link to its sends. */
export function Failures({
  overview: { failures, totals },
  linkTo,
}: {
  overview: OverviewView;
  linkTo: LinkToSends;
}) {
  const { t } = useTranslation(['overview', 'sends']);
  const { whole } = useNumbers();
  const { share } = useShares();
  return (
    <Section title={t('failures')}>
      <DataTable
        label={t('failures')}
        horizontalSpacing={6}
        rows={failures}
        keyOf={({ reason }) => reason}
        columns={[
          {
            title: t('sends:columns.reason'),
            render: ({ reason }) => (
              <Anchor component={Link} to={linkTo({ reason })} size="sm">
                {t(`sends:reasons.${reason}`)}
              </Anchor>
            ),
          },
          { title: t('statistics.sends'), ta: 'right', render: ({ sends }) => whole(sends) },
          { title: t('ofAll'), ta: 'right', render: ({ sends }) => share(sends / totals.sends) },
        ]}
      />
    </Section>
  );
}
