import { Button, Divider, Group, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SettingsView } from '../../../../src/features/settings/view.js';
import { useData } from '../../api/queries.js';
import { useMayOperate } from '../../app/session.js';
import { AuditTable } from '../audit/auditTable.js';
import { Prices } from '../costs/prices.js';
import { useNumberRule } from '../../hooks/forms.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { NumberField } from '../../components/numberField.js';
import { Page, Section } from '../../components/page.js';
import { ReadOnlyBadge } from '../../components/badges.js';
import { Loaded } from '../../components/states.js';
import { SettingsChange, type NumericSettings } from './settingsChange.js';
import { SettingsFacts } from './settingsFacts.js';
import { StaffTwoFactor } from './staffTwoFactor.js';

/** The value of a field when it is switched on. Of the guess budget: NIST SP 800-63B-4, 3.2.2. */
const INITIAL = {
  guessBudget: 100,
  retainNumbersDays: 90,
  retainSendsDays: 365,
} as const;
type Optional = keyof typeof INITIAL;

export function Settings() {
  const { t } = useTranslation(['settings', 'common']);
  const mayOperate = useMayOperate();
  return (
    <Page title={t('common:nav.settings')} description={t('description')} actions={<ReadOnlyBadge />}>
      <Loaded read={useData<SettingsView>('/staff/settings')}>
        {(data) => (
          <>
            <Section title={t('current')}>
              {mayOperate ? (
                // Remounted when another operator changes a setting.
                <SettingsForm key={JSON.stringify(data.settings)} view={data} />
              ) : (
                <SettingsFacts view={data} />
              )}
            </Section>
            <StaffTwoFactor value={data.settings.staffTwoFactor} />
            <Prices />
            <Section title={t('history')}>
              <AuditTable path="/staff/audit?area=settings" empty={t('unchanged')} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function SettingsForm({ view: { settings: all, bounds, trialSendsToday } }: { view: SettingsView }) {
  const { staffTwoFactor: _apart, ...settings } = all;
  const { t } = useTranslation(['settings', 'common']);
  const { whole } = useNumbers();
  const { seconds: durationText } = useDurations();
  const numberRule = useNumberRule();
  const [asked, setAsked] = useState<NumericSettings | null>(null);
  const form = useForm<NumericSettings>({
    initialValues: settings,
    // The command line accepts values that these pages do not: an unchanged value must not prevent saving the others.
    validate: Object.fromEntries(
      Object.entries(bounds).map(([name, of]) => [
        name,
        (value: number | null) =>
          value === settings[name as keyof NumericSettings] ? null : numberRule(of)(value),
      ]),
    ),
  });

  const field = (name: Exclude<keyof NumericSettings, Optional>) => ({
    label: t(`fields.${name}.label`),
    description: t(`fields.${name}.description`),
    ...bounds[name],
    maw: 480,
    ...form.getInputProps(name),
  });
  const optional = (name: Optional) => (
    <Stack gap="xs" maw={480}>
      <Switch
        label={t(`fields.${name}.switch`)}
        description={t(`fields.${name}.description`)}
        checked={form.values[name] !== null}
        onChange={({ currentTarget: { checked } }) =>
          form.setFieldValue(name, checked ? (settings[name] ?? INITIAL[name]) : null)
        }
      />
      {form.values[name] !== null && (
        <NumberField label={t(`fields.${name}.label`)} {...bounds[name]} {...form.getInputProps(name)} />
      )}
    </Stack>
  );
  const validity: number | string = form.values.codeValiditySeconds;
  return (
    <>
      <form onSubmit={form.onSubmit(setAsked)} noValidate>
        <Stack>
          <NumberField {...field('freeSends')} />
          <NumberField
            {...field('codeValiditySeconds')}
            rightSection={
              <Text c="dimmed" className="tabular">
                {typeof validity === 'number' && durationText(validity)}
              </Text>
            }
            rightSectionWidth={130}
          />
          <NumberField {...field('accountRatePerMinute')} />
          {optional('guessBudget')}
          {optional('retainNumbersDays')}
          {optional('retainSendsDays')}
          <Divider label={t('signUps')} labelPosition="left" maw={480} />
          <NumberField
            {...field('trialSendsPerDay')}
            rightSection={
              <Text c="dimmed" className="tabular">
                {t('usedToday', { formatted: whole(trialSendsToday) })}
              </Text>
            }
            rightSectionWidth={130}
          />
          <NumberField {...field('trialAccountSendsPerDay')} />
          <NumberField {...field('signUpsPerNetworkDay')} />
          <NumberField {...field('signUpsPerDomainDay')} />
          <Group>
            <Button type="submit" disabled={!form.isDirty()}>
              {t('common:save')}
            </Button>
          </Group>
        </Stack>
      </form>
      {asked !== null && <SettingsChange before={settings} after={asked} onClose={() => setAsked(null)} />}
    </>
  );
}
