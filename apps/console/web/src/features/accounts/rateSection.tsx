import { NumberInput, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { SettingsView } from '../../../../src/features/settings/view.js';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useData } from '../../api/queries.js';
import { useMayOperate } from '../../app/session.js';
import { DialogForm } from '../../components/dialog.js';
import { useRangeRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from '../protection/editableSection.js';

interface Props {
  account: StaffAccountDetailsView;
}

/** The rate limit of the account: custom, or from the settings; and its weight, which the command line changes. */
export function RateSection({ account }: Props) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  const mayOperate = useMayOperate();
  return (
    <EditableSection
      id="rate"
      mayChange={mayOperate}
      title={t('rate.title')}
      edit={t('rate.edit')}
      now={
        <>
          <Text size="sm">
            {t('rate.value', { rate: whole(account.ratePerMinute) })} ·{' '}
            {t(account.ownRatePerMinute === null ? 'rate.follows' : 'rate.own')}
          </Text>
          <Text size="sm">{t('rate.weight', { weight: whole(account.weight) })}</Text>
        </>
      }
    >
      {(close) => <RateForm account={account} onClose={close} />}
    </EditableSection>
  );
}

function RateForm({ account, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation(['accounts', 'common']);
  const { whole } = useNumbers();
  const { data } = useData<SettingsView>('/staff/settings');
  const { min, max } = data?.bounds.accountRatePerMinute ?? { min: 1, max: 1_000_000 };
  const change = useAccountChange(`/staff/accounts/${account.id}`, onClose);
  const rangeRule = useRangeRule();
  const form = useForm({
    initialValues: { isOwn: account.ownRatePerMinute !== null, rate: account.ratePerMinute },
    validate: {
      rate: (rate, { isOwn }) => (isOwn ? rangeRule(min, max)(rate) : null),
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isOwn, rate }) =>
        change.send({ method: 'PUT', path: '/rate', body: { ratePerMinute: isOwn ? rate : null } }),
      )}
      action={t('common:save')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <Switch
        label={t('rate.switch')}
        description={data && t('rate.setting', { rate: whole(data.settings.accountRatePerMinute) })}
        data-autofocus
        {...form.getInputProps('isOwn', { type: 'checkbox' })}
      />
      {form.values.isOwn && (
        <NumberInput label={t('rate.label')} min={min} max={max} {...form.getInputProps('rate')} />
      )}
    </DialogForm>
  );
}
