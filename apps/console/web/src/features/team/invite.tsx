import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationView, NewInvitationView } from '../../../../src/features/team/view.js';
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
  isMailed: boolean;
}

/** Asks for the address to invite, and shows the link once. */
export function Invite() {
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  return created === null ? <InviteForm onCreated={setCreated} /> : <InvitationLink invitation={created} />;
}

/** Replaces an open invitation with a new one to the same address. Its link is shown once and can be mailed. */
export function InviteAgain(invited: Pick<InvitationView, 'email' | 'role'>) {
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  return created === null ? (
    <InviteAgainForm {...invited} onCreated={setCreated} />
  ) : (
    <InvitationLink invitation={created} />
  );
}

function InviteAgainForm({
  email,
  role,
  onCreated,
}: Pick<InvitationView, 'email' | 'role'> & { onCreated: (invitation: CreatedInvitation) => void }) {
  const { t } = useTranslation('team');
  const { sendsMail } = useSession();
  const path = `${useAccount().path}/invitations`;
  const form = useForm({ initialValues: { isMailed: sendsMail } });
  const invite = useChange<NewInvitationView>([path], {
    onDone: (invitation) => onCreated({ ...invitation, email, isMailed: form.values.isMailed }),
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isMailed }) => invite.mutate(post(path, { email, role, isMailed })))}
      action={t('inviting.action')}
      change={invite}
    >
      <Text>{t('inviting.again', { email })}</Text>
      {sendsMail && (
        <Checkbox
          label={t('inviting.mail', { email })}
          {...form.getInputProps('isMailed', { type: 'checkbox' })}
        />
      )}
    </DialogForm>
  );
}

function InviteForm({ onCreated }: { onCreated: (invitation: CreatedInvitation) => void }) {
  const { t } = useTranslation(['team', 'common']);
  const { sendsMail } = useSession();
  const path = `${useAccount().path}/invitations`;
  const options = useRoleOptions();
  const form = useForm({
    initialValues: { email: '', role: 'developer' },
    validate: { email: useRequired() },
  });
  const invite = useChange<NewInvitationView>([path], {
    onDone: (invitation) =>
      onCreated({ ...invitation, email: form.values.email.trim(), isMailed: sendsMail }),
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

function InvitationLink({
  invitation: { token, email, expiresAt, isMailed },
}: {
  invitation: CreatedInvitation;
}) {
  const { t } = useTranslation('team');
  useKeepOpen(true);
  return (
    <Stack>
      <Text>{t('inviting.ready', { email })}</Text>
      {isMailed && <Text>{t('inviting.mailed', { email })}</Text>}
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
