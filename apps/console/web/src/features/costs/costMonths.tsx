import { Accordion, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CostsView, MonthlyCostView, OwnCostsView } from '../../../../src/features/costs/view.js';
import { useAside } from '../../api/queries.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { useCountryName } from '../../hooks/countries.js';
import { useMonths, useNumbers } from '../../hooks/formats.js';
import { useMoney } from './money.js';

/** What Meta charges an account for messages from its own senders, by month; renders nothing before the first. @param path the account's */
export function OwnCosts({ path }: { path: string }) {
  const { t } = useTranslation('costs');
  const data = useAside<OwnCostsView>(`${path}/costs`);
  if (data === undefined || data.costs.length === 0) return null;
  return (
    <Section title={t('own.title')} description={t('own.description')}>
      <CostMonths costs={data.costs} currency={null} />
    </Section>
  );
}

/** Each month with its sum; the newest is open. */
export function CostMonths({ costs, currency }: Pick<CostsView, 'costs' | 'currency'>) {
  const month = useMonths();
  const months = [...new Set(costs.map((cost) => cost.month))];
  return (
    <Accordion multiple variant="separated" defaultValue={months.slice(0, 1)}>
      {months.map((name) => {
        const rows = costs.filter((cost) => cost.month === name);
        return (
          <Accordion.Item key={name} value={name}>
            <Accordion.Control>
              <Group justify="space-between" gap="xs" pr="sm">
                <Text size="md" fw={600} component="span">
                  {month(name)}
                </Text>
                <Sum rows={rows} currency={currency} />
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <MonthTable label={month(name)} rows={rows} currency={currency} />
            </Accordion.Panel>
          </Accordion.Item>
        );
      })}
    </Accordion>
  );
}

interface MonthProps {
  rows: readonly MonthlyCostView[];
  /** Null if no amount is known. */
  currency: string | null;
}

const sumOf = (rows: readonly MonthlyCostView[], of: (row: MonthlyCostView) => number | null): number =>
  rows.reduce((sum, row) => sum + (of(row) ?? 0), 0);

function Sum({ rows, currency }: MonthProps) {
  const { t } = useTranslation('costs');
  const { whole } = useNumbers();
  const { amount } = useMoney(currency);
  const charged = sumOf(rows, (row) => row.charged);
  const unpriced = sumOf(rows, (row) => (row.amount === null ? row.charged : 0));
  return (
    <Text component="span" className="tabular">
      {currency !== null && unpriced < charged && (
        <Text fw={600} inherit component="span">
          {amount(sumOf(rows, (row) => row.amount))}
          {unpriced > 0 && ` + ${t('unpriced', { count: unpriced, formatted: whole(unpriced) })}`}
          {' · '}
        </Text>
      )}
      {t('chargedMessages', { count: charged, formatted: whole(charged) })}
    </Text>
  );
}

function MonthTable({ label, rows, currency }: MonthProps & { label: string }) {
  const { t } = useTranslation(['costs', 'common']);
  const { whole } = useNumbers();
  const { amount, price } = useMoney(currency);
  const countryName = useCountryName();
  const count = (name: 'messages' | 'charged' | 'freeSends' | 'credits', onPhones = false) => ({
    title: t(`columns.${name}`),
    ta: 'right' as const,
    ...(!onPhones && { visibleFrom: 'sm' as const }),
    render: (cost: MonthlyCostView) => whole(cost[name]),
  });
  return (
    <DataTable
      label={label}
      rows={rows}
      getRowKey={({ country }) => country}
      columns={[
        { title: t('common:words.country'), render: ({ country }) => countryName(country) },
        count('messages'),
        count('charged', true),
        currency !== null && {
          title: t('columns.price'),
          ta: 'right',
          visibleFrom: 'sm',
          render: (cost) => (cost.price === null ? t('noPrice') : price(cost.price)),
        },
        currency !== null && {
          title: t('columns.amount'),
          ta: 'right',
          render: (cost) => (cost.amount === null ? t('noPrice') : amount(cost.amount)),
        },
        count('freeSends'),
        count('credits', currency === null),
      ]}
    />
  );
}
