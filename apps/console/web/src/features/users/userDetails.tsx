import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { UserDetailsView } from '../../../../src/features/users/view.js';
import { useData } from '../../api/queries.js';
import { useMayOperate, useSession } from '../../app/session.js';
import { ReadOnlyBadge } from '../../components/badges.js';
import { Id } from '../../components/copy.js';
import { Fact } from '../../components/facts.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useNumbers } from '../../hooks/formats.js';
import { UserActions } from './userActions.js';
import { UserBadges } from './users.js';

/** A user for staff: their accounts, their sign-in methods, and the actions of operators. */
export function UserDetails() {
  const { t } = useTranslation(['users', 'common']);
  const { user: id } = useParams();
  const read = useData<UserDetailsView>(`/staff/users/${id}`);
  // While another user loads, the query still holds the previous one.
  const user = read.data?.id === id ? read.data : undefined;
  return (
    <Page
      title={user?.name ?? t('columns.user')}
      back={{ to: '/staff/users', label: t('back') }}
      facts={
        user && (
          <>
            <UserBadges user={user} />
            <Id id={user.id} what={t('id')} />
            <Text c="dimmed">
              {t('columns.created')} <Time at={user.createdAt} />
            </Text>
          </>
        )
      }
      actions={<ReadOnlyBadge />}
    >
      <Loaded read={{ ...read, data: user }}>{(shown) => <Details user={shown} />}</Loaded>
    </Page>
  );
}

function Details({ user }: { user: UserDetailsView }) {
  const { t } = useTranslation(['users', 'team', 'common']);
  const { whole } = useNumbers();
  const mayOperate = useMayOperate();
  const isSelf = useSession().user.id === user.id;
  return (
    <>
      <Section title={t('common:nav.accounts')}>
        {user.memberships.length === 0 && <Text c="dimmed">{t('noAccounts')}</Text>}
        <Stack gap={4}>
          {user.memberships.map(({ accountId, accountName, role }) => (
            <Group key={accountId} justify="space-between">
              <Anchor component={Link} to={`/staff/accounts/${accountId}`}>
                {accountName}
              </Anchor>
              <Text c="dimmed">{t(`team:roles.${role}`)}</Text>
            </Group>
          ))}
        </Stack>
      </Section>
      <Section title={t('signIn')}>
        <SimpleGrid cols={{ base: 1, sm: 4 }} component="dl" m={0}>
          <Fact label={t('common:words.email')}>{user.email}</Fact>
          <Fact label={t('team:columns.twoFactor')}>{t(user.hasTwoFactor ? 'team:on' : 'team:off')}</Fact>
          <Fact label={t('sessions')}>{whole(user.sessions)}</Fact>
          <Fact label={t('common:words.lastUsed')}>
            {user.lastUsedAt === null ? '–' : <Time at={user.lastUsedAt} />}
          </Fact>
        </SimpleGrid>
        {mayOperate &&
          (isSelf ? (
            <Anchor component={Link} to="/profile" underline="always">
              {t('self')}
            </Anchor>
          ) : (
            <UserActions user={user} />
          ))}
      </Section>
    </>
  );
}
