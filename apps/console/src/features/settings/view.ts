import { SETTING_BOUNDS, type NumericSetting, type Settings } from '@onecode/store';

/** What operators set for everybody, and within which bounds. */
export interface SettingsView {
  settings: Settings;
  bounds: Readonly<Record<NumericSetting, { min: number; max: number }>>;
  /** Of `trialSendsPerDay`, what is used up. */
  trialSendsToday: number;
}

export function settingsView(settings: Settings, trialSendsToday: number): SettingsView {
  return { settings, bounds: SETTING_BOUNDS, trialSendsToday };
}
