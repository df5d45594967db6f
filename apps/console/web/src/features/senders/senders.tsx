import { Button, Text } from '@mantine/core';
import { IconDeviceMobileMessage, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SendersView } from '../../../../src/features/senders/view.js';
import { useData } from '../../api/queries.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { useSenders } from '../../hooks/senders.js';
import { OwnCosts } from '../costs/ownCosts.js';
import { AddSenderDialog } from './senderForms.js';
import { SenderCard } from './senderCard.js';

const REFRESH_MS = 5_000;

/** The senders: state, health and recent errors. */
export function Senders() {
  const { t } = useTranslation('senders');
  const { path, account, mayChange } = useSenders();
  const [adding, setAdding] = useState(false);
  const read = useData<SendersView>(path, { refreshMs: REFRESH_MS });
  const add = mayChange && (
    <Button
      leftSection={<IconPlus size={16} />}
      onClick={() => setAdding(true)}
      disabled={read.data === undefined}
    >
      {t('add.button')}
    </Button>
  );
  return (
    <Page
      title={t('title')}
      description={t(account === undefined ? 'description' : 'own.description')}
      actions={add}
    >
      <Loaded read={read}>
        {({ senders, rules, policy, webhookUrl }) => (
          <>
            {policy !== null && <Text size="sm">{t(`own.policy.${policy}`)}</Text>}
            {senders.length === 0 && (
              <EmptyState icon={IconDeviceMobileMessage} title={t('none.title')}>
                {t(account === undefined ? 'none.text' : 'own.none')}
              </EmptyState>
            )}
            {senders.map((sender) => (
              <SenderCard key={sender.id} sender={sender} rules={rules} webhookUrl={webhookUrl} />
            ))}
            {account !== undefined && <OwnCosts path={`/accounts/${account}`} />}
            <AddSenderDialog opened={adding} onClose={() => setAdding(false)} rules={rules} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
