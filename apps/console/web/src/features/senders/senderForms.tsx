import { NumberInput, PasswordInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { SendersView, SenderView } from '../../../../src/features/senders/view.js';
import { DialogForm } from '../../components/dialogForm.js';
import { useSenderChange } from '../../hooks/senderChange.js';
import { useSenderRules } from './senderRules.js';

interface Props {
  sender: SenderView;
  onClose: () => void;
}

/** How many messages a second a sender may send. */
export function ThroughputForm({
  sender,
  bounds,
  onClose,
}: Props & { bounds: SendersView['throughputBounds'] }) {
  const { t } = useTranslation('senders');
  const rules = useSenderRules(bounds);
  const change = useSenderChange(onClose);
  const form = useForm({
    initialValues: { throughput: sender.throughput },
    validate: { throughput: rules.throughput },
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
        {...bounds}
        allowDecimal={false}
        clampBehavior="none"
        data-autofocus
        {...form.getInputProps('throughput')}
      />
    </DialogForm>
  );
}

/** Another access token, which no page ever shows again. */
export function TokenForm({ sender, onClose }: Props) {
  const { t } = useTranslation('senders');
  const rules = useSenderRules();
  const change = useSenderChange(onClose);
  const form = useForm({ initialValues: { token: '' }, validate: { token: rules.token } });
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
