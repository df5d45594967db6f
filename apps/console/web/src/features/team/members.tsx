import { Badge, type ComboboxItem, Group, Select, Text } from '@mantine/core';
import { IconUserMinus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { MemberView } from '../../../../src/features/team/view.js';
import { useAccount, useSession } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Small } from '../../components/facts.js';
import { DataTable } from '../../components/dataTable.js';
import { useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { put, remove, useChange } from '../../hooks/change.js';

/**
 * The members of an account; admins can change roles and remove members.
 *
 * @param isOnlyAdmin whether the user is the only admin, who has to stay
 */
export function Members({ members, isOnlyAdmin }: { members: readonly MemberView[]; isOnlyAdmin: boolean }) {
  const { t } = useTranslation(['team', 'common']);
  const { path, mayManage } = useAccount();
  const { user } = useSession();
  return (
    <DataTable
      label={t('members')}
      verticalSpacing="sm"
      rows={members}
      getRowKey={({ id }) => id}
      columns={[
        {
          title: t('columns.person'),
          maw: 280,
          render: (member) => <Person member={member} isSelf={member.id === user.id} />,
        },
        {
          title: t('columns.role'),
          render: (member) =>
            mayManage && !(isOnlyAdmin && member.id === user.id) ? (
              <Role member={member} />
            ) : (
              t(`roles.${member.role}`)
            ),
        },
        {
          title: t('columns.twoFactor'),
          visibleFrom: 'sm',
          render: ({ hasTwoFactor }) => (
            <Badge color={hasTwoFactor ? 'teal' : 'gray'}>{t(hasTwoFactor ? 'on' : 'off')}</Badge>
          ),
        },
        { title: t('columns.joined'), visibleFrom: 'md', render: ({ joinedAt }) => <Time at={joinedAt} /> },
        mayManage && {
          title: t('common:actions'),
          isTitleHidden: true,
          w: 44,
          render: ({ id, name }) =>
            id !== user.id && (
              <ChangeButton
                icon={IconUserMinus}
                label={t('common:words.removeNamed', { name })}
                title={t('remove.title', { name })}
                action={t('common:words.remove')}
                change={remove(`${path}/members/${id}`)}
                stale={[`${path}/members`, `${path}/invitations`]}
                done={t('remove.done', { name })}
              >
                {t('remove.text')}
              </ChangeButton>
            ),
        },
      ]}
    />
  );
}

function Person({ member: { name, email }, isSelf }: { member: MemberView; isSelf: boolean }) {
  const { t } = useTranslation('team');
  return (
    <>
      <Text fw={550} className="breaks-words">
        {name}
        {isSelf && (
          <Text span inherit c="dimmed" fw={400}>
            {` (${t('you')})`}
          </Text>
        )}
      </Text>
      <Small className="breaks-words">{email}</Small>
    </>
  );
}

function Role({ member: { id, name, role } }: { member: MemberView }) {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const options = useRoleOptions();
  const { mutate, isPending } = useChange([`${path}/members`, `${path}/invitations`, '/session'], {
    done: t('roleChanged', { name }),
    failed: useProblemText(),
  });
  const change = (chosen: string): void => mutate(put(`${path}/members/${id}`, { role: chosen }));
  return (
    <Group gap={4} wrap="nowrap">
      <Select
        {...options}
        aria-label={t('roleOf', { name })}
        value={role}
        onChange={(chosen) => chosen !== null && chosen !== role && change(chosen)}
        disabled={isPending}
        size="xs"
        w={{ base: 128, sm: 150 }}
      />
    </Group>
  );
}

const ROLES = ['admin', 'developer', 'viewer'] as const;
type RoleName = (typeof ROLES)[number];

/** The props of a role `Select`: the roles, each with a description. */
export function useRoleOptions() {
  const { t } = useTranslation('team');
  return {
    data: ROLES.map((value) => ({ value, label: t(`roles.${value}`) })),
    allowDeselect: false,
    comboboxProps: { width: 280, position: 'bottom-start' as const },
    renderOption: ({ option }: { option: ComboboxItem }) => (
      <div>
        <Text>{option.label}</Text>
        <Small>{t(`roleTexts.${option.value as RoleName}`)}</Small>
      </div>
    ),
  };
}
