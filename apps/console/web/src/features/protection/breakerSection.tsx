import { Alert, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ProtectionView } from '../../../../src/features/protection/view.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { Time } from '../../components/times.js';
import { post, put, useAccountChange } from '../../hooks/change.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumberRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { EditableSection } from './editableSection.js';

/** The props of each section that shows a protection of the account. */
export interface ProtectionProps {
  /** The path of the account, below `/api`. */
  path: string;
  protection: ProtectionView;
  mayChange: boolean;
}

type Trip = ProtectionView['trips'][number];

/** The values of the fields when the breaker is switched on. */
const INITIAL = { unverifiedPercent: 90, minSends: 50 };
const BOUNDS = { unverifiedPercent: { min: 1, max: 100 }, minSends: { min: 1, max: 1_000 } };

/** The fraud breaker of the account: its rule, and the countries that it blocked. */
export function BreakerSection(props: ProtectionProps) {
  const { breaker, trips, blockedCountries } = props.protection;
  const { t } = useTranslation('protection');
  const { whole } = useNumbers();
  const ended = trips.filter(({ isOpen }) => !isOpen);
  return (
    <EditableSection
      id="breaker"
      mayChange={props.mayChange}
      title={t('breaker.title')}
      edit={t('breaker.edit')}
      form={<BreakerForm {...props} />}
    >
      <Text>
        {breaker === null
          ? t('limits.off')
          : t('breaker.on', {
              percent: whole(breaker.unverifiedPercent),
              sends: whole(breaker.minSends),
            })}
      </Text>
      {blockedCountries.length > 0 && <Blocked {...props} />}
      {ended.length > 0 && <Ended trips={ended} />}
    </EditableSection>
  );
}

/** The blocked countries, each with the statistics that triggered the block. */
function Blocked({ path, protection: { trips }, mayChange }: ProtectionProps) {
  const { t } = useTranslation(['protection', 'common']);
  return (
    <Alert color="orange" variant="light" title={t('breaker.blocked')}>
      <Stack gap="sm" align="flex-start">
        {trips
          .filter(({ isOpen }) => isOpen)
          .map((trip) => (
            <Evidence key={trip.country} trip={trip} />
          ))}
        {mayChange && (
          <ChangeButton
            title={t('breaker.reset')}
            action={t('breaker.reset')}
            color="brand"
            change={post(`${path}/protection/breaker/reset`)}
            stale={[path, '/staff/accounts', '/staff/audit']}
            done={t('common:saved')}
          >
            {t('breaker.resetWhat')}
          </ChangeButton>
        )}
      </Stack>
    </Alert>
  );
}

function Evidence({ trip }: { trip: Trip }) {
  const { t } = useTranslation('protection');
  const { whole } = useNumbers();
  const nameOf = useCountryName();
  const { country, openUntil, sends, unverified, prefixes } = trip;
  return (
    <Stack gap={2}>
      <Text fw={600} component="div">
        {nameOf(country)} · {t('breaker.until')} <Time at={openUntil} />
      </Text>
      <Text>{t('breaker.verified', { verified: whole(sends - unverified), sends: whole(sends) })}</Text>
      {prefixes.length > 0 && (
        <Text component="div">
          {t('breaker.prefixes')}
          {prefixes.map(({ prefix, ...counts }) => (
            <div key={prefix} className="tabular">
              {prefix}… ·{' '}
              {t('breaker.verified', { verified: whole(counts.verified), sends: whole(counts.sends) })}
            </div>
          ))}
        </Text>
      )}
    </Stack>
  );
}

function Ended({ trips }: { trips: readonly Trip[] }) {
  const { t } = useTranslation(['protection', 'common']);
  const { whole } = useNumbers();
  const nameOf = useCountryName();
  return (
    <DataTable
      label={t('breaker.trips')}
      minWidth={260}
      rows={trips}
      getRowKey={({ country }) => country}
      columns={[
        { title: t('common:words.country'), render: ({ country }) => nameOf(country) },
        { title: t('breaker.columns.at'), render: ({ trippedAt }) => <Time at={trippedAt} wraps /> },
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

function BreakerForm({ path, protection }: ProtectionProps) {
  const { t } = useTranslation('protection');
  const change = useAccountChange(path, useClose());
  const numberRule = useNumberRule();
  const rule =
    (name: keyof typeof BOUNDS) =>
    (value: number, { isOn }: { isOn: boolean }) =>
      isOn ? numberRule(BOUNDS[name])(value) : null;
  const form = useForm({
    initialValues: { isOn: protection.breaker !== null, ...(protection.breaker ?? INITIAL) },
    validate: { unverifiedPercent: rule('unverifiedPercent'), minSends: rule('minSends') },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isOn, ...rule }) =>
        change.mutate(put(`${path}/protection/breaker`, { rule: isOn ? rule : null })),
      )}
      change={change}
    >
      <Switch
        label={t('breaker.title')}
        description={t('breaker.what')}
        data-autofocus
        {...form.getInputProps('isOn', { type: 'checkbox' })}
      />
      {form.values.isOn &&
        (['unverifiedPercent', 'minSends'] as const).map((name) => (
          <NumberField
            key={name}
            label={t(`breaker.fields.${name}`)}
            {...BOUNDS[name]}
            {...form.getInputProps(name)}
          />
        ))}
    </DialogForm>
  );
}
