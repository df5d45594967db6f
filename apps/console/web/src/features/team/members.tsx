import { ActionIcon, Badge, type ComboboxItem, Group, Select, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconUserMinus } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemberView } from '../../../../src/features/team/view.js';
import { useChange } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';

/**
 * The members of an account; admins can change roles and remove members.
 *
 * @param isOnlyAdmin whether the user is the only admin, who has to stay
 */
export function Members({ members, isOnlyAdmin }: { members: readonly MemberView[]; isOnlyAdmin: boolean }) {
  const { t } = useTranslation('team');
  const { path, mayManage } = useAccount();
  const { user } = useSession();
  const [removing, setRemoving] = useState<MemberView | null>(null);
  const name = removing?.name ?? '';
  return (
    <>
      <DataTable
        label={t('members')}
        verticalSpacing="sm"
        rows={members}
        keyOf={({ id }) => id}
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
            title: t('columns.actions'),
            isTitleHidden: true,
            w: 44,
            render: (member) =>
              member.id !== user.id && (
                <RemoveIcon
                  icon={IconUserMinus}
                  action={t('remove.action')}
                  label={t('remove.label', { name: member.name })}
                  onClick={() => setRemoving(member)}
                />
              ),
          },
        ]}
      />
      <ConfirmChange
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        title={t('remove.title', { name })}
        action={t('remove.action')}
        change={{ method: 'DELETE', path: `${path}/members/${removing?.id}` }}
        stale={[`${path}/members`, `${path}/invitations`]}
        done={t('remove.done', { name })}
      >
        {t('remove.text')}
      </ConfirmChange>
    </>
  );
}

function Person({ member: { name, email }, isSelf }: { member: MemberView; isSelf: boolean }) {
  const { t } = useTranslation('team');
  return (
    <>
      <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
        {name}
        {isSelf && (
          <Text span inherit c="dimmed" fw={400}>
            {` (${t('you')})`}
          </Text>
        )}
      </Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {email}
      </Text>
    </>
  );
}

/** The button in a row that takes somebody or something away. */
export function RemoveIcon({
  icon: Icon,
  action,
  label,
  onClick,
}: {
  icon: typeof IconUserMinus;
  action: string;
  label: string;
  onClick: () => void;
}) {
  return (
    <Tooltip label={action} withArrow>
      <ActionIcon variant="subtle" color="red" aria-label={label} onClick={onClick}>
        <Icon size={18} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}

function Role({ member: { id, name, role } }: { member: MemberView }) {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const options = useRoleOptions();
  const text = useProblemText();
  const { mutate, isPending } = useChange(`${path}/members`, `${path}/invitations`, '/session');
  const change = (chosen: string): void =>
    mutate(
      { method: 'PUT', path: `${path}/members/${id}`, body: { role: chosen } },
      {
        onSuccess: () => notifications.show({ message: t('roleChanged', { name }) }),
        onError: (problem) => notifications.show({ color: 'red', message: text(problem) }),
      },
    );
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
export function useRoleOptions(): {
  data: ComboboxItem[];
  allowDeselect: false;
  comboboxProps: { width: number; position: 'bottom-start' };
  renderOption: (item: { option: ComboboxItem }) => ReactNode;
} {
  const { t } = useTranslation('team');
  return {
    data: ROLES.map((value) => ({ value, label: t(`roles.${value}`) })),
    allowDeselect: false,
    comboboxProps: { width: 280, position: 'bottom-start' },
    renderOption: ({ option }) => (
      <div>
        <Text size="sm">{option.label}</Text>
        <Text size="xs" c="dimmed">
          {t(`roleTexts.${option.value as RoleName}`)}
        </Text>
      </div>
    ),
  };
}
