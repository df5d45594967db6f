import { Alert, Button, Group, NumberInput, Switch, Table, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useMayOperate } from '../../app/session.js';
import { useCountryName } from '../../hooks/countries.js';
import { Confirm, DialogForm } from '../../components/dialog.js';
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
  const { t, i18n } = useTranslation('accounts');
  const nameOf = useCountryName();
  const mayOperate = useMayOperate();
  const [confirming, setConfirming] = useState(false);
  const change = useAccountChange(account.id, () => setConfirming(false));
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
      <Confirm
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t('breaker.reset')}
        color="brand"
        action={t('breaker.reset')}
        pending={change.pending}
        problem={change.problem}
        onConfirm={() => change.send({ method: 'POST', path: '/breaker/reset' })}
      >
        {t('breaker.resetWhat')}
      </Confirm>
    </Alert>
  );
}

function Trips({ trips }: { trips: StaffAccountDetailsView['trips'] }) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  const nameOf = useCountryName();
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing="xs" aria-label={t('breaker.trips')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('breaker.columns.country')}</Table.Th>
            <Table.Th>{t('breaker.columns.at')}</Table.Th>
            <Table.Th ta="right">{t('breaker.columns.unverified')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {trips.map((trip) => (
            <Table.Tr key={trip.country}>
              <Table.Td>{nameOf(trip.country)}</Table.Td>
              <Table.Td>
                <Time at={trip.trippedAt} />
              </Table.Td>
              <Table.Td ta="right">
                {t('breaker.evidence', {
                  unverified: whole(trip.unverified),
                  sends: whole(trip.sends),
                })}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function BreakerForm({ account, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation(['accounts', 'common']);
  const { whole } = useNumbers();
  const change = useAccountChange(account.id, onClose);
  const rule =
    (name: keyof typeof BOUNDS) =>
    (value: number, { isOn }: { isOn: boolean }) => {
      const { min, max } = BOUNDS[name];
      const isValid = !isOn || (Number.isInteger(value) && value >= min && value <= max);
      return isValid ? null : t('common:rules.range', { min: whole(min), max: whole(max) });
    };
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
            allowDecimal={false}
            clampBehavior="none"
            {...form.getInputProps(name)}
          />
        ))}
    </DialogForm>
  );
}
