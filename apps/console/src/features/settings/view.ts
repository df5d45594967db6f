import type { ValidityConflict } from '@onecode/domain';
import type { NumericSetting, Settings } from '@onecode/store/accounts';

/** Settings for all accounts, with their bounds. */
export interface SettingsView {
  settings: Settings;
  bounds: Readonly<Record<NumericSetting, { min: number; max: number }>>;
  /** How much of `trialSendsPerDay` is used today. */
  trialSendsToday: number;
}

/** A sender's template that does not fit a validity of codes. */
export type ConflictingTemplate = ValidityConflict & { number: string; name: string; language: string };
