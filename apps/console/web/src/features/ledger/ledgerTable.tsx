import { Anchor, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { LedgerEntryView } from '../../../../src/features/ledger/view.js';
import { useAccount } from '../../app/session.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';

/** The one reason that the service writes itself; operators write all others. */
const ACCOUNT_CREATED = 'account created';

/** Entries of the ledger, in the given order. */
export function LedgerTable({ entries }: { entries: readonly LedgerEntryView[] }) {
  const { t } = useTranslation('ledger');
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing="xs" aria-label={t('caption')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th visibleFrom="sm">{t('columns.at')}</Table.Th>
            <Table.Th>{t('columns.what')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('columns.bucket')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('columns.send')}</Table.Th>
            <Table.Th ta="end">{t('columns.change')}</Table.Th>
            <Table.Th ta="end">{t('columns.balance')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Row key={entry.id} entry={entry} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Row({ entry }: { entry: LedgerEntryView }) {
  const { t } = useTranslation('ledger');
  const { whole, signed } = useNumbers();
  const { at, kind, bucket, change, reason, sendId, balance } = entry;
  return (
    <Table.Tr>
      <Table.Td visibleFrom="sm">
        <Time at={at} seconds />
      </Table.Td>
      <Table.Td>
        <Text inherit>{t(`kinds.${kind}`)}</Text>
        {reason !== null && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {reason === ACCOUNT_CREATED ? t('accountCreated') : reason}
          </Text>
        )}
        <Text size="xs" c="dimmed" hiddenFrom="sm" component="div">
          <Time at={at} />
        </Text>
        {sendId !== null && (
          <Text size="xs" hiddenFrom="sm" component="div">
            <SendLink id={sendId} text={t('send')} />
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{t(`buckets.${bucket}`)}</Table.Td>
      <Table.Td visibleFrom="sm">
        {sendId !== null && (
          <Text inherit ff="monospace" component="div">
            <SendLink id={sendId} text={sendId} />
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="end" fw={550}>
        {signed(change)}
      </Table.Td>
      <Table.Td ta="end">
        {whole(balance.freeQuota + balance.credits)}
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {t('balanceOf', {
            freeQuota: whole(balance.freeQuota),
            credits: whole(balance.credits),
          })}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}

function SendLink({ id, text }: { id: string; text: string }) {
  const { path } = useAccount();
  return (
    <Anchor component={Link} to={`${path}/sends/${id}`} size="xs">
      {text}
    </Anchor>
  );
}
