import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewInvitationView } from '../../../../src/features/team/view.js';
import { useRoleOptions } from './members.js';
import { useChange } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { Time } from '../../components/times.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';

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
  const { sendsMail } = useSession();
  return (
    <Stack>
      <Text size="sm">{t('inviting.ready', { email })}</Text>
      {sendsMail && <Text size="sm">{t('inviting.mailed', { email })}</Text>}
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
