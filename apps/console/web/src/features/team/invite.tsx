import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewInvitationView } from '../../../../src/features/team/view.js';
import { useRoleOptions } from './members.js';
import { useAccount, useSession } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Small } from '../../components/facts.js';
import { Dialog, DialogForm, useClose } from '../../components/dialog.js';
import { Time } from '../../components/times.js';
import { useChange } from '../../hooks/change.js';
import { focusOnMount, useRequired } from '../../hooks/forms.js';

interface CreatedInvitation extends NewInvitationView {
  email: string;
}

export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('team');
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  const close = (): void => {
    setCreated(null);
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('invite')} persistent={created !== null}>
      {created === null ? <InviteForm onCreated={setCreated} /> : <InvitationLink invitation={created} />}
    </Dialog>
  );
}

function InviteForm({ onCreated }: { onCreated: (invitation: CreatedInvitation) => void }) {
  const { t } = useTranslation('team');
  const path = `${useAccount().path}/invitations`;
  const options = useRoleOptions();
  const form = useForm({
    initialValues: { email: '', role: 'developer' },
    validate: { email: useRequired() },
  });
  const invite = useChange<NewInvitationView>([path], {
    onDone: (invitation) => onCreated({ ...invitation, email: form.values.email.trim() }),
    form,
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ email, role }) =>
        invite.mutate({ method: 'POST', path, body: { email: email.trim(), role } }),
      )}
      action={t('inviting.action')}
      change={invite}
      marksFields
    >
      <Text>{t('inviting.text')}</Text>
      <TextInput
        label={t('columns.email')}
        type="email"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <Select label={t('columns.role')} {...options} {...form.getInputProps('role')} />
    </DialogForm>
  );
}

function InvitationLink({ invitation: { token, email, expiresAt } }: { invitation: CreatedInvitation }) {
  const { t } = useTranslation('team');
  const { sendsMail } = useSession();
  return (
    <Stack>
      <Text>{t('inviting.ready', { email })}</Text>
      {sendsMail && <Text>{t('inviting.mailed', { email })}</Text>}
      <CodeBlock code={`${window.location.origin}/invitation#${token}`} what={t('inviting.link')} />
      <Group justify="space-between">
        <Small>
          {t('columns.expires')} <Time at={expiresAt} />
        </Small>
        <Button ref={focusOnMount} onClick={useClose()}>
          {t('inviting.done')}
        </Button>
      </Group>
    </Stack>
  );
}
