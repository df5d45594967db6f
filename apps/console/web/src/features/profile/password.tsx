import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { changePassword, readSession } from '../../api/auth.js';
import { useSession } from '../../app/session.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { NewPassword } from '../../components/newPassword.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';

/** Changes the password of the user, who enters the current one as well. */
export function Password() {
  const { t } = useTranslation(['profile', 'common']);
  const { user } = useSession();
  const client = useQueryClient();
  const required = useRequired();
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({
    initialValues: { password: '', newPassword: '' },
    validate: { password: required, newPassword: required },
  });
  const change = useMutationOnce<void, typeof form.values>({
    mutationFn: async ({ password, newPassword }) => {
      await changePassword(password, newPassword);
      await readSession(client);
      await client.invalidateQueries({ queryKey: ['profile'] });
    },
    onSuccess: () => {
      form.reset();
      notifications.show({ message: t('password.done') });
    },
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  return (
    <Section title={t('password.title')} description={t('password.description')}>
      <form onSubmit={form.onSubmit((typed) => change.mutate(typed))} noValidate>
        <Stack maw={420}>
          {change.error !== null && change.error.code !== 'invalid_input' && (
            <Failure problem={change.error} />
          )}
          {/* Tells password managers which user the password belongs to. */}
          <input type="hidden" autoComplete="username" value={user.email} readOnly />
          <PasswordInput
            label={t('password.current')}
            autoComplete="current-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': t('common:showPassword') }}
            {...form.getInputProps('password')}
          />
          <NewPassword
            label={t('password.next')}
            required
            owner={[user.name, user.email]}
            {...form.getInputProps('newPassword')}
            value={form.values.newPassword}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              {t('password.action')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
