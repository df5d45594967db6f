import { Alert, Badge, Box, Button, Code, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, KeyView } from '../../../../src/features/applications/view.js';
import { NewKey } from './newKey.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Ago, Time } from '../../components/times.js';

/** The keys of an application, active and revoked. */
export function Keys({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const { path, mayChange } = useAccount();
  const [creating, { open, close }] = useDisclosure();
  const [asking, question] = useDisclosure();
  const [asked, setAsked] = useState<KeyView | null>(null);
  const ask = (key: KeyView): void => {
    setAsked(key);
    question.open();
  };
  const read = useData<{ keys: KeyView[] }>(`${path}/applications/${application.id}/keys`);
  return (
    <Section
      title={t('keys.title')}
      description={t('keys.description')}
      actions={
        mayChange && (
          <Button size="xs" leftSection={<IconPlus size={16} />} onClick={open}>
            {t('keys.create')}
          </Button>
        )
      }
    >
      <Loaded read={read}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Text size="sm" ta="center" py="lg">
              {t(mayChange ? 'keys.empty' : 'keys.emptyViewer')}
            </Text>
          ) : (
            <KeyTable keys={keys} onRevoke={mayChange && ask} />
          )
        }
      </Loaded>
      <NewKey application={application} opened={creating} onClose={close} />
      {asked !== null && (
        <RevokeKey
          application={application}
          apiKey={asked}
          opened={asking}
          isLast={application.keysInUse === 1 && asked.expiresAt === null}
          onClose={question.close}
        />
      )}
    </Section>
  );
}

/** Keys, newest first, active before revoked. `onRevoke` is false for users who may not revoke. */
function KeyTable({
  keys,
  onRevoke,
}: {
  keys: readonly KeyView[];
  onRevoke: ((key: KeyView) => void) | false;
}) {
  const { t } = useTranslation('applications');
  const newest = keys.toReversed();
  return (
    <DataTable
      label={t('keys.caption')}
      minWidth={300}
      verticalSpacing="sm"
      rows={[...newest.filter((key) => !isRevoked(key)), ...newest.filter(isRevoked)]}
      keyOf={({ id }) => id}
      propsOf={(key) => (isRevoked(key) ? { c: 'dimmed' } : {})}
      columns={[
        { title: t('keys.columns.key'), maw: 280, render: (key) => <KeyName apiKey={key} /> },
        {
          title: t('keys.columns.created'),
          visibleFrom: 'sm',
          render: ({ createdAt }) => <Time at={createdAt} />,
        },
        {
          title: t('keys.columns.lastUsed'),
          visibleFrom: 'sm',
          render: ({ lastUsedAt }) => (lastUsedAt === null ? t('keys.never') : <Ago at={lastUsedAt} />),
        },
        {
          title: t('keys.columns.state'),
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
        onRevoke && {
          title: t('keys.columns.actions'),
          ta: 'end',
          render: (key) =>
            !isRevoked(key) && (
              <Button
                size="xs"
                variant="default"
                aria-label={t('keys.revokeNamed', { key: key.label ?? key.hint })}
                onClick={() => onRevoke(key)}
              >
                {t('keys.revoke')}
              </Button>
            ),
        },
      ]}
    />
  );
}

const isRevoked = ({ revokedAt }: KeyView): boolean => revokedAt !== null;

function KeyState({ apiKey }: { apiKey: KeyView }) {
  const { t } = useTranslation('applications');
  const revoked = isRevoked(apiKey);
  return <Badge color={revoked ? 'gray' : 'green'}>{t(revoked ? 'keys.revoked' : 'keys.inUse')}</Badge>;
}

/** Label and hint; on a phone, state and last use stand below them. */
function KeyName({ apiKey }: { apiKey: KeyView }) {
  const { t } = useTranslation('applications');
  const { hint, label, lastUsedAt, expiresAt } = apiKey;
  const revoked = isRevoked(apiKey);
  return (
    <>
      <Text size="sm" fw={revoked ? 400 : 550} style={{ overflowWrap: 'anywhere' }}>
        {label ?? t(expiresAt === null ? 'keys.noLabel' : 'keys.tryout')}
      </Text>
      <Code {...(revoked && { c: 'dimmed' })}>{hint}</Code>
      {expiresAt !== null && (
        <Text size="xs" c="dimmed" mt={4} component="div">
          {t('keys.ends')} <Time at={expiresAt} />
        </Text>
      )}
      <Box hiddenFrom="sm" mt={4}>
        <KeyState apiKey={apiKey} />
      </Box>
      <Text size="xs" c="dimmed" hiddenFrom="sm" mt={4} component="div">
        {t('keys.columns.lastUsed')}: {lastUsedAt === null ? t('keys.never') : <Time at={lastUsedAt} />}
      </Text>
    </>
  );
}

/** Asks for confirmation before a key is revoked. */
function RevokeKey({
  application,
  apiKey,
  opened,
  isLast,
  onClose,
}: {
  application: ApplicationView;
  apiKey: KeyView;
  opened: boolean;
  isLast: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation('applications');
  const list = `${useAccount().path}/applications`;
  const { label, hint } = apiKey;
  const name = label === null ? hint : `${label} (${hint})`;
  return (
    <ConfirmChange
      opened={opened}
      onClose={onClose}
      title={t('keys.revokeTitle')}
      action={t('keys.revoke')}
      change={{ method: 'POST', path: `${list}/${application.id}/keys/${apiKey.id}/revoke` }}
      stale={[list]}
      done={t('keys.revokedNow', { key: name })}
    >
      <Stack gap="sm">
        <Text inherit style={{ overflowWrap: 'anywhere' }}>
          {t('keys.revokeText', { key: name })}
        </Text>
        {apiKey.lastUsedAt === null ? (
          <Text inherit>{t('keys.revokeNever')}</Text>
        ) : (
          <div>
            {t('keys.revokeUsed')} <Ago at={apiKey.lastUsedAt} />
          </div>
        )}
        {isLast && (
          <Alert color="orange" icon={<IconAlertTriangle size={18} />}>
            {t('keys.revokeLast')}
          </Alert>
        )}
      </Stack>
    </ConfirmChange>
  );
}
