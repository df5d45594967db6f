import { Button, NumberInput, Switch, Text, VisuallyHidden } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { BalanceAlertView } from '../../../../src/features/ledger/view.js';
import { useChange, useData } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { useNumbers } from '../../hooks/formats.js';
import { useRangeRule } from '../../hooks/forms.js';

const BELOW = { min: 1, max: 100_000_000, initial: 100 };

/** The balance below which the admins of the account are told by mail, and its webhook. */
export function BalanceAlert() {
  const { t } = useTranslation(['ledger', 'common']);
  const { path, mayManage } = useAccount();
  const { sendsMail } = useSession();
  const { whole } = useNumbers();
  const [opened, setOpened] = useState(false);
  const { data } = useData<BalanceAlertView>(`${path}/balance-alert`);
  if (data === undefined) return null;
  const { below, hasWebhook } = data;
  const isTold = sendsMail || hasWebhook;
  const button = (
    <Button variant="default" size="xs" onClick={() => setOpened(true)}>
      {t('common:edit')}
      <VisuallyHidden>: {t('alert.edit')}</VisuallyHidden>
    </Button>
  );
  return (
    <Section
      title={t('alert.title')}
      description={t(isTold ? 'alert.description' : 'alert.none')}
      actions={mayManage && isTold && button}
    >
      {isTold && (
        <Text size="sm">{below === null ? t('alert.off') : t('alert.below', { number: whole(below) })}</Text>
      )}
      <Dialog opened={opened} onClose={() => setOpened(false)} title={t('alert.edit')}>
        <AlertForm below={below} onClose={() => setOpened(false)} />
      </Dialog>
    </Section>
  );
}

function AlertForm({ below, onClose }: Pick<BalanceAlertView, 'below'> & { onClose: () => void }) {
  const { t } = useTranslation(['ledger', 'common']);
  const { path } = useAccount();
  const rangeRule = useRangeRule();
  const { mutate, isPending, error } = useChange(`${path}/balance-alert`);
  const form = useForm({
    initialValues: { isOn: below !== null, below: below ?? BELOW.initial },
    validate: { below: (value, { isOn }) => (isOn ? rangeRule(BELOW.min, BELOW.max)(value) : null) },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isOn, below: value }) =>
        mutate(
          { method: 'PUT', path: `${path}/balance-alert`, body: { below: isOn ? value : null } },
          { onSuccess: onClose },
        ),
      )}
      action={t('common:save')}
      onClose={onClose}
      pending={isPending}
      problem={error}
    >
      <Switch
        label={t('alert.switch')}
        data-autofocus
        {...form.getInputProps('isOn', { type: 'checkbox' })}
      />
      {form.values.isOn && (
        <NumberInput
          label={t('alert.field')}
          min={BELOW.min}
          max={BELOW.max}
          {...form.getInputProps('below')}
        />
      )}
    </DialogForm>
  );
}
