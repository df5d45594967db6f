import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { IconPhone, IconSearchOff, IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { SendsView } from '../../../../src/features/sends/view.js';
import { useData, usePages } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Download } from '../../components/download.js';
import { EmptyState, Failure, Loading, LoadMore } from '../../components/states.js';
import { Page } from '../../components/page.js';
import { useAccountBack } from '../accounts/accountBack.js';
import { FindSend } from './findSend.js';
import { SendFilters } from './sendFilters.js';
import { modeOf, serverQuery, useSendQuery } from './sendQuery.js';
import { SendTable } from './sendTable.js';

const REFRESH_MS = 4_000;

/** The sends of an account: filtered by the URL, or those to one phone number. */
export function Sends() {
  const { t } = useTranslation(['sends', 'common']);
  const account = useAccount();
  const filters = useSendQuery();
  const [number, setNumber] = useState<string | null>(null);
  const list = useData<{ applications: ApplicationView[] }>(`${account.path}/applications`);
  const applications = list.data?.applications;
  const mode = filters.query.mode ?? (applications && modeOf(applications));
  const query = mode && serverQuery(filters.query, mode);
  const listed = query === undefined ? null : `${account.path}/sends?${query}`;
  const found = usePages<SendsView>(number === null ? listed : `${account.path}/sends/search`, {
    search: number === null ? undefined : { recipient: number },
    refreshMs: REFRESH_MS,
  });
  const isInvalid = number !== null && found.error?.errors['recipient'] !== undefined;

  return (
    <Page
      title={t('common:nav.sends')}
      {...useAccountBack()}
      description={t('description')}
      actions={
        number === null && query !== undefined && <Download path={`${account.path}/sends.csv?${query}`} />
      }
    >
      <Stack gap="sm">
        <FindSend onNumber={setNumber} isInvalid={isInvalid} />
        {number === null ? (
          applications !== undefined &&
          mode !== undefined && <SendFilters {...filters} applications={applications} mode={mode} />
        ) : (
          <Alert variant="light" color="gray" icon={<IconPhone size={18} />} role="status">
            <Group justify="space-between" gap="xs">
              <Text>{t('find.shown')}</Text>
              <Button size="xs" variant="default" onClick={() => setNumber(null)}>
                {t('find.clear')}
              </Button>
            </Group>
          </Alert>
        )}
      </Stack>
      {list.error !== null && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {!isInvalid && (query !== undefined || number !== null || list.error === null) && (
        <SendList found={found} byNumber={number !== null} filters={filters} />
      )}
    </Page>
  );
}

function SendList({
  found,
  byNumber,
  filters,
}: {
  found: ReturnType<typeof usePages<SendsView>>;
  byNumber: boolean;
  filters: ReturnType<typeof useSendQuery>;
}) {
  const { t } = useTranslation('sends');
  const { data, error, refetch, hasNextPage, isPlaceholderData } = found;
  if (error !== null && data === undefined) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;

  // While pages are loaded, new sends shift the list, and a send can be on two pages.
  const sends = [...new Map(data.flatMap((page) => page.sends).map((send) => [send.id, send])).values()];
  if (sends.length === 0 && !byNumber && !filters.isFiltered && !hasNextPage) return <FirstSend />;
  return (
    <Stack opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
      {sends.length === 0 ? (
        <EmptyState icon={IconSearchOff} title={t('none.title')}>
          {byNumber ? t('none.number') : hasNextPage ? t('none.more') : t('none.text')}
        </EmptyState>
      ) : (
        <SendTable sends={sends} withMode={byNumber} />
      )}
      <LoadMore list={found} />
    </Stack>
  );
}

/** Links to the page that creates the first send. */
function FirstSend() {
  const { t } = useTranslation(['sends', 'start']);
  const account = useAccount();
  return (
    <EmptyState
      icon={IconSend}
      title={t('empty.title')}
      action={
        <Anchor component={Link} to={`${account.path}/start`}>
          {t('start:action')}
        </Anchor>
      }
    >
      {t('empty.text')}
    </EmptyState>
  );
}
