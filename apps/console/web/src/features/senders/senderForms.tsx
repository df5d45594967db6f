import { PasswordInput, Select, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { post, put, useChange } from '../../hooks/change.js';
import { useNumberRule } from '../../hooks/forms.js';
import { useSenders } from '../../hooks/senders.js';

/** Adds a sender, which sends nothing before it is activated, or changes one, except its phone number ID. */
export function SenderForm({ rules, sender }: { rules: SenderRulesView; sender?: SenderView }) {
  const { t } = useTranslation(['senders', 'common']);
  const { patterns } = rules;
  const matches = (pattern: string, message: string) => (value: string) =>
    new RegExp(pattern).test(value.trim()) ? null : message;
  const { path, audit, account } = useSenders();
  const change = useChange([path, audit], {
    done: t(sender === undefined ? 'add.done' : 'edit.done'),
    onDone: useClose(),
  });
  const initialValues = {
    phoneNumberId: sender?.phoneNumberId ?? '',
    businessAccountId: sender?.businessAccountId ?? '',
    number: sender?.number ?? '',
    // No page ever shows a token.
    token: '',
    template: sender?.template ?? rules.templateInitial,
    englishTemplateLanguage: sender?.englishTemplateLanguage ?? ('en' as const),
    throughput: sender?.throughput ?? rules.throughput.initial,
  };
  const form = useForm({
    initialValues,
    // The server's rules.
    validate: {
      throughput: useNumberRule()(rules.throughput),
      token: matches(sender === undefined ? patterns.token : `${patterns.token}|^$`, t('fieldErrors.token')),
      phoneNumberId: matches(patterns.phoneNumberId, t('fieldErrors.phoneNumberId')),
      businessAccountId: matches(`${patterns.businessAccountId}|^$`, t('fieldErrors.phoneNumberId')),
      // The server validates the number.
      number: matches('.', t('fieldErrors.number')),
      template: matches(patterns.template, t('fieldErrors.template')),
    },
  });
  const save = (values: typeof form.values): void => {
    const wanted = Object.entries(values)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const)
      .filter(
        ([name, value]) => value !== '' && (sender === undefined || value !== initialValues[name as 'token']),
      );
    const body = Object.fromEntries(wanted);
    change.mutate(sender === undefined ? post(path, body) : put(`${path}/${sender.id}`, body), {
      onError: ({ errors }) => {
        if ('number' in errors) form.setFieldError('number', t('fieldErrors.number'));
        const { phoneNumberId: why } = errors;
        if (why !== undefined)
          form.setFieldError('phoneNumberId', t(`fieldErrors.${why === 'full' ? why : 'taken'}`));
      },
    });
  };
  return (
    <DialogForm
      onSubmit={form.onSubmit(save)}
      action={t(sender === undefined ? 'add.button' : 'common:save')}
      change={change}
    >
      {sender === undefined && (
        <>
          <Text>{t('add.what')}</Text>
          <TextInput
            label={t('facts.phoneNumberId')}
            description={t('add.phoneNumberId')}
            required
            inputMode="numeric"
            data-autofocus
            {...form.getInputProps('phoneNumberId')}
          />
        </>
      )}
      {account === undefined && (
        <TextInput
          label={t('facts.businessAccountId')}
          description={t('add.businessAccountId')}
          inputMode="numeric"
          {...form.getInputProps('businessAccountId')}
        />
      )}
      <TextInput
        label={t('add.number')}
        placeholder="+55 11 5555-0100"
        required
        type="tel"
        autoComplete="off"
        // Only without the field above: the first one of a dialog gets the focus.
        data-autofocus
        {...form.getInputProps('number')}
      />
      <PasswordInput
        label={t('token.label')}
        description={t(sender === undefined ? 'add.token' : 'edit.token')}
        required={sender === undefined}
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': t('token.show') }}
        {...form.getInputProps('token')}
      />
      <TextInput label={t('add.template')} required {...form.getInputProps('template')} />
      <Select
        label={t('add.englishTemplateLanguage')}
        description={t('add.englishWhat')}
        data={['en', 'en_US']}
        allowDeselect={false}
        {...form.getInputProps('englishTemplateLanguage')}
      />
      <NumberField
        label={t('throughput.label')}
        description={t('throughput.what')}
        min={rules.throughput.min}
        max={rules.throughput.max}
        {...form.getInputProps('throughput')}
      />
    </DialogForm>
  );
}
