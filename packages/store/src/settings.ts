import { audited, type Actor } from './audit.js';
import { pointReads, type Connection, type Database } from './database.js';

/** What operators set for everybody. */
export interface Settings {
  freeSends: number;
  codeValiditySeconds: number;
  accountRatePerMinute: number;
  /** Wrong codes in a row after which a recipient gets no new code; null is off. */
  guessBudget: number | null;
}

/** The bounds of each setting, as the table's checks have them. */
export const SETTING_BOUNDS: Readonly<Record<keyof Settings, { min: number; max: number }>> = {
  freeSends: { min: 0, max: 1_000_000 },
  codeValiditySeconds: { min: 1, max: 5400 },
  accountRatePerMinute: { min: 1, max: 1_000_000 },
  guessBudget: { min: 5, max: 100 },
};

const SELECTED = {
  freeSends: true,
  codeValiditySeconds: true,
  accountRatePerMinute: true,
  guessBudget: true,
} as const;

/** The settings in force. */
export async function readSettings(database: Connection): Promise<Settings> {
  const [settings] = await pointReads(database).$queryRaw<[Settings]>`
    select free_sends as "freeSends", code_validity_seconds as "codeValiditySeconds",
      account_rate_per_minute as "accountRatePerMinute", guess_budget as "guessBudget"
    from settings`;
  return settings;
}

/**
 * Changes one setting.
 *
 * @throws when the value is neither a whole number within the setting's bounds nor a null that it allows
 */
export async function changeSetting<Name extends keyof Settings>(
  database: Database,
  actor: Actor,
  name: Name,
  value: Settings[Name],
): Promise<Settings> {
  // Prisma would cut a fraction off and write the rest.
  if (value !== null && !Number.isInteger(value)) throw new RangeError('a setting is a whole number');
  return audited(database, actor, async (connection) => {
    await connection.$executeRaw`select from settings for no key update`;
    const before = await readSettings(connection);
    const after = await connection.settings.update({
      where: { id: true },
      data: { [name]: value },
      select: SELECTED,
    });
    const details = { name, before: before[name], after: after[name] };
    const note = { action: 'settings.change', accountId: null, subject: name, details };
    return { result: after, note: before[name] === after[name] ? null : note };
  });
}
