import type { Database } from './database.js';

/** What operators set for everybody. */
export interface Settings {
  freeSends: number;
  codeValiditySeconds: number;
  accountRatePerMinute: number;
}

/** The bounds of each setting, as the table's checks have them. */
export const SETTING_BOUNDS: Readonly<Record<keyof Settings, { min: number; max: number }>> = {
  freeSends: { min: 0, max: 1_000_000 },
  codeValiditySeconds: { min: 1, max: 5400 },
  accountRatePerMinute: { min: 1, max: 1_000_000 },
};

const SELECTED = { freeSends: true, codeValiditySeconds: true, accountRatePerMinute: true } as const;

/** The settings in force. */
export async function readSettings(database: Database): Promise<Settings> {
  return database.settings.findUniqueOrThrow({ where: { id: true }, select: SELECTED });
}

/** Changes one setting. @throws when the value is not a whole number within the setting's bounds. */
export async function changeSetting(
  database: Database,
  name: keyof Settings,
  value: number,
): Promise<Settings> {
  // Prisma would cut a fraction off and write the rest.
  if (!Number.isInteger(value)) throw new RangeError('a setting is a whole number');
  return database.settings.update({ where: { id: true }, data: { [name]: value }, select: SELECTED });
}
