import { Anchor, Code, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { RefusedRequestView } from '../../../../src/features/refusedRequests/view.js';
import { useSession } from '../../app/session.js';
import { Id } from '../../components/copy.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { Time } from '../../components/times.js';
import { useNumbers } from '../../hooks/formats.js';

/** Refused requests, newest first. On a phone, everything about one stands in a column. */
export function RefusedRequestTable({ requests }: { requests: readonly RefusedRequestView[] }) {
  const { t } = useTranslation('refusedRequests');
  return (
    <ScrollingTable label={t('caption')} minWidth={300}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th visibleFrom="sm">{t('columns.time')}</Table.Th>
          <Table.Th>{t('columns.request')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('columns.application')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {requests.map((request) => (
          <Row key={request.requestId} request={request} />
        ))}
      </Table.Tbody>
    </ScrollingTable>
  );
}

function Row({ request }: { request: RefusedRequestView }) {
  const { t, i18n } = useTranslation('refusedRequests');
  const { apiUrl } = useSession();
  const { whole } = useNumbers();
  const { requestId, at, route, status, code, detail, fields, count, application, keyHint } = request;
  const docs = `${apiUrl}/docs/${i18n.language === 'pt-BR' ? 'pt-br/' : ''}errors#${code}`;
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td visibleFrom="sm">
        <Time at={at} seconds />
      </Table.Td>
      <Table.Td>
        <Stack gap={4}>
          <Text size="xs" c="dimmed" hiddenFrom="sm" component="div">
            <Time at={at} seconds />
          </Text>
          <Group gap="xs">
            <Code style={{ overflowWrap: 'anywhere' }}>{route}</Code>
            <Anchor href={docs} target="_blank" rel="noreferrer" size="sm" fw={550}>
              {status} {code}
            </Anchor>
          </Group>
          <Text size="sm" lang="en">
            {detail}
          </Text>
          {fields.length > 0 && (
            <Text size="sm">{t('fields', { count: fields.length, fields: fields.join(', ') })}</Text>
          )}
          {count > 1 && (
            <Text size="sm" c="dimmed">
              {t('more', { count: count - 1, more: whole(count - 1) })}
            </Text>
          )}
          <Id id={requestId} what={t('requestId')} />
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {application.name} · {keyHint ?? t('tryout')}
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm" truncate maw={200}>
          {application.name}
        </Text>
        <Text size="xs" c="dimmed" {...(keyHint !== null && { ff: 'monospace' })}>
          {keyHint ?? t('tryout')}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}
