import { Anchor, Code, Group, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { RefusedRequestView } from '../../../../src/features/refusedRequests/view.js';
import { useAccount } from '../../app/session.js';
import { Id } from '../../components/copy.js';
import { Small } from '../../components/facts.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { Time } from '../../components/times.js';
import { useRefusalText } from './refusalText.js';
import { useDocs } from '../../hooks/docs.js';
import { useNumbers } from '../../hooks/formats.js';

const onTop = () => ({ style: { verticalAlign: 'top' } });

/**
 * Refused requests, newest first. On a phone, each request is one column.
 *
 * @param withReason whether each row shows the reason; groups show it above their rows
 */
export function RefusedRequestTable({
  requests,
  withReason = false,
}: {
  requests: readonly RefusedRequestView[];
  withReason?: boolean;
}) {
  const { t } = useTranslation(['refusedRequests', 'sends', 'common']);
  const { whole } = useNumbers();
  const columns = useMemo<(Column<RefusedRequestView> | false)[]>(
    () => [
      { title: t('common:words.time'), visibleFrom: 'sm', render: ({ at }) => <Time at={at} seconds /> },
      {
        title: t('common:words.request'),
        render: (request) => (
          <Stack gap={4}>
            <Small hiddenFrom="sm">
              <Time at={request.at} seconds />
            </Small>
            <Code w="fit-content" className="breaks-words">
              {request.route}
            </Code>
            {withReason && <Reason request={request} />}
            {request.count > 1 && (
              <Text c="dimmed">
                {t('more', { count: request.count - 1, more: whole(request.count - 1) })}
              </Text>
            )}
            <Id id={request.requestId} what={t('sends:timeline.request')} />
            <Small hiddenFrom="sm">
              {request.application.name} · {request.keyHint ?? t('tryout')}
            </Small>
          </Stack>
        ),
      },
      {
        title: t('columns.application'),
        visibleFrom: 'sm',
        render: ({ application, keyHint }) => (
          <>
            <Text truncate maw={200}>
              {application.name}
            </Text>
            <Small {...(keyHint !== null && { ff: 'monospace' })}>{keyHint ?? t('tryout')}</Small>
          </>
        ),
      },
    ],
    [t, whole, withReason],
  );
  return (
    <DataTable
      label={t('caption')}
      minWidth={280}
      rows={requests}
      getRowKey={({ requestId }) => requestId}
      propsOf={onTop}
      columns={columns}
    />
  );
}

function Reason({ request }: { request: RefusedRequestView }) {
  const { status, code, fields, defence } = request;
  const { t } = useTranslation('refusedRequests');
  const { text, isTranslated } = useRefusalText()(request);
  return (
    <>
      <Group gap="xs">
        <Anchor href={useDocs()(`errors#${code}`)} target="_blank" rel="noreferrer" fw={550}>
          {status} {code}
        </Anchor>
        <Text {...(!isTranslated && { lang: 'en' })}>{text}</Text>
      </Group>
      {defence !== null && <DefenceLink defence={defence} />}
      {fields.length > 0 && <Text>{t('fields', { count: fields.length, fields: fields.join(', ') })}</Text>}
    </>
  );
}

/** Names the protection of the account that refused a request, and links to its setting. */
export function DefenceLink({ defence }: { defence: NonNullable<RefusedRequestView['defence']> }) {
  const { t } = useTranslation('refusedRequests');
  const { path, isForStaff } = useAccount();
  return (
    <Anchor component={Link} to={`${isForStaff ? path : `${path}/protection`}#${defence}`} fw={600}>
      {t(`defences.${defence}`)}
    </Anchor>
  );
}
