import type { ValidityConflict } from '@onecode/domain';
import type { NumericSetting, SettingEffects, Settings } from '@onecode/store/accounts';

/** Settings for all accounts, with their bounds. */
export interface SettingsView {
  settings: Settings;
  bounds: Readonly<Record<NumericSetting, { min: number; max: number }>>;
  /** How much of `trialSendsPerDay` is used today. */
  trialSendsToday: number;
}

/** The effects of changed settings, before they are saved. */
export interface SettingEffectsView extends SettingEffects {
  /** A count that equals this means "this many or more". */
  countMax: number;
  /** Templates that would not fit the new validity of codes. */
  templates: (ValidityConflict & { number: string; name: string; language: string })[];
}
