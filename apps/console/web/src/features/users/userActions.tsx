import { Button, Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { MadePasswordView, UserDetailsView } from '../../../../src/features/users/view.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { CodeBlock } from '../../components/copy.js';
import { DialogButton, DialogForm, useClose, useKeepOpen } from '../../components/dialog.js';
import { focusOnMount } from '../../hooks/forms.js';
import { post, put, useChange } from '../../hooks/change.js';

interface Props {
  user: UserDetailsView;
}

const STALE = ['/staff/users', '/staff/audit'];

/** Operator actions for a user who is locked out, or with a sign-in that may be compromised. */
export function UserActions({ user }: Props) {
  const { t } = useTranslation(['users', 'common']);
  const path = `/staff/users/${user.id}`;
  const { email } = user;
  return (
    <Group gap="xs">
      <ChangeButton
        button={{ disabled: user.sessions === 0 }}
        title={t('signOut.title', { email })}
        action={t('signOut.button')}
        change={post(`${path}/sign-out`)}
        stale={STALE}
        done={t('signOut.done')}
      >
        {t('signOut.text')}
      </ChangeButton>
      <DialogButton label={t('password.button')} title={t('password.title', { email })}>
        <NewPassword path={path} />
      </DialogButton>
      <ChangeButton
        title={t('twoFactor.title', { email })}
        action={t('twoFactor.button')}
        change={post(`${path}/remove-two-factor`)}
        stale={STALE}
        done={t('twoFactor.done')}
      >
        {t('twoFactor.text')}
      </ChangeButton>
      <DialogButton label={t('role.button')} title={t('role.title', { email })}>
        <StaffRole user={user} path={path} />
      </DialogButton>
    </Group>
  );
}

function NewPassword({ path }: { path: string }) {
  const { t } = useTranslation('users');
  const [password, setPassword] = useState<string | null>(null);
  const form = useForm({ initialValues: {} });
  const change = useChange<MadePasswordView>(STALE, {
    gcTime: 0,
    onDone: (made) => setPassword(made.password),
  });
  if (password !== null) return <MadePassword password={password} />;
  return (
    <DialogForm
      onSubmit={form.onSubmit(() => change.mutate(post(`${path}/password`)))}
      action={t('password.button')}
      color="red.9"
      change={change}
    >
      <Text>{t('password.text')}</Text>
    </DialogForm>
  );
}

/** Shows a generated password once. */
function MadePassword({ password }: { password: string }) {
  const { t } = useTranslation('users');
  useKeepOpen(true);
  return (
    <Stack>
      <Text>{t('password.once')}</Text>
      <CodeBlock code={password} what={t('password.name')} wrap />
      <Group justify="flex-end">
        <Button ref={focusOnMount} onClick={useClose()}>
          {t('password.close')}
        </Button>
      </Group>
    </Stack>
  );
}

const ROLES = ['none', 'on_call', 'operator'] as const;
type Role = (typeof ROLES)[number];

function StaffRole({ user, path }: Props & { path: string }) {
  const { t } = useTranslation('users');
  const close = useClose();
  const [password, setPassword] = useState<string | null>(null);
  const before: Role = user.staff ?? 'none';
  const form = useForm<{ role: Role; isVouchedFor: boolean }>({
    initialValues: { role: before, isVouchedFor: false },
    validate: { role: (role) => (role === before ? t('role.same') : null) },
  });
  const change = useChange<MadePasswordView>(STALE, {
    gcTime: 0,
    onDone: (made) => (made.password === null ? close() : setPassword(made.password)),
    done: t('role.done'),
  });
  if (password !== null) return <MadePassword password={password} />;
  const isPromotion = ROLES.indexOf(form.values.role) > ROLES.indexOf(before);
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ role, isVouchedFor }) =>
        change.mutate(put(`${path}/staff`, { staff: role === 'none' ? null : role, isVouchedFor })),
      )}
      action={t('role.button')}
      color="red.9"
      change={change}
    >
      <Radio.Group label={t('columns.role')} {...form.getInputProps('role')}>
        <Stack gap="xs" pt="xs">
          {ROLES.map((role) => (
            <Radio key={role} value={role} label={t(`staff.${role}`)} description={t(`role.texts.${role}`)} />
          ))}
        </Stack>
      </Radio.Group>
      <Text>{t(isPromotion ? 'role.more' : 'role.less')}</Text>
      {isPromotion && !user.isConfirmed && (
        <Checkbox
          label={t('role.vouch', { email: user.email })}
          {...form.getInputProps('isVouchedFor', { type: 'checkbox' })}
        />
      )}
    </DialogForm>
  );
}
