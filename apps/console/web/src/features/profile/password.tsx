import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { changePassword, readSession } from '../../api/auth.js';
import { useSession } from '../../app/session.js';
import { Section } from '../../components/page.js';
import { CurrentPassword, PageForm } from '../../components/pageForm.js';
import { NewPassword } from '../../components/newPassword.js';
import { useFormMutation, useRequired } from '../../hooks/forms.js';

export function Password() {
  const { t } = useTranslation(['profile', 'auth']);
  const { user } = useSession();
  const client = useQueryClient();
  const required = useRequired();
  const form = useForm({
    initialValues: { password: '', newPassword: '' },
    validate: { password: required, newPassword: required },
  });
  const change = useFormMutation(form, async ({ password, newPassword }: typeof form.values) => {
    await changePassword(password, newPassword);
    await readSession(client);
    await client.invalidateQueries({ queryKey: ['profile'] });
    form.reset();
    notifications.show({ message: t('password.done') });
  });
  return (
    <Section title={t('password.title')} description={t('password.description')}>
      <PageForm
        onSubmit={form.onSubmit((typed) => change.mutate(typed))}
        action={t('password.action')}
        change={change}
        isInSection
      >
        {/* Shows password managers the user of the password. */}
        <input type="hidden" autoComplete="username" value={user.email} readOnly />
        <CurrentPassword label={t('password.current')} {...form.getInputProps('password')} />
        <NewPassword
          label={t('auth:resetPassword.field')}
          required
          owner={[user.name, user.email]}
          {...form.getInputProps('newPassword')}
          value={form.values.newPassword}
        />
      </PageForm>
    </Section>
  );
}
