import { Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { BalanceAlertView } from '../../../../src/features/ledger/view.js';
import { useAside } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { put, useChange } from '../../hooks/change.js';
import { useNumbers } from '../../hooks/formats.js';
import { useNumberRule } from '../../hooks/forms.js';
import { EditableSection } from '../protection/editableSection.js';

const BELOW = { min: 1, max: 100_000_000, initial: 100 };

/** The balance below which the account's admins (by mail) and its webhook are notified. */
export function BalanceAlert() {
  const { t } = useTranslation('ledger');
  const { path, mayManage } = useAccount();
  const { sendsMail } = useSession();
  const { whole } = useNumbers();
  const data = useAside<BalanceAlertView>(`${path}/balance-alert`);
  if (data === undefined) return null;
  const { below, hasWebhook } = data;
  const hasChannel = sendsMail || hasWebhook;
  return (
    <EditableSection
      title={t('alert.title')}
      description={t(hasChannel ? 'alert.description' : 'alert.none')}
      mayChange={mayManage && hasChannel}
      edit={t('alert.edit')}
      form={<AlertForm below={below} />}
    >
      {hasChannel && (
        <Text>{below === null ? t('alert.off') : t('alert.below', { number: whole(below) })}</Text>
      )}
    </EditableSection>
  );
}

function AlertForm({ below }: Pick<BalanceAlertView, 'below'>) {
  const { t } = useTranslation('ledger');
  const path = `${useAccount().path}/balance-alert`;
  const numberRule = useNumberRule();
  const change = useChange([path], { onDone: useClose() });
  const form = useForm({
    initialValues: { isOn: below !== null, below: below ?? BELOW.initial },
    validate: { below: (value, { isOn }) => (isOn ? numberRule(BELOW)(value) : null) },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isOn, below: value }) =>
        change.mutate(put(path, { below: isOn ? value : null })),
      )}
      change={change}
    >
      <Switch
        label={t('alert.switch')}
        data-autofocus
        {...form.getInputProps('isOn', { type: 'checkbox' })}
      />
      {form.values.isOn && (
        <NumberField
          label={t('alert.field')}
          min={BELOW.min}
          max={BELOW.max}
          {...form.getInputProps('below')}
        />
      )}
    </DialogForm>
  );
}
