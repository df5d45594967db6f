import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconSearch, IconSearchOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { RefusedRequestsView } from '../../../../src/features/refusedRequests/view.js';
import { useAside, usePages } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Download } from '../../components/download.js';
import { Page } from '../../components/page.js';
import { SearchForm } from '../../components/searchForm.js';
import { EmptyState, Loaded, LoadMore } from '../../components/states.js';
import { useAccountBack } from '../accounts/accountBack.js';
import { RefusalGroups } from './refusalGroups.js';
import {
  downloadQuery,
  isPeriod,
  PERIODS,
  reasonQuery,
  serverQuery,
  useRefusedRequestQuery,
  type Period,
} from './refusedRequestQuery.js';
import { RefusedRequestTable } from './refusedRequestTable.js';

/** The bytes of the longest idempotency key; a text has at most as many characters. */
const TEXT_LENGTH_MAX = 255;

type Applications = readonly Pick<ApplicationView, 'id' | 'name'>[];

/** The refused requests of an account: by reason, by application and time, or found by an id. */
export function RefusedRequests() {
  const { t } = useTranslation(['refusedRequests', 'common']);
  const { path, isForStaff } = useAccount();
  const { query } = useRefusedRequestQuery();
  const request = useSearchParams()[0].get('request');
  const data = useAside<{ applications: ApplicationView[] }>(`${path}/applications`);
  return (
    <Page
      title={t('common:nav.requests')}
      {...useAccountBack()}
      description={t(isForStaff ? 'staffDescription' : 'description')}
      actions={<Download path={`${path}/refused-requests.csv?${downloadQuery(query)}`} />}
    >
      <FoundList key={request} request={request} path={path} applications={data?.applications ?? []} />
    </Page>
  );
}

/** Starts with the search for the request id in the URL, if there is one. */
function FoundList({
  path,
  applications,
  request,
}: {
  /** Of the account, below `/api`. */
  path: string;
  applications: Applications;
  request: string | null;
}) {
  const { t } = useTranslation('refusedRequests');
  const { query, set } = useRefusedRequestQuery();
  const [text, setText] = useState(request);
  const search = `${path}/refused-requests/search`;
  return (
    <>
      <Stack gap="sm">
        <SearchForm
          texts={{
            label: t('find.label'),
            placeholder: t('find.placeholder'),
            button: t('find.button'),
            invalid: t('find.invalid', { max: TEXT_LENGTH_MAX }),
          }}
          isValid={(wanted) => wanted !== '' && wanted.length <= TEXT_LENGTH_MAX}
          onSearch={setText}
        />
        {text === null ? (
          <Filters applications={applications} query={query} set={set} />
        ) : (
          <Alert variant="light" color="gray" icon={<IconSearch size={18} />} role="status">
            <Group justify="space-between" gap="xs">
              <Text>{t('find.shown')}</Text>
              <Button size="xs" variant="default" onClick={() => setText(null)}>
                {t('find.clear')}
              </Button>
            </Group>
          </Alert>
        )}
      </Stack>
      {text === null ? <Groups path={search} query={query} set={set} /> : <Found path={search} text={text} />}
    </>
  );
}

/** The requests that match the filters of application and time. */
function Groups({ path, query, set }: { path: string } & ReturnType<typeof useRefusedRequestQuery>) {
  const { t } = useTranslation('refusedRequests');
  const { application, period } = query;
  const read = usePages<RefusedRequestsView>(path, {
    search: serverQuery({
      ...(application !== undefined && { application }),
      ...(period !== undefined && { period }),
    }),
  });
  return (
    <Loaded read={read}>
      {([first]) =>
        first === undefined || first.reasons.length === 0 ? (
          <EmptyState icon={IconCircleCheck} title={t('none.title')}>
            {t('none.text')}
          </EmptyState>
        ) : (
          <div aria-busy={read.isPlaceholderData}>
            <RefusalGroups
              path={path}
              reasons={first.reasons}
              query={query}
              onOpen={(reason) => set(reasonQuery(reason))}
            />
          </div>
        )
      }
    </Loaded>
  );
}

/** The requests with a request id or an idempotency key. */
function Found({ path, text }: { path: string; text: string }) {
  const { t } = useTranslation('refusedRequests');
  const found = usePages<RefusedRequestsView>(path, { search: { text } });
  const { isPlaceholderData } = found;
  return (
    <Loaded read={found}>
      {(pages) => {
        const requests = pages.flatMap((page) => page.requests);
        return (
          <Stack opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
            {requests.length > 0 ? (
              <RefusedRequestTable requests={requests} withReason />
            ) : (
              <EmptyState icon={IconSearchOff} title={t('none.title')}>
                {t('none.search')}
              </EmptyState>
            )}
            <LoadMore list={found} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Filters({
  applications,
  query,
  set,
}: ReturnType<typeof useRefusedRequestQuery> & { applications: Applications }) {
  const { t } = useTranslation(['refusedRequests', 'common']);
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label={t('common:filters')}>
      <Select
        label={t('common:words.application')}
        placeholder={t('filters.any')}
        data={applications.map(({ id, name }) => ({ value: id, label: name }))}
        value={query.application ?? null}
        onChange={(application) => set({ application })}
        clearable
        searchable
        size="xs"
        w={{ base: 'calc(50% - 5px)', sm: 200 }}
      />
      <Select
        label={t('common:words.period')}
        data={(Object.keys(PERIODS) as Period[]).map((value) => ({
          value,
          label: t(`filters.periods.${value}`),
        }))}
        value={isPeriod(query.period) ? query.period : 'all'}
        onChange={(period) => set({ period })}
        allowDeselect={false}
        size="xs"
        w={{ base: 'calc(50% - 5px)', sm: 200 }}
      />
    </Group>
  );
}
