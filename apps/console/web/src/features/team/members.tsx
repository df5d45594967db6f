import { ActionIcon, Badge, type ComboboxItem, Group, Select, Table, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconUserMinus } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemberView } from '../../../../src/features/team/view.js';
import { useChange } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { Confirm } from '../../components/dialog.js';
import { useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';

/** The members of an account; admins can change roles and remove members. */
export function Members({ members }: { members: readonly MemberView[] }) {
  const { t } = useTranslation('team');
  const { mayManage } = useAccount();
  const [removing, setRemoving] = useState<MemberView | null>(null);
  return (
    <>
      <Table.ScrollContainer minWidth={320}>
        <Table verticalSpacing="sm" aria-label={t('members')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('columns.person')}</Table.Th>
              <Table.Th>{t('columns.role')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('columns.twoFactor')}</Table.Th>
              <Table.Th visibleFrom="md">{t('columns.joined')}</Table.Th>
              {mayManage && <Table.Th w={44} aria-label={t('columns.actions')} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map((member) => (
              <Row key={member.id} member={member} onRemove={() => setRemoving(member)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Remove member={removing} onClose={() => setRemoving(null)} />
    </>
  );
}

function Row({ member, onRemove }: { member: MemberView; onRemove: () => void }) {
  const { t } = useTranslation('team');
  const { mayManage } = useAccount();
  const { user } = useSession();
  const isSelf = member.id === user.id;
  return (
    <Table.Tr>
      <Table.Td maw={280}>
        <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
          {member.name}
          {isSelf && (
            <Text span inherit c="dimmed" fw={400}>
              {` (${t('you')})`}
            </Text>
          )}
        </Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {member.email}
        </Text>
      </Table.Td>
      <Table.Td>{mayManage ? <Role member={member} /> : t(`roles.${member.role}`)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Badge color={member.hasTwoFactor ? 'teal' : 'gray'}>{t(member.hasTwoFactor ? 'on' : 'off')}</Badge>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Time at={member.joinedAt} />
      </Table.Td>
      {mayManage && (
        <Table.Td>
          {!isSelf && (
            <Tooltip label={t('remove.action')} withArrow>
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={t('remove.label', { name: member.name })}
                onClick={onRemove}
              >
                <IconUserMinus size={18} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          )}
        </Table.Td>
      )}
    </Table.Tr>
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

function Remove({ member, onClose }: { member: MemberView | null; onClose: () => void }) {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const { mutate, isPending, error, reset } = useChange(`${path}/members`, `${path}/invitations`);
  const name = member?.name ?? '';
  const close = (): void => {
    reset();
    onClose();
  };
  return (
    <Confirm
      opened={member !== null}
      onClose={close}
      title={t('remove.title', { name })}
      action={t('remove.action')}
      pending={isPending}
      problem={error}
      onConfirm={() =>
        mutate(
          { method: 'DELETE', path: `${path}/members/${member?.id ?? ''}` },
          {
            onSuccess: () => {
              close();
              notifications.show({ message: t('remove.done', { name }) });
            },
          },
        )
      }
    >
      {t('remove.text')}
    </Confirm>
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
