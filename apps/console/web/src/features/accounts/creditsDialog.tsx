import { NumberInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { useNameRule, useRangeRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { useReasonRule } from '../../components/reasonDialog.js';
import { midnight } from '../sends/sendQuery.js';
import { useAccountChange } from '../../hooks/staffChange.js';

/** The bounds of the server. */
const AMOUNT_MAX = 1_000_000;
const TEXT_LENGTH_MAX = 200;

interface Props {
  account: StaffAccountDetailsView;
  onClose: () => void;
}

/** Grants credits, and shows the resulting balance before that is confirmed. */
export function CreditsDialog({ opened, ...props }: Props & { opened: boolean }) {
  const { t } = useTranslation('accounts');
  return (
    <Dialog opened={opened} onClose={props.onClose} title={t('credits.title')}>
      <CreditsForm {...props} />
    </Dialog>
  );
}

function CreditsForm({ account, onClose }: Props) {
  const { t } = useTranslation(['accounts', 'common']);
  const { whole } = useNumbers();
  const reasonRule = useReasonRule();
  const change = useAccountChange(`/staff/accounts/${account.id}`, onClose);
  // One id per form: a retry after a lost answer grants nothing twice.
  const [grantId] = useState(() => crypto.randomUUID());
  const form = useForm<{ amount: number | ''; reason: string; reference: string; expiresAt: string }>({
    initialValues: { amount: '', reason: '', reference: '', expiresAt: '' },
    validate: {
      amount: useRangeRule()(1, AMOUNT_MAX),
      reason: reasonRule,
      reference: useNameRule(TEXT_LENGTH_MAX, { optional: true }),
      expiresAt: (lastDay) =>
        (midnight(lastDay, 1) ?? new Date(Infinity)) <= new Date() ? t('common:fieldErrors.past') : null,
    },
  });
  const { amount } = form.values;
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ reference, expiresAt, ...values }) =>
        change.send({
          method: 'POST',
          path: '/credits',
          body: {
            amount: values.amount,
            reason: values.reason.trim(),
            ...(reference.trim() !== '' && { reference: reference.trim() }),
            ...(expiresAt !== '' && { expiresAt: midnight(expiresAt, 1) }),
            grantId,
          },
        }),
      )}
      action={t('credits.button')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <NumberInput
        label={t('credits.amount')}
        required
        min={1}
        max={AMOUNT_MAX}
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <TextInput
        label={t('common:reason.label')}
        description={t('credits.reason')}
        required
        maxLength={TEXT_LENGTH_MAX}
        {...form.getInputProps('reason')}
      />
      <TextInput
        label={t('credits.reference')}
        description={t('credits.referenceText')}
        maxLength={TEXT_LENGTH_MAX}
        {...form.getInputProps('reference')}
      />
      <TextInput
        type="date"
        label={t('credits.lastDay')}
        description={t('credits.lastDayText')}
        {...form.getInputProps('expiresAt')}
      />
      <Text size="sm" aria-live="polite">
        {t('credits.balance', {
          before: whole(account.credits),
          after: whole(account.credits + (typeof amount === 'number' ? amount : 0)),
        })}
      </Text>
    </DialogForm>
  );
}
