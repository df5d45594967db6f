import { IconCoins } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { CostsView, CostView } from '../../../../src/features/costs/view.js';
import { useData } from '../../api/queries.js';
import { DataTable } from '../../components/dataTable.js';
import { Page, Section } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

const REFRESH_MS = 60_000;

/** What Meta charges for messages, by day, country and price, beside what customers were charged. */
export function Costs() {
  const { t } = useTranslation('costs');
  const read = useData<CostsView>('/staff/costs', { refreshMs: REFRESH_MS });
  return (
    <Page title={t('title')} description={t('description')}>
      <Loaded read={read}>
        {({ costs }) =>
          costs.length === 0 ? (
            <EmptyState icon={IconCoins} title={t('none.title')}>
              {t('none.text')}
            </EmptyState>
          ) : (
            <Section title={t('last')}>
              <CostTable costs={costs} />
            </Section>
          )
        }
      </Loaded>
    </Page>
  );
}

function CostTable({ costs }: { costs: readonly CostView[] }) {
  const { t, i18n } = useTranslation('costs');
  const { whole } = useNumbers();
  const countryName = useCountryName();
  const dayOf = (day: string): string =>
    new Date(`${day}T00:00:00Z`).toLocaleDateString(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' });
  const priceOf = ({ category, type, pricingModel }: CostView): string =>
    [category, type, pricingModel].join(' · ');
  const counts = (['messages', 'freeSends', 'credits'] as const).map((name) => ({
    title: t(`columns.${name}`),
    ta: 'right' as const,
    render: (cost: CostView) => whole(cost[name]),
  }));
  return (
    <DataTable
      label={t('last')}
      minWidth={640}
      rows={costs}
      keyOf={(cost) => `${cost.day} ${cost.country} ${priceOf(cost)} ${cost.billable}`}
      columns={[
        { title: t('columns.day'), render: ({ day }) => dayOf(day) },
        { title: t('columns.country'), render: ({ country }) => countryName(country) },
        {
          title: t('columns.price'),
          render: (cost) => `${priceOf(cost)} (${t(cost.billable ? 'charged' : 'notCharged')})`,
        },
        ...counts,
      ]}
    />
  );
}
