import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { DialogForm, useClose } from '../../components/dialog.js';
import { LanguageSelect } from '../../components/languageSelect.js';
import { put, useChange } from '../../hooks/change.js';
import { useNameRule } from '../../hooks/forms.js';
import { EditableSection } from '../protection/editableSection.js';

interface Props {
  account: { name: string; language: 'pt-BR' | 'en'; /** Of its data, below `/api`. */ path: string };
}

/** The name of an account and the language of its messages, for its members and for staff. */
export function NameSection({ account, mayChange }: Props & { mayChange: boolean }) {
  const { t } = useTranslation(['accounts', 'common']);
  return (
    <EditableSection
      mayChange={mayChange}
      title={t('name.title')}
      edit={t('name.edit')}
      form={<NameForm account={account} />}
    >
      <Text>
        {account.name} · {t(`common:languages.${account.language}`)}
      </Text>
    </EditableSection>
  );
}

const LENGTH_MAX = 200;

function NameForm({ account: { name, language, path } }: Props) {
  const { t } = useTranslation(['accounts', 'common']);
  const form = useForm({
    initialValues: { name, language },
    validate: { name: useNameRule(LENGTH_MAX) },
  });
  const stale = ['/session', path, '/staff/accounts', '/staff/audit'];
  const close = useClose();
  const change = useChange(stale, { done: t('common:saved'), onDone: close, form });
  return (
    <DialogForm
      onSubmit={form.onSubmit((typed) => {
        if (!form.isDirty()) return close();
        change.mutate(
          put(path, {
            ...(form.isDirty('name') && { name: typed.name.trim() }),
            ...(form.isDirty('language') && { language: typed.language }),
          }),
        );
      })}
      change={change}
      marksFields
    >
      <TextInput
        label={t('common:words.name')}
        required
        maxLength={LENGTH_MAX}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <LanguageSelect
        label={t('name.language')}
        description={t('name.languageText')}
        {...form.getInputProps('language')}
      />
    </DialogForm>
  );
}
