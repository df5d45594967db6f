import { Anchor, Code, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { RefusedRequestView } from '../../../../src/features/refusedRequests/view.js';
import { Id } from '../../components/copy.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { Time } from '../../components/times.js';
import { useNumbers } from '../../hooks/formats.js';
import { DefenceLink, useErrorPage } from './refusalGroups.js';

/**
 * Refused requests, newest first. On a phone, everything about one stands in a column.
 *
 * @param withReason whether each says what the API said: those of a group have it above them
 */
export function RefusedRequestTable({
  requests,
  withReason = false,
}: {
  requests: readonly RefusedRequestView[];
  withReason?: boolean;
}) {
  const { t } = useTranslation('refusedRequests');
  return (
    <ScrollingTable label={t('caption')} minWidth={280}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th visibleFrom="sm">{t('columns.time')}</Table.Th>
          <Table.Th>{t('columns.request')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('columns.application')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {requests.map((request) => (
          <Row key={request.requestId} request={request} withReason={withReason} />
        ))}
      </Table.Tbody>
    </ScrollingTable>
  );
}

function Row({ request, withReason }: { request: RefusedRequestView; withReason: boolean }) {
  const { t } = useTranslation('refusedRequests');
  const { whole } = useNumbers();
  const { requestId, at, route, count, application, keyHint } = request;
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
          <Code w="fit-content" style={{ overflowWrap: 'anywhere' }}>
            {route}
          </Code>
          {withReason && <Reason request={request} />}
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

function Reason({ request: { status, code, detail, fields, defence } }: { request: RefusedRequestView }) {
  const { t } = useTranslation('refusedRequests');
  return (
    <>
      <Group gap="xs">
        <Anchor href={useErrorPage()(code)} target="_blank" rel="noreferrer" size="sm" fw={550}>
          {status} {code}
        </Anchor>
        <Text size="sm" lang="en">
          {detail}
        </Text>
      </Group>
      {defence !== null && <DefenceLink defence={defence} />}
      {fields.length > 0 && (
        <Text size="sm">{t('fields', { count: fields.length, fields: fields.join(', ') })}</Text>
      )}
    </>
  );
}
