import { NumberInput, PasswordInput, Select, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import type { SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { useChange } from '../../api/queries.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { useRangeRule } from '../../hooks/forms.js';
import { useSenderChange } from '../../hooks/staffChange.js';

interface AddSenderProps {
  onClose: () => void;
  rules: SenderRulesView;
}

/** The dialog that adds a sender. */
export function AddSenderDialog({ opened, ...props }: AddSenderProps & { opened: boolean }) {
  const { t } = useTranslation('senders');
  return (
    <Dialog opened={opened} onClose={props.onClose} title={t('add.title')}>
      <AddSenderForm {...props} />
    </Dialog>
  );
}

function AddSenderForm({ onClose, rules }: AddSenderProps) {
  const { t } = useTranslation('senders');
  const validate = useSenderValidation(rules);
  const change = useChange('/staff/senders', '/staff/audit');
  const form = useForm({
    initialValues: {
      phoneNumberId: '',
      businessAccountId: '',
      number: '',
      token: '',
      template: rules.templateInitial,
      englishTemplateLanguage: 'en',
      throughput: rules.throughput.initial,
    },
    validate,
  });
  const add = ({ throughput, ...texts }: typeof form.values): void => {
    const trimmed = Object.fromEntries(
      Object.entries(texts)
        .map(([name, text]) => [name, text.trim()] as const)
        .filter(([name, text]) => name !== 'businessAccountId' || text !== ''),
    );
    change.mutate(
      { method: 'POST', path: '/staff/senders', body: { ...trimmed, throughput } },
      {
        onSuccess: () => {
          onClose();
          notifications.show({ message: t('add.done'), color: 'teal' });
        },
        onError: ({ errors }) => {
          if ('number' in errors) form.setFieldError('number', t('fieldErrors.number'));
          if ('phoneNumberId' in errors) form.setFieldError('phoneNumberId', t('fieldErrors.taken'));
        },
      },
    );
  };
  return (
    <DialogForm
      onSubmit={form.onSubmit(add)}
      action={t('add.button')}
      onClose={onClose}
      pending={change.isPending}
      problem={change.error}
    >
      <TextInput
        label={t('facts.phoneNumberId')}
        description={t('add.phoneNumberId')}
        required
        inputMode="numeric"
        data-autofocus
        {...form.getInputProps('phoneNumberId')}
      />
      <TextInput
        label={t('facts.businessAccountId')}
        description={t('add.businessAccountId')}
        inputMode="numeric"
        {...form.getInputProps('businessAccountId')}
      />
      <TextInput
        label={t('add.number')}
        placeholder="+55 11 5555-0100"
        required
        type="tel"
        autoComplete="off"
        {...form.getInputProps('number')}
      />
      <PasswordInput
        label={t('token.label')}
        description={t('add.token')}
        required
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
      <NumberInput
        label={t('throughput.label')}
        min={rules.throughput.min}
        max={rules.throughput.max}
        {...form.getInputProps('throughput')}
      />
    </DialogForm>
  );
}

interface Props {
  sender: SenderView;
  rules: SenderRulesView;
  onClose: () => void;
}

/** Changes the throughput of a sender, in messages per second. */
export function ThroughputForm({ sender, rules, onClose }: Props) {
  const { t } = useTranslation('senders');
  const validate = useSenderValidation(rules);
  const change = useSenderChange(onClose);
  const form = useForm({
    initialValues: { throughput: sender.throughput },
    validate: { throughput: validate.throughput },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) =>
        change.send({ method: 'PUT', path: `/${sender.id}/throughput`, body }, t('throughput.done')),
      )}
      action={t('throughput.button')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <NumberInput
        label={t('throughput.label')}
        description={t('throughput.what')}
        min={rules.throughput.min}
        max={rules.throughput.max}
        data-autofocus
        {...form.getInputProps('throughput')}
      />
    </DialogForm>
  );
}

/** Replaces the access token of a sender. No page ever shows a token. */
export function TokenForm({ sender, rules, onClose }: Props) {
  const { t } = useTranslation('senders');
  const validate = useSenderValidation(rules);
  const change = useSenderChange(onClose);
  const form = useForm({ initialValues: { token: '' }, validate: { token: validate.token } });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ token }) =>
        change.send(
          { method: 'PUT', path: `/${sender.id}/token`, body: { token: token.trim() } },
          t('token.done'),
        ),
      )}
      action={t('token.button')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <Text size="sm">{t('token.what', { number: sender.number })}</Text>
      <PasswordInput
        label={t('token.label')}
        required
        autoComplete="off"
        data-autofocus
        visibilityToggleButtonProps={{ 'aria-label': t('token.show') }}
        {...form.getInputProps('token')}
      />
    </DialogForm>
  );
}

type Rule<T> = (value: T) => string | null;

/** The validation of sender fields, by the server's rules. */
function useSenderValidation({ throughput: { min, max }, patterns }: SenderRulesView) {
  const { t } = useTranslation('senders');
  const matches =
    (pattern: string, message: string): Rule<string> =>
    (value) =>
      new RegExp(pattern).test(value.trim()) ? null : message;
  return {
    throughput: useRangeRule()(min, max),
    token: matches(patterns.token, t('fieldErrors.token')),
    phoneNumberId: matches(patterns.phoneNumberId, t('fieldErrors.phoneNumberId')),
    businessAccountId: matches(`${patterns.businessAccountId}|^$`, t('fieldErrors.phoneNumberId')),
    // The server reads the number.
    number: matches('.', t('fieldErrors.number')),
    template: matches(patterns.template, t('fieldErrors.template')),
  };
}
