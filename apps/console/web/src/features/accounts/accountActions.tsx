import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useMayOperate } from '../../app/session.js';
import { ChangeButton, useReasonRule } from '../../components/changeDialog.js';
import { DialogButton, DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { post, useAccountChange } from '../../hooks/change.js';
import { useNameRule, useNumberRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { HoldButton, ReleaseButton } from '../holds/holdButtons.js';
import { midnight } from '../sends/sendQuery.js';

interface Props {
  account: StaffAccountDetailsView;
}

export function AccountActions({ account }: Props) {
  const { t } = useTranslation(['accounts', 'holds', 'common']);
  if (!useMayOperate()) return null;

  const hold = { kind: 'account', target: account.id } as const;
  const isSuspended = account.suspendedAt !== null;
  return (
    <>
      {account.held ? (
        <ReleaseButton hold={hold} button={{ size: 'sm' }} />
      ) : (
        <HoldButton
          hold={hold}
          title={t('hold')}
          action={t('holds:target.account.button')}
          button={{ size: 'sm' }}
        />
      )}
      <ChangeButton
        button={{ size: 'sm' }}
        title={t(isSuspended ? 'resume.title' : 'suspend.title')}
        action={t(isSuspended ? 'resume.button' : 'suspend.button')}
        color={isSuspended ? 'brand' : 'red.9'}
        change={post(`/staff/accounts/${account.id}/${isSuspended ? 'resume' : 'suspend'}`)}
        asksReason={!isSuspended}
        stale={['/staff/accounts', '/staff/holds', '/staff/audit']}
        done={t('common:saved')}
      >
        {t(isSuspended ? 'resume.what' : 'suspend.what')}
      </ChangeButton>
      <DialogButton label={t('credits.button')} title={t('credits.button')} variant="filled" size="sm">
        <CreditsForm account={account} />
      </DialogButton>
    </>
  );
}

/** The bounds of the server. */
const AMOUNT = { min: 1, max: 1_000_000 };
const TEXT_LENGTH_MAX = 200;

/** Grants credits, and shows the resulting balance before that is confirmed. */
function CreditsForm({ account }: Props) {
  const { t } = useTranslation(['accounts', 'common']);
  const { whole, signed } = useNumbers();
  const path = `/staff/accounts/${account.id}`;
  const change = useAccountChange(path, useClose());
  // One id per form, so that a retry after a lost response does not grant twice.
  const [grantId] = useState(() => crypto.randomUUID());
  const amountRule = useNumberRule()(AMOUNT);
  const form = useForm<{ amount: number | string; reason: string; reference: string; expiresAt: string }>({
    initialValues: { amount: '', reason: '', reference: '', expiresAt: '' },
    validate: {
      amount: amountRule,
      reason: useReasonRule(),
      reference: useNameRule(TEXT_LENGTH_MAX, { optional: true }),
      expiresAt: (lastDay) =>
        (midnight(lastDay, 1) ?? new Date(Infinity)) <= new Date() ? t('common:fieldErrors.past') : null,
    },
  });
  const { amount } = form.values;
  const before = whole(account.credits);
  const grant = ({ reference, expiresAt, ...values }: typeof form.values): void =>
    change.mutate(
      post(`${path}/credits`, {
        amount: values.amount,
        reason: values.reason.trim(),
        ...(reference.trim() !== '' && { reference: reference.trim() }),
        ...(expiresAt !== '' && { expiresAt: midnight(expiresAt, 1) }),
        grantId,
      }),
    );
  return (
    <DialogForm onSubmit={form.onSubmit(grant)} action={t('credits.button')} change={change}>
      <NumberField
        label={t('credits.amount')}
        required
        {...AMOUNT}
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
      <Text aria-live="polite">
        {typeof amount === 'number' && amountRule(amount) === null
          ? t('credits.balance', {
              before,
              after: whole(account.credits + amount),
              change: signed(amount),
            })
          : t('credits.balanceNow', { before })}
      </Text>
    </DialogForm>
  );
}
