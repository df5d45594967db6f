import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { StatisticsView } from '../../../../src/features/overview/view.js';
import { useNumbers } from '../../hooks/formats.js';
import { Section } from '../../components/page.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { useShares } from './statistics.js';

/** Statistics by application or language, most sends first. */
export function OverviewBreakdown({
  title,
  column,
  rows,
}: {
  title: string;
  /** The heading of the first column. */
  column: string;
  rows: readonly (StatisticsView & { id: string; name: string })[];
}) {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const { share, seconds } = useShares();
  return (
    <Section title={title}>
      <ScrollingTable label={title} minWidth={320} horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{column}</Table.Th>
            <Table.Th ta="right">{t('statistics.sends')}</Table.Th>
            <Table.Th ta="right">{t('statistics.delivered')}</Table.Th>
            <Table.Th ta="right">{t('statistics.verified')}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('columns.time')}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.id}>
              <Table.Td>
                <Text size="sm" truncate maw={180}>
                  {row.name}
                </Text>
              </Table.Td>
              <Table.Td ta="right">{whole(row.sends)}</Table.Td>
              <Table.Td ta="right">{share(row.deliveredShare)}</Table.Td>
              <Table.Td ta="right">{share(row.verifiedShare)}</Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {seconds(row.deliverySecondsMedian)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollingTable>
    </Section>
  );
}
