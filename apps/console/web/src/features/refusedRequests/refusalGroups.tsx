import { Accordion, Anchor, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  RefusalReasonView,
  RefusedRequestsView,
} from '../../../../src/features/refusedRequests/view.js';
import { usePages } from '../../api/queries.js';
import { Loaded, LoadMore } from '../../components/states.js';
import { Ago } from '../../components/times.js';
import { useRefusalText } from './refusalText.js';
import { useDocs } from '../../hooks/docs.js';
import { useNumbers } from '../../hooks/formats.js';
import { reasonQuery, serverQuery, type RefusedRequestQuery } from './refusedRequestQuery.js';
import { DefenceLink, RefusedRequestTable } from './refusedRequestTable.js';

/** Whether the URL selects this reason, by all or some of its fields, such as its code. */
const isNamed = (reason: RefusalReasonView, { code, detail, fields }: RefusedRequestQuery): boolean =>
  reason.code === code &&
  (detail === undefined || reason.detail === detail) &&
  (fields === undefined || reason.fields.join() === fields);

/** Refused requests, grouped by reason. One group is open: the group in the URL, or else the first, which is the newest. */
export function RefusalGroups({
  path,
  reasons,
  query,
  onOpen,
}: {
  /** The path of the search, below `/api`. */
  path: string;
  reasons: readonly RefusalReasonView[];
  query: RefusedRequestQuery;
  onOpen: (reason: RefusalReasonView) => void;
}) {
  const { t } = useTranslation('refusedRequests');
  const { whole } = useNumbers();
  const [areClosed, setClosed] = useState(false);
  const open = Math.max(
    0,
    reasons.findIndex((reason) => isNamed(reason, query)),
  );
  return (
    <Accordion
      variant="contained"
      order={2}
      role="group"
      aria-label={t('reasons')}
      value={areClosed ? null : String(open)}
      onChange={(index) => {
        const opened = index === null ? undefined : reasons[Number(index)];
        setClosed(opened === undefined);
        if (opened !== undefined) onOpen(opened);
      }}
    >
      {reasons.map((reason, index) => {
        const { status, code, detail, fields, count, lastRefusedAt } = reason;
        return (
          <Accordion.Item key={[code, detail, ...fields].join()} value={String(index)}>
            <Accordion.Control>
              <Group justify="space-between" gap="xs" align="flex-start">
                <Stack gap={2} maw={640}>
                  <Headline reason={reason} />
                  <Text size="xs" c="dimmed" component="span">
                    {status} {code}
                    {fields.length > 0 &&
                      ` · ${t('fields', { count: fields.length, fields: fields.join(', ') })}`}
                  </Text>
                </Stack>
                <Text component="div" className="tabular" pr="sm" ta={{ base: 'left', sm: 'right' }}>
                  {t('times', { count, times: whole(count) })}
                  <Ago at={lastRefusedAt} />
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              {!areClosed && index === open && <OpenGroup path={path} reason={reason} query={query} />}
            </Accordion.Panel>
          </Accordion.Item>
        );
      })}
    </Accordion>
  );
}

/** The API's reason in the user's language; a translation has the English sentence of the response below it. */
function Headline({ reason }: { reason: RefusalReasonView }) {
  const { text, isTranslated } = useRefusalText()(reason);
  return (
    <>
      <Text fw={600} component="span" {...(!isTranslated && { lang: 'en' })}>
        {text}
      </Text>
      {isTranslated && (
        <Text size="xs" c="dimmed" component="span" lang="en">
          {reason.detail}
        </Text>
      )}
    </>
  );
}

function OpenGroup({
  path,
  reason,
  query,
}: {
  path: string;
  reason: RefusalReasonView;
  query: RefusedRequestQuery;
}) {
  const { t } = useTranslation('refusedRequests');
  const found = usePages<RefusedRequestsView>(path, {
    search: serverQuery({ ...query, ...reasonQuery(reason) }),
  });
  return (
    <Stack gap="xs">
      <Group gap="md">
        {reason.defence !== null && <DefenceLink defence={reason.defence} />}
        <Anchor href={useDocs()(`errors#${reason.code}`)} target="_blank" rel="noreferrer">
          {t('remedy', { code: reason.code })}
        </Anchor>
      </Group>
      <Loaded read={found}>
        {(pages) => <RefusedRequestTable requests={pages.flatMap(({ requests }) => requests)} />}
      </Loaded>
      <LoadMore list={found} />
    </Stack>
  );
}
