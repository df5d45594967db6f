import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconWebhook } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { WebhookView } from '../../../../src/features/webhook/view.js';
import { useChange, useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { Page, Section } from '../../components/page.js';
import { EmptyState, Loaded, useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useDocs } from '../../hooks/docs.js';
import { Deliveries } from './deliveries.js';
import { SecretDialog } from './secretDialog.js';

/** Events come within a moment; the next try of one that failed is later. */
const REFRESH_MS = 5_000;

type Asked = 'address' | 'secret' | 'remove';

/** The webhook that gets an account's events, and what became of them. */
export function WebhookPage() {
  const { t } = useTranslation(['webhook', 'common']);
  const { path, mayManage } = useAccount();
  const docs = useDocs();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = (): void => setAsked(null);
  const read = useData<WebhookView>(`${path}/webhook`, { refreshMs: REFRESH_MS });
  const webhook = read.data?.webhook ?? null;
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
              <Section title={t('address.title')} actions={mayManage && <Actions onAsk={setAsked} />}>
                {webhook.goneAt !== null && (
                  <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('gone.title')}>
                    {t('gone.text')} <Time at={webhook.goneAt} />
                  </Alert>
                )}
                <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {webhook.url}
                </Text>
                <Text size="xs" c="dimmed" component="div">
                  {t('address.since')} <Time at={webhook.createdAt} />
                </Text>
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
      <ConfirmChange
        opened={asked === 'remove'}
        onClose={close}
        title={t('remove.title')}
        action={t('remove.action')}
        change={{ method: 'DELETE', path: `${path}/webhook` }}
        stale={[`${path}/webhook`]}
        done={t('remove.done')}
      >
        {t('remove.text')}
      </ConfirmChange>
    </Page>
  );
}

function Actions({ onAsk }: { onAsk: (asked: Asked) => void }) {
  const { t } = useTranslation('webhook');
  return (
    <Group gap="xs">
      {(['address', 'secret', 'remove'] as const).map((asked) => (
        <Button key={asked} size="xs" variant="default" onClick={() => onAsk(asked)}>
          {t(asked === 'address' ? 'address.change' : `${asked}.action`)}
        </Button>
      ))}
    </Group>
  );
}

function Test() {
  const { t } = useTranslation('webhook');
  const { path } = useAccount();
  const text = useProblemText();
  const { mutate, isPending } = useChange(`${path}/webhook`);
  const test = (): void =>
    mutate(
      { method: 'POST', path: `${path}/webhook/test` },
      {
        onSuccess: () => notifications.show({ message: t('test.done') }),
        onError: (problem) =>
          notifications.show({
            color: 'red',
            message: problem.code === 'conflict' ? t('test.waits') : text(problem),
          }),
      },
    );
  return (
    <Button size="xs" variant="default" loading={isPending} onClick={test}>
      {t('test.action')}
    </Button>
  );
}
