import { Alert, Button, Group, NumberInput, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useMayOperate } from '../../app/session.js';
import { useCountryName } from '../../hooks/countries.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogForm } from '../../components/dialog.js';
import { useRangeRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from './editableSection.js';

interface Props {
  account: StaffAccountDetailsView;
}

/** The values of the fields when the breaker is switched on. */
const INITIAL = { unverifiedPercent: 90, minSends: 50 };
const BOUNDS = { unverifiedPercent: { min: 1, max: 100 }, minSends: { min: 1, max: 1_000 } };

/** The fraud breaker of the account: its rule, and the countries that it stopped. */
export function BreakerSection({ account }: Props) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  const { breaker, trips } = account;
  return (
    <EditableSection
      title={t('breaker.title')}
      edit={t('breaker.edit')}
      now={
        <>
          <Text size="sm">
            {breaker === null
              ? t('breaker.off')
              : t('breaker.on', {
                  percent: whole(breaker.unverifiedPercent),
                  sends: whole(breaker.minSends),
                })}
          </Text>
          {account.stoppedCountries.length > 0 && <Stopped account={account} />}
          {trips.length > 0 && <Trips trips={trips} />}
        </>
      }
    >
      {(close) => <BreakerForm account={account} onClose={close} />}
    </EditableSection>
  );
}

function Stopped({ account }: Props) {
  const { t, i18n } = useTranslation(['accounts', 'common']);
  const nameOf = useCountryName();
  const mayOperate = useMayOperate();
  const [confirming, setConfirming] = useState(false);
  const names = new Intl.ListFormat(i18n.language, { type: 'conjunction' });
  return (
    <Alert color="orange" variant="light">
      <Group justify="space-between">
        <Text size="sm">
          {t('breaker.stopped', { countries: names.format(account.stoppedCountries.map(nameOf)) })}{' '}
          {account.stoppedUntil !== null && <Time at={account.stoppedUntil} />}
        </Text>
        {mayOperate && (
          <Button size="xs" variant="default" onClick={() => setConfirming(true)}>
            {t('breaker.reset')}
          </Button>
        )}
      </Group>
      <ConfirmChange
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t('breaker.reset')}
        color="brand"
        action={t('breaker.reset')}
        change={{ method: 'POST', path: `/staff/accounts/${account.id}/breaker/reset` }}
        stale={['/staff/accounts', '/staff/audit']}
        done={t('common:saved')}
      >
        {t('breaker.resetWhat')}
      </ConfirmChange>
    </Alert>
  );
}

function Trips({ trips }: { trips: StaffAccountDetailsView['trips'] }) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  const nameOf = useCountryName();
  return (
    <DataTable
      label={t('breaker.trips')}
      rows={trips}
      keyOf={({ country }) => country}
      columns={[
        { title: t('breaker.columns.country'), render: ({ country }) => nameOf(country) },
        { title: t('breaker.columns.at'), render: ({ trippedAt }) => <Time at={trippedAt} /> },
        {
          title: t('breaker.columns.unverified'),
          ta: 'right',
          render: ({ unverified, sends }) =>
            t('breaker.evidence', { unverified: whole(unverified), sends: whole(sends) }),
        },
      ]}
    />
  );
}

function BreakerForm({ account, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation(['accounts', 'common']);
  const change = useAccountChange(account.id, onClose);
  const rangeRule = useRangeRule();
  const rule =
    (name: keyof typeof BOUNDS) =>
    (value: number, { isOn }: { isOn: boolean }) =>
      isOn ? rangeRule(BOUNDS[name].min, BOUNDS[name].max)(value) : null;
  const form = useForm({
    initialValues: { isOn: account.breaker !== null, ...(account.breaker ?? INITIAL) },
    validate: { unverifiedPercent: rule('unverifiedPercent'), minSends: rule('minSends') },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isOn, ...rule }) =>
        change.send({ method: 'PUT', path: '/breaker', body: { rule: isOn ? rule : null } }),
      )}
      action={t('common:save')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <Switch
        label={t('breaker.switch')}
        description={t('breaker.what')}
        data-autofocus
        {...form.getInputProps('isOn', { type: 'checkbox' })}
      />
      {form.values.isOn &&
        (['unverifiedPercent', 'minSends'] as const).map((name) => (
          <NumberInput
            key={name}
            label={t(`breaker.fields.${name}`)}
            {...BOUNDS[name]}
            {...form.getInputProps(name)}
          />
        ))}
    </DialogForm>
  );
}
