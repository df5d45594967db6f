import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationView, NewInvitationView } from '../../../../src/features/team/view.js';
import { useRoleOptions } from './members.js';
import { useChange, useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Confirm, Dialog, DialogForm } from '../../components/dialog.js';
import { Failure, Loading } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';

/** Open and expired invitations. */
export function Invitations() {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const [revoking, setRevoking] = useState<InvitationView | null>(null);
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
              <Row key={invitation.id} invitation={invitation} onRevoke={() => setRevoking(invitation)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Revoke invitation={revoking} onClose={() => setRevoking(null)} />
    </>
  );
}

function Row({
  invitation: { email, role, invitedBy, expiresAt, hasExpired },
  onRevoke,
}: {
  invitation: InvitationView;
  onRevoke: () => void;
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
            onClick={onRevoke}
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

interface CreatedInvitation extends NewInvitationView {
  email: string;
}

/** Creates an invitation and shows its link once. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('team');
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  const close = (): void => {
    setCreated(null);
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('inviting.title')} persistent={created !== null}>
      {created === null ? (
        <InviteForm onCreated={setCreated} onClose={close} />
      ) : (
        <InvitationLink invitation={created} onClose={close} />
      )}
    </Dialog>
  );
}

function InviteForm({
  onCreated,
  onClose,
}: {
  onCreated: (invitation: CreatedInvitation) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const fieldErrorsOf = useFieldErrors();
  const options = useRoleOptions();
  const { mutate, isPending, error } = useChange<NewInvitationView>(`${path}/invitations`);
  const form = useForm({
    initialValues: { email: '', role: 'developer' },
    validate: { email: useRequired() },
  });
  const submit = ({ email: typed, role }: typeof form.values): void => {
    const email = typed.trim();
    mutate(
      { method: 'POST', path: `${path}/invitations`, body: { email, role } },
      {
        onSuccess: (invitation) => onCreated({ ...invitation, email }),
        onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
      },
    );
  };
  return (
    <DialogForm
      onSubmit={form.onSubmit(submit)}
      action={t('inviting.action')}
      onClose={onClose}
      pending={isPending}
      problem={error?.code === 'invalid_input' ? null : error}
    >
      <Text size="sm">{t('inviting.text')}</Text>
      <TextInput
        label={t('inviting.email')}
        type="email"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <Select label={t('inviting.role')} {...options} {...form.getInputProps('role')} />
    </DialogForm>
  );
}

function InvitationLink({
  invitation: { token, email, expiresAt },
  onClose,
}: {
  invitation: CreatedInvitation;
  onClose: () => void;
}) {
  const { t } = useTranslation('team');
  return (
    <Stack>
      <Text size="sm">{t('inviting.ready', { email })}</Text>
      <CodeBlock code={`${window.location.origin}/invitation#${token}`} what={t('inviting.link')} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {t('inviting.until')} <Time at={expiresAt} />
        </Text>
        <Button ref={focusOnMount} onClick={onClose}>
          {t('inviting.done')}
        </Button>
      </Group>
    </Stack>
  );
}
