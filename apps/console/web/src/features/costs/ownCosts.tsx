import { useTranslation } from 'react-i18next';
import type { OwnCostsView } from '../../../../src/features/costs/view.js';
import { useData } from '../../api/queries.js';
import { Section } from '../../components/page.js';
import { CostMonths } from './costMonths.js';

/** What Meta charges an account for messages by its own senders, by month; nothing before the first. @param path the account's */
export function OwnCosts({ path }: { path: string }) {
  const { t } = useTranslation('costs');
  const { data } = useData<OwnCostsView>(`${path}/costs`);
  if (data === undefined || data.costs.length === 0) return null;
  return (
    <Section title={t('own.title')} description={t('own.description')}>
      <CostMonths costs={data.costs} currency={null} />
    </Section>
  );
}
