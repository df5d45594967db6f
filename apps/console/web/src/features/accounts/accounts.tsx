import { Anchor, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconBuilding, IconSearch } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { StaffAccountsView, StaffAccountView } from '../../../../src/features/accounts/view.js';
import { usePages } from '../../api/queries.js';
import { EmptyState, Loaded, LoadMore } from '../../components/states.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { useNumbers } from '../../hooks/formats.js';
import { Page } from '../../components/page.js';
import { Time } from '../../components/times.js';
import { AccountBadge } from '../../components/badges.js';

const DEBOUNCE_MS = 250;

/** All accounts, newest first, with the search in the URL. */
export function Accounts() {
  const { t } = useTranslation(['accounts', 'common']);
  const [search, setSearch] = useSearchParams();
  const [typed, setTyped] = useState(search.get('text') ?? '');
  const [text] = useDebouncedValue(typed.trim(), DEBOUNCE_MS);
  const list = usePages<StaffAccountsView>(`/staff/accounts?text=${encodeURIComponent(text)}`);
  return (
    <Page title={t('common:nav.accounts')}>
      <TextInput
        label={t('list.search')}
        leftSection={<IconSearch size={16} />}
        maw={420}
        maxLength={200}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          // Not debounced: a late update of the URL would undo a click on a result.
          setSearch(value.trim() === '' ? {} : { text: value.trim() }, { replace: true });
        }}
      />
      <Loaded read={list}>
        {(pages) => {
          const accounts = pages.flatMap((page) => page.accounts);
          const nothing = text === '' ? 'none' : 'notFound';
          return accounts.length === 0 ? (
            <EmptyState icon={IconBuilding} title={t(`list.${nothing}.title`)}>
              {t(`list.${nothing}.text`)}
            </EmptyState>
          ) : (
            <Stack>
              <AccountTable accounts={accounts} />
              <LoadMore list={list} />
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function AccountTable({ accounts }: { accounts: readonly StaffAccountView[] }) {
  const { t } = useTranslation(['accounts', 'common']);
  const { whole } = useNumbers();
  const columns = useMemo<(Column<StaffAccountView> | false)[]>(
    () => [
      {
        title: t('common:words.account'),
        maw: 320,
        breaksWords: true,
        render: ({ id, name }) => (
          <Anchor component={Link} to={`/staff/accounts/${id}`} fw={550}>
            {name}
          </Anchor>
        ),
      },
      { title: t('common:words.status'), render: (account) => <AccountBadge account={account} /> },
      {
        title: t('list.columns.freeQuota'),
        ta: 'right',
        visibleFrom: 'sm',
        render: ({ freeQuota }) => whole(freeQuota),
      },
      { title: t('list.columns.credits'), ta: 'right', render: ({ credits }) => whole(credits) },
      {
        title: t('common:nav.sends'),
        ta: 'right',
        visibleFrom: 'sm',
        render: ({ sendsCreated }) => whole(sendsCreated),
      },
      {
        title: t('common:words.created'),
        visibleFrom: 'sm',
        pl: 'xl',
        render: ({ createdAt }) => <Time at={createdAt} />,
      },
    ],
    [t, whole],
  );
  return (
    <DataTable
      label={t('common:nav.accounts')}
      minWidth={300}
      highlightOnHover
      rows={accounts}
      getRowKey={({ id }) => id}
      columns={columns}
    />
  );
}
