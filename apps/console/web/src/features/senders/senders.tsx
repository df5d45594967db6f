import { Button, Text } from '@mantine/core';
import { IconDeviceMobileMessage, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SendersView } from '../../../../src/features/senders/view.js';
import { useData } from '../../api/queries.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { useSenders } from '../../hooks/senders.js';
import { OwnCosts } from '../costs/costMonths.js';
import { SenderList } from './senderList.js';

const REFRESH_MS = 5_000;

export function Senders() {
  const { t } = useTranslation(['senders', 'common']);
  const { path, account, mayChange } = useSenders();
  const read = useData<SendersView>(path, { refreshMs: REFRESH_MS });
  const add = mayChange && (
    <Button component={Link} to={`${path}/new`} size="sm" leftSection={<IconPlus size={16} />}>
      {t('add.button')}
    </Button>
  );
  return (
    <Page
      title={t('common:nav.senders')}
      description={t(account === undefined ? 'description' : 'own.description')}
      actions={add}
    >
      <Loaded read={read}>
        {({ senders, policy }) => (
          <>
            {policy !== null && <Text>{t(`own.policy.${policy}`)}</Text>}
            {senders.length === 0 ? (
              <EmptyState icon={IconDeviceMobileMessage} title={t('none.title')}>
                {t(account === undefined ? 'none.text' : 'own.none')}
              </EmptyState>
            ) : (
              <SenderList senders={senders} />
            )}
            {account !== undefined && <OwnCosts path={`/accounts/${account}`} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
