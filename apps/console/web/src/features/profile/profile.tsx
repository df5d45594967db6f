import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { ChangeAddress } from './changeAddress.js';
import { Mails } from './mails.js';
import { Passkeys } from './passkeys.js';
import { Password } from './password.js';
import { Sessions } from './sessions.js';
import { TwoFactor } from './twoFactor.js';
import { useSession } from '../../app/session.js';
import { DialogButton } from '../../components/dialog.js';
import { Page, Section } from '../../components/page.js';
import { LanguageSelect } from '../../components/languageSelect.js';
import { PageForm } from '../../components/pageForm.js';
import { put, useChange } from '../../hooks/change.js';
import { useRequired } from '../../hooks/forms.js';

export function Profile() {
  const { t } = useTranslation(['profile', 'common']);
  return (
    <Page title={t('common:nav.profile')}>
      <Details />
      <Passkeys />
      <TwoFactor />
      <Password />
      <Mails />
      <Sessions />
    </Page>
  );
}

function Details() {
  const { t, i18n } = useTranslation(['profile', 'common']);
  const { user, sendsMail } = useSession();
  const form = useForm({
    // The language only while it is being changed: the user menu changes it too.
    initialValues: { name: user.name, language: undefined as typeof user.language | undefined },
    validate: { name: useRequired() },
  });
  const change = useChange(['/session'], { form });
  const save = (body: typeof form.values): void =>
    change.mutate(put('/profile', body), {
      onSuccess: () => {
        form.setFieldValue('language', undefined);
        void i18n
          .changeLanguage(body.language ?? i18n.language)
          .then(() => notifications.show({ message: i18n.getFixedT(null, 'profile')('details.saved') }));
      },
    });
  const address = (
    <DialogButton label={t('address.change')} title={t('address.title')}>
      <ChangeAddress />
    </DialogButton>
  );
  return (
    <Section title={t('details.title')} actions={sendsMail && address}>
      <PageForm onSubmit={form.onSubmit(save)} action={t('common:save')} change={change} isInSection>
        <TextInput label={t('common:words.email')} value={user.email} readOnly variant="filled" />
        <TextInput
          label={t('common:words.name')}
          autoComplete="name"
          required
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <LanguageSelect {...form.getInputProps('language')} value={form.values.language ?? user.language} />
      </PageForm>
    </Section>
  );
}
