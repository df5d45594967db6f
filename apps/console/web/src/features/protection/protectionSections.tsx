import { MultiSelect, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Fragment, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'react-router';
import type { ProtectionView } from '../../../../src/features/protection/view.js';
import { useData } from '../../api/queries.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { Loaded } from '../../components/states.js';
import { put, useAccountChange } from '../../hooks/change.js';
import { useCountryChoices, useCountryName } from '../../hooks/countries.js';
import { useNumberRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { BreakerSection, type ProtectionProps } from './breakerSection.js';
import { EditableSection } from './editableSection.js';

/** The protection of an account, for its members and for staff. @param path of the account, below `/api` */
export function ProtectionSections({ path, mayChange }: Omit<ProtectionProps, 'protection'>) {
  return (
    <Loaded read={useData<ProtectionView>(`${path}/protection`)}>
      {(protection) => <Sections path={path} protection={protection} mayChange={mayChange} />}
    </Loaded>
  );
}

function Sections(props: ProtectionProps) {
  const { hash } = useLocation();
  useEffect(() => {
    document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [hash]);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <CountriesSection {...props} />
      <PremiumRateSection {...props} />
      <CeilingsSection {...props} />
      <BreakerSection {...props} />
    </SimpleGrid>
  );
}

/** The countries that the account may send to. */
function CountriesSection(props: ProtectionProps) {
  const { allowedCountries, trialCountries } = props.protection;
  const { t, i18n } = useTranslation('protection');
  const nameOf = useCountryName();
  const named = (codes: readonly string[]): string =>
    new Intl.ListFormat(i18n.language, { type: 'conjunction' }).format(codes.map(nameOf));
  return (
    <EditableSection
      id="countries"
      mayChange={props.mayChange}
      title={t('countries.title')}
      edit={t('countries.edit')}
      form={<CountriesForm {...props} />}
    >
      <Text>{allowedCountries === null ? t('countries.all') : named(allowedCountries)}</Text>
      {trialCountries !== null && (
        <Text c="dimmed">{t('countries.trial', { countries: named(trialCountries) })}</Text>
      )}
    </EditableSection>
  );
}

function CountriesForm({ path, protection }: ProtectionProps) {
  const { t } = useTranslation(['protection', 'common', 'auth']);
  const choices = useCountryChoices(protection.countryChoices);
  const change = useAccountChange(path, useClose());
  const form = useForm({
    initialValues: {
      isLimited: protection.allowedCountries !== null,
      countries: protection.allowedCountries ?? [],
    },
    validate: {
      countries: (countries, { isLimited }) =>
        isLimited && countries.length === 0 ? t('auth:countries.missing') : null,
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isLimited, countries }) =>
        change.mutate(put(`${path}/protection/countries`, { countries: isLimited ? countries : null })),
      )}
      change={change}
    >
      <Switch
        label={t('countries.switch')}
        description={t('countries.what')}
        data-autofocus
        {...form.getInputProps('isLimited', { type: 'checkbox' })}
      />
      {form.values.isLimited && (
        <MultiSelect
          label={t('countries.label')}
          data={choices}
          searchable
          hidePickedOptions
          nothingFoundMessage={t('common:picker.nothing')}
          {...form.getInputProps('countries')}
        />
      )}
    </DialogForm>
  );
}

/** Whether the account may send to numbers that can earn their owners money. */
function PremiumRateSection(props: ProtectionProps) {
  const { allowsPremiumRate, trialCountries } = props.protection;
  const { t } = useTranslation('protection');
  return (
    <EditableSection
      id="premium-rate"
      mayChange={props.mayChange}
      title={t('premiumRate.title')}
      edit={t('premiumRate.edit')}
      form={<PremiumRateForm {...props} />}
    >
      <Text>{t(allowsPremiumRate ? 'premiumRate.allowed' : 'premiumRate.refused')}</Text>
      {trialCountries !== null && <Text c="dimmed">{t('premiumRate.trial')}</Text>}
    </EditableSection>
  );
}

