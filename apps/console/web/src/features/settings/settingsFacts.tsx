import { Divider, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SettingsView } from '../../../../src/features/settings/view.js';
import { ReadOnlySetting } from '../../components/facts.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';

type Name = Exclude<keyof SettingsView['settings'], 'staffTwoFactor'>;

const GENERAL = [
  'freeSends',
  'codeValiditySeconds',
  'accountRatePerMinute',
  'guessBudget',
  'retainNumbersDays',
  'retainSendsDays',
] as const satisfies readonly Name[];
const SIGN_UPS = [
  'trialSendsPerDay',
  'trialAccountSendsPerDay',
  'signUpsPerNetworkDay',
  'signUpsPerDomainDay',
] as const satisfies readonly Name[];

/** The settings for staff who may not change them. */
export function SettingsFacts({ view: { settings, trialSendsToday } }: { view: SettingsView }) {
  const { t } = useTranslation('settings');
  const { whole } = useNumbers();
  const { seconds: durationText } = useDurations();
  const valueOf = (name: Name): string => {
    const value = settings[name];
    if (value === null) return t('off');
    if (name === 'codeValiditySeconds') return `${whole(value)} (${durationText(value)})`;
    const usedToday = name === 'trialSendsPerDay' && t('usedToday', { formatted: whole(trialSendsToday) });
    return [whole(value), usedToday].filter(Boolean).join(', ');
  };
  const list = (names: readonly Name[]) => (
    <Stack component="dl" m={0}>
      {names.map((name) => (
        <ReadOnlySetting
          key={name}
          label={t(`fields.${name}.label`)}
          description={t(`fields.${name}.description`)}
        >
          {valueOf(name)}
        </ReadOnlySetting>
      ))}
    </Stack>
  );
  return (
    <Stack>
      {list(GENERAL)}
      <Divider label={t('signUps')} labelPosition="left" maw={480} />
      {list(SIGN_UPS)}
    </Stack>
  );
}
