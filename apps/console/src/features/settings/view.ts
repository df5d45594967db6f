import { SETTING_BOUNDS, type NumericSetting, type Settings } from '@onecode/store';

/** Settings for all accounts, with their bounds. */
export interface SettingsView {
  settings: Settings;
  bounds: Readonly<Record<NumericSetting, { min: number; max: number }>>;
  /** How much of `trialSendsPerDay` is used today. */
  trialSendsToday: number;
}

export function settingsView(settings: Settings, trialSendsToday: number): SettingsView {
  return { settings, bounds: SETTING_BOUNDS, trialSendsToday };
}
