import { Anchor, Button, Text } from '@mantine/core';
import { IconWebhook } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { WebhookView } from '../../../../src/features/webhook/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Dialog } from '../../components/dialog.js';
import { Small } from '../../components/facts.js';
import { Page, Section } from '../../components/page.js';
import { EmptyState, Loaded, useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { post, remove, useChange } from '../../hooks/change.js';
import { useDocs } from '../../hooks/docs.js';
import { Deliveries } from './deliveries.js';
import { SecretForm } from './secretForm.js';

/** New events arrive within seconds; failed ones are retried later. */
const REFRESH_MS = 5_000;

/** The webhook that gets an account's events, and their deliveries. */
export function WebhookPage() {
  const { t } = useTranslation(['webhook', 'common']);
  const { path, mayManage } = useAccount();
  const docs = useDocs();
  const [asked, setAsked] = useState<'address' | 'secret' | null>(null);
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
        action={t('common:words.remove')}
        change={remove(`${path}/webhook`)}
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
                <Text ff="monospace">{webhook.url}</Text>
                <Small>
                  {t('common:words.since')} <Time at={webhook.setAt} />
                </Small>
              </Section>
              <Section
                title={t('deliveries.title')}
                description={t('deliveries.description')}
                actions={mayManage && <Test />}
              >
                <Deliveries deliveries={deliveries} mayRepeat={mayManage} />
              </Section>
            </>
          )
        }
      </Loaded>
      {/* Outside of the part that is replaced when a webhook is created. */}
      <Dialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={t(asked === 'secret' ? 'secret.action' : webhook === null ? 'address.set' : 'address.change')}
      >
        <SecretForm url={webhook?.url ?? null} isRotation={asked === 'secret'} />
      </Dialog>
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
      onClick={() => mutate(post(`${path}/webhook/test`))}
    >
      {t('test.action')}
    </Button>
  );
}
