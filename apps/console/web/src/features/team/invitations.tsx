import { ActionIcon, Badge, Table, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationView } from '../../../../src/features/team/view.js';
import { useChange, useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Confirm } from '../../components/dialog.js';
import { Failure, Loading } from '../../components/states.js';
import { Time } from '../../components/times.js';

/** Who is invited and has not joined. */
export function Invitations() {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const [ending, setEnding] = useState<InvitationView | null>(null);
  const { data, error, refetch } = useData<{ invitations: InvitationView[] }>(`${path}/invitations`);
  if (data === undefined)
    return error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />;
  if (data.invitations.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('noInvitations')}
      </Text>
    );
  return (
    <>
      <Table.ScrollContainer minWidth={320}>
        <Table verticalSpacing="sm" aria-label={t('invitations')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('columns.email')}</Table.Th>
              <Table.Th>{t('columns.role')}</Table.Th>
              <Table.Th visibleFrom="md">{t('columns.invitedBy')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('columns.expires')}</Table.Th>
              <Table.Th w={44} aria-label={t('columns.actions')} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.invitations.map((invitation) => (
              <Row key={invitation.id} invitation={invitation} onEnd={() => setEnding(invitation)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Revoke invitation={ending} onClose={() => setEnding(null)} />
    </>
  );
}

function Row({
  invitation: { email, role, invitedBy, expiresAt, hasExpired },
  onEnd,
}: {
  invitation: InvitationView;
  onEnd: () => void;
}) {
  const { t } = useTranslation('team');
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{email}</Table.Td>
      <Table.Td>{t(`roles.${role}`)}</Table.Td>
      <Table.Td visibleFrom="md">{invitedBy ?? '–'}</Table.Td>
      <Table.Td visibleFrom="sm">
        {hasExpired ? <Badge color="gray">{t('expired')}</Badge> : <Time at={expiresAt} />}
      </Table.Td>
      <Table.Td>
        <Tooltip label={t('revoking.action')} withArrow>
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={t('revoking.label', { email })}
            onClick={onEnd}
          >
            <IconX size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </Table.Td>
    </Table.Tr>
  );
}

function Revoke({ invitation, onClose }: { invitation: InvitationView | null; onClose: () => void }) {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const { mutate, isPending, error, reset } = useChange(`${path}/invitations`);
  const close = (): void => {
    reset();
    onClose();
  };
  return (
    <Confirm
      opened={invitation !== null}
      onClose={close}
      title={t('revoking.title')}
      action={t('revoking.action')}
      pending={isPending}
      problem={error}
      onConfirm={() =>
        mutate(
          { method: 'DELETE', path: `${path}/invitations/${invitation?.id ?? ''}` },
          {
            onSuccess: () => {
              close();
              notifications.show({ message: t('revoking.done') });
            },
          },
        )
      }
    >
      {t('revoking.text', { email: invitation?.email ?? '' })}
    </Confirm>
  );
}
