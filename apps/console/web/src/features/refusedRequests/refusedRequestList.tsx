import { Stack } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { RefusedRequestsView } from '../../../../src/features/refusedRequests/view.js';
import { usePages } from '../../api/queries.js';
import { EmptyState, Failure, Loading, LoadMore } from '../../components/states.js';
import { RefusedRequestTable } from './refusedRequestTable.js';

/**
 * Refused requests by pages.
 *
 * @param path below `/api`, with its query
 * @param search what to look for there. It may be an idempotency key, which must not appear in a URL
 */
export function RefusedRequestList({ path, search }: { path: string; search?: { text: string } }) {
  const { t } = useTranslation('refusedRequests');
  const isSearch = search !== undefined;
  const found = usePages<RefusedRequestsView>(path, { search });
  const { data, error, refetch, isPlaceholderData } = found;
  if (error !== null && data === undefined) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;

  const requests = data.flatMap((page) => page.requests);
  if (requests.length === 0)
    return (
      <EmptyState icon={IconSearchOff} title={t('none.title')}>
        {t(isSearch ? 'none.search' : 'none.text')}
      </EmptyState>
    );
  return (
    <Stack opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
      <RefusedRequestTable requests={requests} withCode={isSearch} />
      <LoadMore list={found} />
    </Stack>
  );
}
