import { Anchor, Button, Group } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HoldsView } from '../../../../src/features/holds/view.js';
import { useData } from '../../api/queries.js';
import { useMayStop } from '../../app/session.js';
import { Page, Section } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { HoldDialog } from './holdDialog.js';
import { HoldTable } from './holdTable.js';
import { LiveDelivery } from './liveDelivery.js';

const REFRESH_MS = 3_000;

/** Countries and accounts. */
const othersOf = ({ holds }: HoldsView) => holds.filter(({ kind }) => kind !== 'live');

/** The holds: all live delivery, countries and accounts. */
export function Holds() {
  const { t } = useTranslation('holds');
  const mayStop = useMayStop();
  const [holding, setHolding] = useState<'country' | 'account' | null>(null);
  const read = useData<HoldsView>('/staff/holds', { refreshMs: REFRESH_MS });
  return (
    <Page
      title={t('title')}
      description={
        <>
          {t('description')}{' '}
          <Anchor component={Link} to="/staff/senders" inherit underline="always">
            {t('senders')}
          </Anchor>
        </>
      }
    >
      <Loaded read={read}>
        {(data) => (
          <>
            <LiveDelivery view={data} />
            <Section
              title={t('others')}
              actions={
                mayStop && (
                  <Group gap="xs">
                    <Button variant="default" size="xs" onClick={() => setHolding('country')}>
                      {t('target.country.set')}
                    </Button>
                    <Button variant="default" size="xs" onClick={() => setHolding('account')}>
                      {t('target.account.set')}
                    </Button>
                  </Group>
                )
              }
            >
              {othersOf(data).length === 0 ? (
                <EmptyState icon={IconHandStop} title={t('none.title')}>
                  {t('none.text')}
                </EmptyState>
              ) : (
                <HoldTable holds={othersOf(data)} isCapped={data.isCapped} />
              )}
            </Section>
          </>
        )}
      </Loaded>
      <HoldDialog kind={holding} onClose={() => setHolding(null)} />
    </Page>
  );
}
