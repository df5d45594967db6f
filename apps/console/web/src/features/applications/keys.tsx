import { Alert, Badge, Box, Button, Code, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, KeyView } from '../../../../src/features/applications/view.js';
import { NewKey } from './newKey.js';
import { useChange, useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Confirm } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Failure, Loading } from '../../components/states.js';
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
  const { data, error, refetch } = useData<{ keys: KeyView[] }>(
    `${path}/applications/${application.id}/keys`,
  );
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
      {data === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {data?.keys.length === 0 && (
        <Text size="sm" ta="center" py="lg">
          {t(mayChange ? 'keys.empty' : 'keys.emptyViewer')}
        </Text>
      )}
      {data !== undefined && data.keys.length > 0 && (
        <KeyTable keys={data.keys} onRevoke={mayChange ? ask : null} />
      )}
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

/** Keys, newest first, active before revoked. `onRevoke` is null for users who may not revoke. */
function KeyTable({
  keys,
  onRevoke,
}: {
  keys: readonly KeyView[];
  onRevoke: ((key: KeyView) => void) | null;
}) {
  const { t } = useTranslation('applications');
  const newest = keys.toReversed();
  const ordered = [
    ...newest.filter(({ revokedAt }) => revokedAt === null),
    ...newest.filter(({ revokedAt }) => revokedAt !== null),
  ];
  return (
    <Table.ScrollContainer minWidth={300}>
      <Table verticalSpacing="sm" aria-label={t('keys.caption')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('keys.columns.key')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('keys.columns.created')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('keys.columns.lastUsed')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('keys.columns.state')}</Table.Th>
            {onRevoke && <Table.Th ta="end">{t('keys.columns.actions')}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ordered.map((key) => (
            <KeyRow key={key.id} apiKey={key} onRevoke={onRevoke} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function KeyRow({ apiKey, onRevoke }: { apiKey: KeyView; onRevoke: ((key: KeyView) => void) | null }) {
  const { t } = useTranslation('applications');
  const { hint, label, createdAt, lastUsedAt, revokedAt, expiresAt } = apiKey;
  const isRevoked = revokedAt !== null;
  const dimmed = isRevoked ? { c: 'dimmed' } : {};
  const state = (
    <Badge color={isRevoked ? 'gray' : 'green'}>{t(isRevoked ? 'keys.revoked' : 'keys.inUse')}</Badge>
  );
  return (
    <Table.Tr {...dimmed}>
      <Table.Td maw={280}>
        <Text size="sm" fw={isRevoked ? 400 : 550} style={{ overflowWrap: 'anywhere' }}>
          {label ?? t(expiresAt === null ? 'keys.noLabel' : 'keys.tryout')}
        </Text>
        <Code {...dimmed}>{hint}</Code>
        {expiresAt !== null && (
          <Text size="xs" c="dimmed" mt={4} component="div">
            {t('keys.ends')} <Time at={expiresAt} />
          </Text>
        )}
        <Box hiddenFrom="sm" mt={4}>
          {state}
        </Box>
        <Text size="xs" c="dimmed" hiddenFrom="sm" mt={4} component="div">
          {t('keys.columns.lastUsed')}: {lastUsedAt === null ? t('keys.never') : <Time at={lastUsedAt} />}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Time at={createdAt} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{lastUsedAt === null ? t('keys.never') : <Ago at={lastUsedAt} />}</Table.Td>
      <Table.Td visibleFrom="sm">
        {state}
        {isRevoked && (
          <Text size="xs" mt={2} component="div">
            <Time at={revokedAt} />
          </Text>
        )}
      </Table.Td>
      {onRevoke && (
        <Table.Td ta="end">
          {!isRevoked && (
            <Button
              size="xs"
              variant="default"
              aria-label={t('keys.revokeNamed', { key: label ?? hint })}
              onClick={() => onRevoke(apiKey)}
            >
              {t('keys.revoke')}
            </Button>
          )}
        </Table.Td>
      )}
    </Table.Tr>
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
  const revoke = useChange(list);
  const { label, hint } = apiKey;
  const name = label === null ? hint : `${label} (${hint})`;
  const close = (): void => {
    revoke.reset();
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={close}
      title={t('keys.revokeTitle')}
      action={t('keys.revoke')}
      pending={revoke.isPending}
      problem={revoke.error}
      onConfirm={() =>
        revoke.mutate(
          { method: 'POST', path: `${list}/${application.id}/keys/${apiKey.id}/revoke` },
          {
            onSuccess: () => {
              notifications.show({ message: t('keys.revokedNow', { key: name }) });
              close();
            },
          },
        )
      }
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
    </Confirm>
  );
}
