import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewInvitationView } from '../../../../src/features/team/view.js';
import { useRoleOptions } from './members.js';
import { useAccount, useSession } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Small } from '../../components/facts.js';
import { DialogForm, useClose, useKeepOpen } from '../../components/dialog.js';
import { Time } from '../../components/times.js';
import { post, useChange } from '../../hooks/change.js';
import { focusOnMount, useRequired } from '../../hooks/forms.js';

interface CreatedInvitation extends NewInvitationView {
  email: string;
}

/** Asks whom to invite, and shows the link once. */
export function Invite() {
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  return created === null ? <InviteForm onCreated={setCreated} /> : <InvitationLink invitation={created} />;
}

function InviteForm({ onCreated }: { onCreated: (invitation: CreatedInvitation) => void }) {
  const { t } = useTranslation(['team', 'common']);
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
      onSubmit={form.onSubmit(({ email, role }) => invite.mutate(post(path, { email: email.trim(), role })))}
      action={t('inviting.action')}
      change={invite}
      marksFields
    >
      <Text>{t('inviting.text')}</Text>
      <TextInput
        label={t('common:words.email')}
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
  useKeepOpen(true);
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
