import { Badge, Box, Button, Code, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { KeyView } from '../../../../src/features/applications/view.js';
import { Ago, Time } from '../../components/times.js';

/** Keys, newest first, those in use before those that were revoked. `onRevoke` is null for who may not. */
export function KeyTable({
  keys,
  onRevoke,
}: {
  keys: readonly KeyView[];
  onRevoke: ((key: KeyView) => void) | null;
}) {
  const { t } = useTranslation('account');
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
  const { t } = useTranslation('account');
  const { hint, label, createdAt, lastUsedAt, revokedAt } = apiKey;
  const isRevoked = revokedAt !== null;
  const grey = isRevoked ? { c: 'dimmed' } : {};
  const state = (
    <Badge color={isRevoked ? 'gray' : 'green'}>{t(isRevoked ? 'keys.revoked' : 'keys.inUse')}</Badge>
  );
  return (
    <Table.Tr {...grey}>
      <Table.Td maw={280}>
        <Text size="sm" fw={isRevoked ? 400 : 550} style={{ overflowWrap: 'anywhere' }}>
          {label ?? t('keys.noLabel')}
        </Text>
        <Code {...grey}>{hint}</Code>
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
