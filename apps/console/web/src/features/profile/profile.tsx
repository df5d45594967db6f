import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { ChangeAddress } from './changeAddress.js';
import { Mails } from './mails.js';
import { Passkeys } from './passkeys.js';
import { Password } from './password.js';
import { Sessions } from './sessions.js';
import { TwoFactor } from './twoFactor.js';
import { useChange } from '../../api/queries.js';
import { useSession } from '../../app/session.js';
import { Page, Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';

/** The profile of the user: details, passkeys, two-factor authentication, password, mails, sessions. */
export function Profile() {
  const { t } = useTranslation('profile');
  return (
    <Page title={t('title')}>
      <Details />
      <Passkeys />
      <TwoFactor />
      <Password />
      <Mails />
      <Sessions />
    </Page>
  );
}

/** Name and language of the user. */
export function Details() {
  const { t, i18n } = useTranslation(['profile', 'common']);
  const { user, sendsMail } = useSession();
  const fieldErrorsOf = useFieldErrors();
  const { mutate, isPending, error } = useChange('/session');
  const form = useForm({
    initialValues: { name: user.name, language: user.language },
    validate: { name: useRequired() },
  });
  const save = (body: typeof form.values): void =>
    mutate(
      { method: 'PUT', path: '/profile', body },
      {
        onSuccess: () => {
          void i18n
            .changeLanguage(body.language)
            .then(() => notifications.show({ message: i18n.getFixedT(null, 'profile')('details.saved') }));
        },
        onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
      },
    );
  return (
    <Section title={t('details.title')} actions={sendsMail && <ChangeAddress />}>
      <form onSubmit={form.onSubmit(save)} noValidate>
        <Stack maw={420}>
          {error !== null && error.code !== 'invalid_input' && <Failure problem={error} />}
          <TextInput label={t('details.email')} value={user.email} readOnly variant="filled" />
          <TextInput
            label={t('details.name')}
            autoComplete="name"
            required
            maxLength={200}
            {...form.getInputProps('name')}
          />
          <Select
            label={t('details.language')}
            data={(['en', 'pt-BR'] as const).map((value) => ({
              value,
              label: t(`common:languages.${value}`),
            }))}
            allowDeselect={false}
            {...form.getInputProps('language')}
          />
          <Group>
            <Button type="submit" loading={isPending}>
              {t('common:save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