function PremiumRateForm({ path, protection }: ProtectionProps) {
  const { t } = useTranslation('protection');
  const change = useAccountChange(path, useClose());
  const form = useForm({ initialValues: { isRefused: !protection.allowsPremiumRate } });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isRefused }) =>
        change.mutate(put(`${path}/protection/premium-rate`, { isAllowed: !isRefused })),
      )}
      change={change}
    >
      <Switch
        label={t('premiumRate.switch')}
        description={t('premiumRate.what')}
        data-autofocus
        {...form.getInputProps('isRefused', { type: 'checkbox' })}
      />
    </DialogForm>
  );
}

/** The periods of the ceilings, with the value of the field when one is switched on. */
const PERIODS = { unitsPerDay: 1_000, unitsPerMonth: 20_000 } as const;
type Period = keyof typeof PERIODS;
const NAMES = Object.keys(PERIODS) as Period[];
const BOUNDS = { min: 0, max: 1_000_000_000 };

/** The account's ceilings of units, and the used units. */
function CeilingsSection(props: ProtectionProps) {
  const { protection } = props;
  const { t } = useTranslation('protection');
  const { whole } = useNumbers();
  const used = { unitsPerDay: protection.unitsToday, unitsPerMonth: protection.unitsThisMonth };
  const line = (name: Period): string => {
    const [ceiling, units] = [protection[name], whole(used[name])];
    return ceiling === null
      ? t(`ceilings.${name}.off`, { units })
      : t(`ceilings.${name}.on`, { units, ceiling: whole(ceiling) });
  };
  const isUsedUp = (name: Period): boolean => used[name] >= (protection[name] ?? Infinity);
  return (
    <EditableSection
      id="ceilings"
      mayChange={props.mayChange}
      title={t('ceilings.title')}
      edit={t('ceilings.edit')}
      form={<CeilingsForm {...props} />}
    >
      <Stack gap={4}>
        {NAMES.map((name) => (
          <Text key={name} fw={isUsedUp(name) ? 600 : 400}>
            {line(name)}
            {isUsedUp(name) && ` ${t('ceilings.usedUp')}`}
          </Text>
        ))}
        <Text c="dimmed">{t('ceilings.what')}</Text>
      </Stack>
    </EditableSection>
  );
}

function CeilingsForm({ path, protection }: ProtectionProps) {
  const { unitsPerDay, unitsPerMonth } = protection;
  const { t } = useTranslation('protection');
  const { whole } = useNumbers();
  const used = { unitsPerDay: protection.unitsToday, unitsPerMonth: protection.unitsThisMonth };
  const change = useAccountChange(path, useClose());
  const rule = useNumberRule()(BOUNDS);
  const form = useForm<Record<Period, number | null>>({
    initialValues: { unitsPerDay, unitsPerMonth },
    validate: { unitsPerDay: rule, unitsPerMonth: rule },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) => change.mutate(put(`${path}/protection/ceilings`, body)))}
      change={change}
    >
      {NAMES.map((name, index) => (
        <Fragment key={name}>
          <Switch
            label={t(`ceilings.${name}.switch`)}
            checked={form.values[name] !== null}
            onChange={({ currentTarget: { checked } }) =>
              form.setFieldValue(name, checked ? PERIODS[name] : null)
            }
            {...(index === 0 && { 'data-autofocus': true })}
          />
          {form.values[name] !== null && (
            <div>
              <NumberField
                label={t(`ceilings.${name}.label`)}
                description={t(`ceilings.${name}.used`, { units: whole(used[name]) })}
                {...BOUNDS}
                {...form.getInputProps(name)}
              />
              <Text size="sm" fw={550} c="var(--mantine-color-orange-light-color)" role="status">
                {(form.values[name] ?? Infinity) <= used[name] && t(`ceilings.${name}.reached`)}
              </Text>
            </div>
          )}
        </Fragment>
      ))}
    </DialogForm>
  );
}
