import { Table } from '@mantine/core';
import { IconCoins } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { CostsView, CostView } from '../../../../src/features/costs/view.js';
import { useData } from '../../api/queries.js';
import { Page, Section } from '../../components/page.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { EmptyState, Failure, Loading } from '../../components/states.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

const REFRESH_MS = 60_000;

/** What Meta charges for messages, by day, country and price, beside what customers were charged. */
export function Costs() {
  const { t } = useTranslation('costs');
  const { data, error, refetch } = useData<CostsView>('/staff/costs', { refreshMs: REFRESH_MS });
  return (
    <Page title={t('title')} description={t('description')}>
      {error !== null && <Failure problem={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data?.costs.length === 0 && (
        <EmptyState icon={IconCoins} title={t('none.title')}>
          {t('none.text')}
        </EmptyState>
      )}
      {data !== undefined && data.costs.length > 0 && (
        <Section title={t('last')}>
          <CostTable costs={data.costs} />
        </Section>
      )}
    </Page>
  );
}

function CostTable({ costs }: { costs: readonly CostView[] }) {
  const { t, i18n } = useTranslation('costs');
  const { whole } = useNumbers();
  const countryName = useCountryName();
  const dayOf = (day: string): string =>
    new Date(`${day}T00:00:00Z`).toLocaleDateString(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' });
  return (
    <ScrollingTable label={t('last')} minWidth={640}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('columns.day')}</Table.Th>
          <Table.Th>{t('columns.country')}</Table.Th>
          <Table.Th>{t('columns.price')}</Table.Th>
          <Table.Th ta="right">{t('columns.messages')}</Table.Th>
          <Table.Th ta="right">{t('columns.delivered')}</Table.Th>
          <Table.Th ta="right">{t('columns.freeSends')}</Table.Th>
          <Table.Th ta="right">{t('columns.credits')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {costs.map((cost) => {
          const price = [cost.category, cost.type, cost.pricingModel].join(' · ');
          return (
            <Table.Tr key={`${cost.day} ${cost.country} ${price} ${cost.billable}`}>
              <Table.Td>{dayOf(cost.day)}</Table.Td>
              <Table.Td>{countryName(cost.country)}</Table.Td>
              <Table.Td>
                {price} ({t(cost.billable ? 'charged' : 'notCharged')})
              </Table.Td>
              <Table.Td ta="right">{whole(cost.messages)}</Table.Td>
              <Table.Td ta="right">{whole(cost.delivered)}</Table.Td>
              <Table.Td ta="right">{whole(cost.freeSends)}</Table.Td>
              <Table.Td ta="right">{whole(cost.credits)}</Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </ScrollingTable>
  );
}
