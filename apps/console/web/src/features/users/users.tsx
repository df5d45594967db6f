import { Anchor, Badge, Group, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch, IconUserCog } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { UsersView, UserView } from '../../../../src/features/users/view.js';
import { usePages } from '../../api/queries.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded, LoadMore } from '../../components/states.js';
import { Time } from '../../components/times.js';

const DEBOUNCE_MS = 250;

/** All users who can sign in, newest first, with the search in the URL. */
export function Users() {
  const { t } = useTranslation(['users', 'common']);
  const [search, setSearch] = useSearchParams();
  const [typed, setTyped] = useState(search.get('text') ?? '');
  const [text] = useDebouncedValue(typed.trim(), DEBOUNCE_MS);
  const list = usePages<UsersView>(`/staff/users?text=${encodeURIComponent(text)}`);
  return (
    <Page title={t('common:nav.users')}>
      <TextInput
        label={t('search')}
        leftSection={<IconSearch size={16} />}
        maw={420}
        maxLength={200}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          setSearch(value.trim() === '' ? {} : { text: value.trim() }, { replace: true });
        }}
      />
      <Loaded read={list}>
        {(pages) => {
          const users = pages.flatMap((page) => page.users);
          return users.length === 0 ? (
            <EmptyState icon={IconUserCog} title={t('none.title')}>
              {t('none.text')}
            </EmptyState>
          ) : (
            <Stack>
              <UserTable users={users} />
              <LoadMore list={list} />
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function UserTable({ users }: { users: readonly UserView[] }) {
  const { t } = useTranslation(['users', 'team', 'common']);
  const columns = useMemo<Column<UserView>[]>(
    () => [
      {
        title: t('columns.user'),
        maw: 320,
        breaksWords: true,
        render: ({ id, name, email }) => (
          <>
            <Anchor component={Link} to={`/staff/users/${id}`} fw={550}>
              {name}
            </Anchor>
            <Small>{email}</Small>
          </>
        ),
      },
      {
        title: t('columns.role'),
        render: (user) => <UserBadges user={user} />,
      },
      {
        title: t('team:columns.twoFactor'),
        visibleFrom: 'sm',
        render: ({ hasTwoFactor }) => t(hasTwoFactor ? 'team:on' : 'team:off'),
      },
      {
        title: t('columns.created'),
        visibleFrom: 'sm',
        render: ({ createdAt }) => <Time at={createdAt} />,
      },
    ],
    [t],
  );
  return (
    <DataTable
      label={t('common:nav.users')}
      minWidth={300}
      highlightOnHover
      rows={users}
      getRowKey={({ id }) => id}
      columns={columns}
    />
  );
}

/** The staff role of a user, and whether their address is unconfirmed. */
export function UserBadges({ user: { staff, isConfirmed } }: { user: UserView }) {
  const { t } = useTranslation('users');
  return (
    <Group gap={4}>
      {staff !== null && <Badge>{t(`staff.${staff}`)}</Badge>}
      {!isConfirmed && <Badge color="orange">{t('unconfirmed')}</Badge>}
    </Group>
  );
}
