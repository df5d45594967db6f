import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewInvitationView } from '../../../../src/features/team/view.js';
import { useChange } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { CodeBlock } from '../../components/code.js';
import { Dialog } from '../../components/dialog.js';
import { DialogForm } from '../../components/dialogForm.js';
import { useFaultTexts, useRequired } from '../../hooks/formErrors.js';
import { focusAtOnce } from '../../hooks/focus.js';
import { Time } from '../../components/times.js';
import { useRoleOptions } from './roles.js';

interface Made extends NewInvitationView {
  email: string;
}

/** Invites somebody, and shows the link once. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('team');
  const [made, setMade] = useState<Made | null>(null);
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('inviting.title')} persistent={made !== null}>
      {made === null ? <InviteForm onMade={setMade} onClose={close} /> : <Link made={made} onClose={close} />}
    </Dialog>
  );
}

function InviteForm({ onMade, onClose }: { onMade: (made: Made) => void; onClose: () => void }) {
  const { t } = useTranslation('team');
  const { path } = useAccount();
  const faultsOf = useFaultTexts();
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
        onSuccess: (invitation) => onMade({ ...invitation, email }),
        onError: (problem) => form.setErrors(faultsOf(problem)),
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

function Link({ made: { token, email, expiresAt }, onClose }: { made: Made; onClose: () => void }) {
  const { t } = useTranslation('team');
  return (
    <Stack>
      <Text size="sm">{t('inviting.ready', { email })}</Text>
      <CodeBlock code={`${window.location.origin}/invitation#${token}`} what={t('inviting.link')} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {t('inviting.until')} <Time at={expiresAt} />
        </Text>
        <Button ref={focusAtOnce} onClick={onClose}>
          {t('inviting.done')}
        </Button>
      </Group>
    </Stack>
  );
}
