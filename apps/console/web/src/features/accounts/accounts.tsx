import { Anchor, SimpleGrid, Stack, Table, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconBuilding, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { StaffAccountsView, StaffAccountView } from '../../../../src/features/accounts/view.js';
import { usePages } from '../../api/queries.js';
import { EmptyState, Failure, Loading, LoadMore } from '../../components/states.js';
import { useNumbers } from '../../hooks/formats.js';
import { Page } from '../../components/page.js';
import { Time } from '../../components/times.js';
import { AccountBadge } from '../../components/badges.js';
import { FindStaffSend } from '../sends/findSend.js';

const DEBOUNCE_MS = 250;

/** All accounts, newest first, with the search in the URL. */
export function Accounts() {
  const { t } = useTranslation('accounts');
  const [search, setSearch] = useSearchParams();
  const [typed, setTyped] = useState(search.get('text') ?? '');
  const [text] = useDebouncedValue(typed.trim(), DEBOUNCE_MS);
  const list = usePages<StaffAccountsView>(`/staff/accounts?text=${encodeURIComponent(text)}`);
  const accounts = list.data?.flatMap((page) => page.accounts) ?? [];
  return (
    <Page title={t('list.title')} description={t('list.description')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label={t('list.search')}
          leftSection={<IconSearch size={16} />}
          maxLength={200}
          value={typed}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
            // Not debounced: a late update of the URL would undo a click on a result.
            setSearch(value.trim() === '' ? {} : { text: value.trim() }, { replace: true });
          }}
        />
        <FindStaffSend />
      </SimpleGrid>
      {list.error !== null && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined && list.error === null && <Loading />}
      {list.data !== undefined && accounts.length === 0 && (
        <EmptyState icon={IconBuilding} title={t(text === '' ? 'list.none.title' : 'list.notFound.title')}>
          {t(text === '' ? 'list.none.text' : 'list.notFound.text')}
        </EmptyState>
      )}
      {accounts.length > 0 && (
        <Stack>
          <AccountTable accounts={accounts} />
          <LoadMore list={list} />
        </Stack>
      )}
    </Page>
  );
}

function AccountTable({ accounts }: { accounts: readonly StaffAccountView[] }) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  return (
    <Table.ScrollContainer minWidth={300}>
      <Table highlightOnHover verticalSpacing="xs" aria-label={t('list.title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('list.columns.name')}</Table.Th>
            <Table.Th>{t('list.columns.state')}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('list.columns.freeQuota')}
            </Table.Th>
            <Table.Th ta="right">{t('list.columns.credits')}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('list.columns.sends')}
            </Table.Th>
            <Table.Th visibleFrom="sm" pl="xl">
              {t('list.columns.created')}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {accounts.map((account) => (
            <Table.Tr key={account.id}>
              <Table.Td maw={320} style={{ overflowWrap: 'anywhere' }}>
                <Anchor component={Link} to={`/staff/accounts/${account.id}`} size="sm" fw={550}>
                  {account.name}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <AccountBadge account={account} />
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {whole(account.freeQuota)}
              </Table.Td>
              <Table.Td ta="right">{whole(account.credits)}</Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {whole(account.sendsCreated)}
              </Table.Td>
              <Table.Td visibleFrom="sm" pl="xl">
                <Time at={account.createdAt} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
