import { Alert, Badge, Box, Code, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, KeyView } from '../../../../src/features/applications/view.js';
import { NewKey } from './newKey.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { DialogButton } from '../../components/dialog.js';
import { Small } from '../../components/facts.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Ago, Time } from '../../components/times.js';
import { post } from '../../hooks/change.js';

export function Keys({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const { path, mayChange } = useAccount();
  const read = useData<{ keys: KeyView[] }>(`${path}/applications/${application.id}/keys`);
  return (
    <Section
      title={t('keys.title')}
      description={t('keys.description')}
      actions={
        mayChange && (
          <DialogButton
            variant="filled"
            leftSection={<IconPlus size={16} />}
            label={t('keys.create')}
            title={t('keys.create')}
            dialogSize="lg"
          >
            <NewKey application={application} />
          </DialogButton>
        )
      }
    >
      <Loaded read={read}>
        {({ keys }) => <KeyTable keys={keys} application={application} mayChange={mayChange} />}
      </Loaded>
    </Section>
  );
}

/** Keys, newest first, active before expired and revoked. */
function KeyTable({
  keys,
  application,
  mayChange,
}: {
  keys: readonly KeyView[];
  application: ApplicationView;
  mayChange: boolean;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const newest = keys.toReversed();
  return (
    <DataTable
      label={t('keys.caption')}
      empty={
        <Text ta="center" py="lg">
          {t(mayChange ? 'keys.empty' : 'keys.emptyViewer')}
        </Text>
      }
      minWidth={300}
      verticalSpacing="sm"
      rows={[...newest.filter(isActive), ...newest.filter((key) => !isActive(key))]}
      getRowKey={({ id }) => id}
      propsOf={(key) => (isActive(key) ? {} : { c: 'dimmed' })}
      columns={[
        { title: t('keys.columns.key'), maw: 280, render: (key) => <KeyName apiKey={key} /> },
        {
          title: t('common:words.created'),
          visibleFrom: 'sm',
          render: ({ createdAt }) => <Time at={createdAt} />,
        },
        {
          title: t('common:words.lastUsed'),
          visibleFrom: 'sm',
          render: ({ lastUsedAt }) =>
            lastUsedAt === null ? t('common:words.never') : <Ago at={lastUsedAt} />,
        },
        {
          title: t('common:words.status'),
          visibleFrom: 'sm',
          render: (key) => (
            <>
              <KeyState apiKey={key} />
              {key.revokedAt !== null && (
                <Text size="xs" mt={2} component="div">
                  <Time at={key.revokedAt} />
                </Text>
              )}
            </>
          ),
        },
        mayChange && {
          title: t('common:actions'),
          ta: 'end',
          render: (key) => isActive(key) && <RevokeKey application={application} apiKey={key} />,
        },
      ]}
    />
  );
}

const isActive = ({ state }: KeyView): boolean => state === 'active';

function KeyState({ apiKey: { state, notice } }: { apiKey: KeyView }) {
  const { t } = useTranslation('applications');
  if (state !== 'active') return <Badge color="gray">{t(`keys.${state}`)}</Badge>;
  return <Badge color={notice === null ? 'green' : 'orange'}>{t(`keys.${notice ?? 'inUse'}`)}</Badge>;
}

/** Label and hint; on a phone, state and last use are below them. */
function KeyName({ apiKey }: { apiKey: KeyView }) {
  const { t } = useTranslation(['applications', 'common']);
  const { hint, label, lastUsedAt, expiresAt, state } = apiKey;
  const isDimmed = !isActive(apiKey);
  return (
    <>
      <Text fw={isDimmed ? 400 : 550} className="breaks-words">
        {label ?? t('keys.noLabel')}
      </Text>
      <Code {...(isDimmed && { c: 'dimmed' })}>{hint}</Code>
      {expiresAt !== null && (
        <Small mt={4}>
          {t(state === 'expired' ? 'keys.hasExpired' : 'keys.expires')} <Time at={expiresAt} />
        </Small>
      )}
      <Box hiddenFrom="sm" mt={4}>
        <KeyState apiKey={apiKey} />
      </Box>
      <Small hiddenFrom="sm" mt={4}>
        {t('common:words.lastUsed')}:{' '}
        {lastUsedAt === null ? t('common:words.never') : <Time at={lastUsedAt} />}
      </Small>
    </>
  );
}

function RevokeKey({ application, apiKey }: { application: ApplicationView; apiKey: KeyView }) {
  const { t } = useTranslation(['applications', 'common']);
  const list = `${useAccount().path}/applications`;
  const { label, hint } = apiKey;
  const name = label === null ? hint : `${label} (${hint})`;
  return (
    <ChangeButton
      label={t('keys.revokeNamed', { key: label ?? hint })}
      title={t('keys.revokeTitle')}
      action={t('common:words.revoke')}
      change={post(`${list}/${application.id}/keys/${apiKey.id}/revoke`)}
      stale={[list]}
      done={t('keys.revokedNow', { key: name })}
    >
      <Stack gap="sm">
        <Text inherit>{t('keys.revokeText', { key: name })}</Text>
        {apiKey.lastUsedAt === null ? (
          <Text inherit>{t('keys.revokeNever')}</Text>
        ) : (
          <div>
            {t('keys.revokeUsed')} <Ago at={apiKey.lastUsedAt} />
          </div>
        )}
        {application.keysInUse === 1 && (
          <Alert color="orange" icon={<IconAlertTriangle size={18} />}>
            {t('keys.revokeLast')}
          </Alert>
        )}
      </Stack>
    </ChangeButton>
  );
}
