import { NumberInput, PasswordInput, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { SendersView } from '../../../../src/features/senders/view.js';
import { useChange } from '../../api/queries.js';
import { Dialog } from '../../components/dialog.js';
import { DialogForm } from '../../components/dialogForm.js';
import { notifications } from '@mantine/notifications';
import { useSenderRules } from './senderRules.js';

interface Props {
  onClose: () => void;
  bounds: SendersView['throughputBounds'];
}

/** What the provider grants to a number at first. */
const THROUGHPUT_INITIAL = 80;

/** Adds a sender. */
export function AddSenderDialog({ opened, ...props }: Props & { opened: boolean }) {
  const { t } = useTranslation('senders');
  return (
    <Dialog opened={opened} onClose={props.onClose} title={t('add.title')}>
      <AddSenderForm {...props} />
    </Dialog>
  );
}

function AddSenderForm({ onClose, bounds }: Props) {
  const { t } = useTranslation('senders');
  const rules = useSenderRules(bounds);
  const change = useChange('/operations/senders', '/operations/audit');
  const form = useForm({
    initialValues: {
      phoneNumberId: '',
      number: '',
      token: '',
      template: 'verification_code',
      english: 'en',
      throughput: THROUGHPUT_INITIAL,
    },
    validate: rules,
  });
  const add = ({ throughput, ...texts }: typeof form.values): void => {
    const trimmed = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim()]));
    change.mutate(
      { method: 'POST', path: '/operations/senders', body: { ...trimmed, throughput } },
      {
        onSuccess: () => {
          onClose();
          notifications.show({ message: t('add.done'), color: 'teal' });
        },
        onError: ({ errors }) => {
          if ('number' in errors) form.setFieldError('number', t('faults.number'));
          if ('phoneNumberId' in errors) form.setFieldError('phoneNumberId', t('faults.taken'));
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
        label={t('add.english')}
        description={t('add.englishWhat')}
        data={['en', 'en_US']}
        allowDeselect={false}
        {...form.getInputProps('english')}
      />
      <NumberInput
        label={t('throughput.label')}
        {...bounds}
        allowDecimal={false}
        clampBehavior="none"
        {...form.getInputProps('throughput')}
      />
    </DialogForm>
  );
}
