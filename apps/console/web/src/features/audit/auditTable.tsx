import { Anchor, Group, Stack, Table, Text, useMatches } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { AuditEntryView, AuditPageView } from '../../../../src/features/audit/view.js';
import { usePages } from '../../api/queries.js';
import { useAuditTexts } from './auditTexts.js';
import { Failure, Loading, LoadMore } from '../../components/states.js';
import { Time } from '../../components/times.js';

/** Entries of the audit log, newest first, page by page. */
export function AuditTable({
  query,
  withAccount = false,
  empty,
}: {
  /** Query parameters of the list. */
  query: Readonly<Record<string, string>>;
  withAccount?: boolean;
  /** Shown when there is no entry. */
  empty: string;
}) {
  const { t } = useTranslation('audit');
  const isNarrow = useMatches({ base: true, sm: false });
  const list = usePages<AuditPageView>(`/staff/audit?${new URLSearchParams(query).toString()}`);
  if (list.error !== null) return <Failure problem={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Loading />;
  const entries = list.data.flatMap((page) => page.entries);
  if (entries.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  return (
    <Stack gap="sm">
      <Table.ScrollContainer minWidth={300}>
        <Table verticalSpacing="xs" aria-label={t('table')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={isNarrow ? 130 : 230}>{t('columns.at')}</Table.Th>
              <Table.Th>{t('columns.what')}</Table.Th>
              {!isNarrow && <Table.Th>{t('columns.change')}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {entries.map((entry) => (
              <Row key={entry.id} entry={entry} withAccount={withAccount} isNarrow={isNarrow} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <LoadMore list={list} />
    </Stack>
  );
}

/** On a phone, the changes stand below the action. */
function Row({
  entry,
  withAccount,
  isNarrow,
}: {
  entry: AuditEntryView;
  withAccount: boolean;
  isNarrow: boolean;
}) {
  const { t } = useTranslation('audit');
  const texts = useAuditTexts();
  return (
    <Table.Tr style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
      <Table.Td>
        <Time at={entry.at} seconds={!isNarrow} wraps={isNarrow} />
        <Text size="xs" c="dimmed">
          {entry.actor.kind === 'command_line' && t('commandLine', { name: entry.actor.name })}
          {entry.actor.kind === 'user' && entry.actor.name}
          {entry.actor.kind === 'nobody' && t('nobody')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm" fw={550}>
          {texts.action(entry.action)}
        </Text>
        {withAccount && entry.account !== null && (
          <Anchor component={Link} to={`/staff/accounts/${entry.account.id}`} size="sm">
            {entry.account.name ?? entry.account.id}
          </Anchor>
        )}
        {isNarrow && <Changes entry={entry} />}
      </Table.Td>
      {!isNarrow && (
        <Table.Td>
          <Changes entry={entry} />
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function Changes({ entry: { subject, changes, facts } }: { entry: AuditEntryView }) {
  const texts = useAuditTexts();
  return (
    <Stack gap={2}>
      {changes.map(({ field, before, after }) => (
        <Group key={field} gap={6} wrap="wrap">
          <Text size="sm" c="dimmed" component="span">
            {texts.field(field)}
          </Text>
          <Text size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
            {before !== undefined && `${texts.value(before, field)} → `}
            {texts.value(after, field)}
          </Text>
        </Group>
      ))}
      {facts.map(({ field, value }) => (
        <Group key={field} gap={6} wrap="wrap">
          <Text size="sm" c="dimmed" component="span">
            {texts.field(field)}
          </Text>
          <Text size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
            {texts.value(value, field)}
          </Text>
        </Group>
      ))}
      {subject !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {subject}
        </Text>
      )}
    </Stack>
  );
}
