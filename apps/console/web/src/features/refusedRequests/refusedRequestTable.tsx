import { Code, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { RefusedRequestView } from '../../../../src/features/refusedRequests/view.js';
import { Id } from '../../components/copy.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { Time } from '../../components/times.js';

/** Refused requests, newest first. On a phone, everything about one stands in a column. */
export function RefusedRequestTable({
  requests,
  withCode = false,
}: {
  requests: readonly RefusedRequestView[];
  /** Whether each row tells its code, where they differ. */
  withCode?: boolean;
}) {
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
          <Row key={request.requestId} request={request} withCode={withCode} />
        ))}
      </Table.Tbody>
    </ScrollingTable>
  );
}

function Row({ request, withCode }: { request: RefusedRequestView; withCode: boolean }) {
  const { t } = useTranslation('refusedRequests');
  const { requestId, at, route, status, code, detail, fields, application, keyHint } = request;
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
            {withCode && (
              <Text size="sm" fw={550} component="span">
                {status} {code}
              </Text>
            )}
          </Group>
          {detail !== null && (
            // The sentence of the answer is in English in every language of the pages.
            <Text size="sm" lang="en">
              {detail}
            </Text>
          )}
          {fields.length > 0 && (
            <Text size="sm">{t('fields', { count: fields.length, fields: fields.join(', ') })}</Text>
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
