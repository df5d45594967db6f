import type { NumericSetting, Settings } from '@onecode/store/accounts';

/** Settings for all accounts, with their bounds. */
export interface SettingsView {
  settings: Settings;
  bounds: Readonly<Record<NumericSetting, { min: number; max: number }>>;
  /** How much of `trialSendsPerDay` is used today. */
  trialSendsToday: number;
}
