import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconSearch, IconSearchOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { RefusedRequestsView } from '../../../../src/features/refusedRequests/view.js';
import { useData, usePages } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { SearchForm } from '../../components/searchForm.js';
import { EmptyState, Failure, Loading, LoadMore } from '../../components/states.js';
import { RefusalReasons } from './refusalReasons.js';
import {
  isPeriod,
  PERIODS,
  reasonQuery,
  serverQuery,
  useRefusedRequestQuery,
  type Period,
} from './refusedRequestQuery.js';
import { RefusedRequestTable } from './refusedRequestTable.js';

/** The bytes of the longest idempotency key; a text has as many characters at the most. */
const TEXT_LENGTH_MAX = 255;

type Applications = readonly Pick<ApplicationView, 'id' | 'name'>[];

/** The refused requests of an account: by what the API said, by application and time, or found by an id. */
export function RefusedRequests() {
  const { t } = useTranslation(['refusedRequests', 'common']);
  const { path } = useAccount();
  const { data } = useData<{ applications: ApplicationView[] }>(`${path}/applications`);
  return (
    <Page title={t('common:nav.requests')} description={t('description')}>
      <List path={path} applications={data?.applications ?? []} />
    </Page>
  );
}

/** The same for staff, of any account. */
export function StaffRefusedRequests() {
  const { t } = useTranslation(['refusedRequests', 'common']);
  const { target } = useParams();
  const path = `/staff/accounts/${target}`;
  const { data } = useData<StaffAccountDetailsView>(path);
  const account = data?.id === target ? data : undefined;
  return (
    <Page
      title={t('common:nav.requests')}
      back={{ to: path, label: account?.name ?? t('common:nav.account') }}
      description={t('staffDescription')}
    >
      <List path={path} applications={account?.applications ?? []} />
    </Page>
  );
}

interface ListProps {
  /** Of the account, below `/api`. */
  path: string;
  applications: Applications;
}

/** Begins with the request whose id the URL holds, if it does. */
function List(props: ListProps) {
  const request = useSearchParams()[0].get('request');
  return <FoundList key={request} request={request} {...props} />;
}

function FoundList({ path, applications, request }: ListProps & { request: string | null }) {
  const { t } = useTranslation('refusedRequests');
  const { query, set } = useRefusedRequestQuery();
  const [text, setText] = useState(request);
  const found = usePages<RefusedRequestsView>(`${path}/refused-requests/search`, {
    search: text === null ? serverQuery(query) : { text },
  });
  const { data, error, refetch, isPlaceholderData } = found;
  const requests = data?.flatMap((page) => page.requests) ?? [];
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
              <Text size="sm">{t('find.shown')}</Text>
              <Button size="xs" variant="default" onClick={() => setText(null)}>
                {t('find.clear')}
              </Button>
            </Group>
          </Alert>
        )}
      </Stack>
      {error !== null && data === undefined && <Failure problem={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading />}
      {data !== undefined && (
        <Stack opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
          {text === null && (data[0]?.reasons.length ?? 0) > 0 && (
            <RefusalReasons
              reasons={data[0]?.reasons ?? []}
              chosen={query}
              onChoose={(reason) => set(reasonQuery(reason))}
            />
          )}
          {requests.length > 0 && <RefusedRequestTable requests={requests} />}
          {requests.length === 0 && (
            <EmptyState icon={text === null ? IconCircleCheck : IconSearchOff} title={t('none.title')}>
              {t(text === null ? 'none.text' : 'none.search')}
            </EmptyState>
          )}
          <LoadMore list={found} />
        </Stack>
      )}
    </>
  );
}

function Filters({
  applications,
  query,
  set,
}: ReturnType<typeof useRefusedRequestQuery> & { applications: Applications }) {
  const { t } = useTranslation('refusedRequests');
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label={t('filters.label')}>
      <Select
        label={t('filters.application')}
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
        label={t('filters.period')}
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
      {query.code !== undefined && (
        <Button variant="subtle" size="xs" onClick={() => set(reasonQuery(null))}>
          {t('filters.clear')}
        </Button>
      )}
    </Group>
  );
}
