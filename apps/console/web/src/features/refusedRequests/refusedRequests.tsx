import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type {
  RefusedCodesView,
  StaffRefusedCodesView,
} from '../../../../src/features/refusedRequests/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { EmptyState, Failure, Loading } from '../../components/states.js';
import { FindRequest } from './findRequest.js';
import { RefusedCodes } from './refusedCodes.js';
import { RefusedRequestList } from './refusedRequestList.js';
import { PERIODS, serverQuery, useRefusedRequestQuery, type Period } from './refusedRequestQuery.js';

/** The refused requests of an account: by code, with cause and remedy, or found by an id. */
export function RefusedRequests() {
  const { t } = useTranslation(['refusedRequests', 'common']);
  const { path } = useAccount();
  return (
    <Page title={t('common:nav.requests')} description={t('description')}>
      <Content account={path} />
    </Page>
  );
}

/** The same for staff, of any account. */
export function StaffRefusedRequests() {
  const { t } = useTranslation(['refusedRequests', 'common']);
  const { target } = useParams();
  const account = `/staff/accounts/${target}`;
  const { data } = useData<StaffRefusedCodesView>(`${account}/refused-requests/codes`);
  const name = data?.account.id === target ? data?.account.name : undefined;
  return (
    <Page
      title={t('common:nav.requests')}
      back={{ to: account, label: name ?? t('common:nav.account') }}
      description={t('staffDescription')}
    >
      <Content account={account} />
    </Page>
  );
}

/** @param account the path of its data, below `/api` */
function Content({ account }: { account: string }) {
  const { t } = useTranslation('refusedRequests');
  const { query, set } = useRefusedRequestQuery();
  const [search, setSearch] = useState<string | null>(null);
  const path = `${account}/refused-requests`;
  const { data, error, refetch, isPlaceholderData } = useData<RefusedCodesView>(
    `${path}/codes?${serverQuery(query)}`,
  );
  return (
    <>
      <Stack gap="sm">
        <FindRequest onFind={setSearch} />
        {search === null ? (
          <Filters applications={data?.applications ?? []} query={query} set={set} />
        ) : (
          <Alert variant="light" color="gray" icon={<IconSearch size={18} />} role="status">
            <Group justify="space-between" gap="xs">
              <Text size="sm">{t('find.shown')}</Text>
              <Button size="xs" variant="default" onClick={() => setSearch(null)}>
                {t('find.clear')}
              </Button>
            </Group>
          </Alert>
        )}
      </Stack>
      {search !== null && <RefusedRequestList path={`${path}/search`} search={{ text: search }} />}
      {search === null && error !== null && <Failure problem={error} onRetry={() => void refetch()} />}
      {search === null && data === undefined && error === null && <Loading />}
      {search === null && data !== undefined && (
        <Stack opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
          {data.codes.length === 0 && (
            <EmptyState icon={IconCircleCheck} title={t('empty.title')}>
              {t('empty.text')}
            </EmptyState>
          )}
          <RefusedCodes
            codes={data.codes}
            open={query.code}
            onOpen={(code) => set({ code })}
            path={`${path}?${serverQuery(query)}`}
          />
        </Stack>
      )}
    </>
  );
}

function Filters({
  applications,
  query,
  set,
}: ReturnType<typeof useRefusedRequestQuery> & Pick<RefusedCodesView, 'applications'>) {
  const { t } = useTranslation('refusedRequests');
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label={t('filters.label')}>
      <Select
        label={t('filters.application')}
        placeholder={t('filters.any')}
        data={applications.map(({ id, name }) => ({ value: id, label: name }))}
        value={query.application}
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
        value={query.period}
        onChange={(period) => set({ period })}
        allowDeselect={false}
        size="xs"
        w={{ base: 'calc(50% - 5px)', sm: 200 }}
      />
    </Group>
  );
}
