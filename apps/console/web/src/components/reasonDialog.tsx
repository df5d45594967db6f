import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { Dialog, DialogForm } from './dialog.js';

const REASON_LENGTH_MAX = 200;

/** Validates that a reason is given. */
export function useReasonRule(): (reason: string) => string | null {
  const { t } = useTranslation();
  return (reason) => (reason.trim() === '' ? t('reason.missing') : null);
}

interface Props {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** The label of the button. */
  action: string;
  onConfirm: (reason: string) => void;
  /** `brand` where the action loses nothing. */
  color?: 'red.9' | 'brand';
  pending: boolean;
  problem: ApiProblem | null;
  /** A field above the reason. */
  before?: ReactNode;
  /** What will happen. */
  children: ReactNode;
}

/** Says what an action will do, and asks for its reason. */
export function ReasonDialog({ opened, onClose, title, ...rest }: Props) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <ReasonForm onClose={onClose} {...rest} />
    </Dialog>
  );
}

function ReasonForm({
  onClose,
  action,
  color = 'red.9',
  onConfirm,
  pending,
  problem,
  before,
  children,
}: Omit<Props, 'opened' | 'title'>) {
  const { t } = useTranslation();
  const rule = useReasonRule();
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: rule } });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ reason }) => onConfirm(reason.trim()))}
      action={action}
      onClose={onClose}
      pending={pending}
      problem={problem}
      color={color}
    >
      <Text size="sm" component="div">
        {children}
      </Text>
      {before}
      <TextInput
        label={t('reason.label')}
        description={t('reason.description')}
        required
        maxLength={REASON_LENGTH_MAX}
        data-autofocus={before === undefined || undefined}
        {...form.getInputProps('reason')}
      />
    </DialogForm>
  );
}
