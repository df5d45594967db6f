import { Alert, Anchor, Button, Text } from '@mantine/core';
import { IconAlertTriangle, IconWebhook } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { WebhookView } from '../../../../src/features/webhook/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Small } from '../../components/facts.js';
import { Page, Section } from '../../components/page.js';
import { EmptyState, Loaded, useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useChange } from '../../hooks/change.js';
import { useDocs } from '../../hooks/docs.js';
import { Deliveries } from './deliveries.js';
import { SecretDialog } from './secretDialog.js';

/** Events come within a moment; the next try of one that failed is later. */
const REFRESH_MS = 5_000;

/** The webhook that gets an account's events, and what became of them. */
export function WebhookPage() {
  const { t } = useTranslation(['webhook', 'common', 'holds']);
  const { path, mayManage } = useAccount();
  const docs = useDocs();
  const [asked, setAsked] = useState<'address' | 'secret' | null>(null);
  const close = (): void => setAsked(null);
  const read = useData<WebhookView>(`${path}/webhook`, { refreshMs: REFRESH_MS });
  const webhook = read.data?.webhook ?? null;
  const actions = (
    <>
      <Button size="xs" variant="default" onClick={() => setAsked('address')}>
        {t('address.change')}
      </Button>
      <Button size="xs" variant="default" onClick={() => setAsked('secret')}>
        {t('secret.action')}
      </Button>
      <ChangeButton
        title={t('remove.title')}
        action={t('remove.action')}
        change={{ method: 'DELETE', path: `${path}/webhook` }}
        stale={[`${path}/webhook`]}
        done={t('remove.done')}
      >
        {t('remove.text')}
      </ChangeButton>
    </>
  );
  return (
    <Page
      title={t('common:nav.webhook')}
      description={
        <>
          {t('description')}{' '}
          <Anchor inherit underline="always" href={docs('events')} target="_blank" rel="noreferrer">
            {t('docs')}
          </Anchor>
        </>
      }
    >
      <Loaded read={read}>
        {({ deliveries }) =>
          webhook === null ? (
            <EmptyState
              icon={IconWebhook}
              title={t('empty.title')}
              action={mayManage && <Button onClick={() => setAsked('address')}>{t('address.set')}</Button>}
            >
              {t(mayManage ? 'empty.text' : 'empty.viewer')}
            </EmptyState>
          ) : (
            <>
              <Section title={t('address.title')} actions={mayManage && actions}>
                {webhook.goneAt !== null && (
                  <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('gone.title')}>
                    {t('gone.text')} <Time at={webhook.goneAt} />
                  </Alert>
                )}
                <Text ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {webhook.url}
                </Text>
                <Small>
                  {t('holds:since')} <Time at={webhook.createdAt} />
                </Small>
              </Section>
              <Section
                title={t('deliveries.title')}
                description={t('deliveries.description')}
                actions={mayManage && webhook.goneAt === null && <Test />}
              >
                <Deliveries deliveries={deliveries} mayRepeat={mayManage && webhook.goneAt === null} />
              </Section>
            </>
          )
        }
      </Loaded>
      <SecretDialog
        opened={asked === 'address' || asked === 'secret'}
        url={webhook?.url ?? null}
        isRotation={asked === 'secret'}
        onClose={close}
      />
    </Page>
  );
}

function Test() {
  const { t } = useTranslation('webhook');
  const { path } = useAccount();
  const text = useProblemText();
  const { mutate, isPending } = useChange([`${path}/webhook`], {
    done: t('test.done'),
    failed: (problem) => (problem.code === 'conflict' ? t('test.waits') : text(problem)),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={isPending}
      onClick={() => mutate({ method: 'POST', path: `${path}/webhook/test` })}
    >
      {t('test.action')}
    </Button>
  );
}
