import { Anchor, Text } from '@mantine/core';
import { IconCoins } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { CostsView } from '../../../../src/features/costs/view.js';
import { useData } from '../../api/queries.js';
import { Download } from '../../components/download.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { CostMonths } from './costMonths.js';

const REFRESH_MS = 60_000;

/** What Meta charges for messages, by month and country, next to what customers were charged. */
export function Costs() {
  const { t } = useTranslation(['costs', 'common']);
  const read = useData<CostsView>('/staff/costs', { refreshMs: REFRESH_MS });
  return (
    <Page
      title={t('common:nav.costs')}
      description={t('description')}
      actions={<Download path="/staff/costs.csv" />}
    >
      <Loaded read={read}>
        {(view) =>
          view.costs.length === 0 ? (
            <EmptyState icon={IconCoins} title={t('none.title')}>
              {t('none.text')}
            </EmptyState>
          ) : (
            <>
              {view.prices.length === 0 && (
                <Text>
                  {t('noPrices.text')}{' '}
                  <Anchor component={Link} to="/staff/settings" inherit>
                    {t('noPrices.link')}
                  </Anchor>
                </Text>
              )}
              <CostMonths {...view} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
