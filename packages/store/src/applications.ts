import type { Mode } from '@onecode/domain';
import type { Database } from './database.js';
import { newId } from './identifiers.js';

export interface Application {
  id: string;
  accountId: string;
  name: string;
  mode: Mode;
  /** Creation limits of its own; null is off. */
  perMinute: number | null;
  perRecipientHour: number | null;
}

const SELECTED = {
  id: true,
  accountId: true,
  name: true,
  mode: true,
  perMinute: true,
  perRecipientHour: true,
} as const;

/** Makes an application, with its limits off. @returns null when there is no such account */
export async function createApplication(
  database: Database,
  application: { accountId: string; name: string; mode: Mode },
): Promise<Application | null> {
  const account = await database.account.findUnique({
    where: { id: application.accountId },
    select: { id: true },
  });
  if (account === null) return null;
  const made = await database.application.create({ data: { id: newId(), ...application }, select: SELECTED });
  return made as Application;
}

/**
 * Sets an application's creation limits; what is left out stays as it is, null turns a limit off.
 *
 * @returns null when there is no such application
 */
export async function limitApplication(
  database: Database,
  id: string,
  limits: { perMinute?: number | null; perRecipientHour?: number | null },
): Promise<Application | null> {
  const [changed] = await database.application.updateManyAndReturn({
    where: { id },
    data: limits,
    select: SELECTED,
  });
  return (changed as Application | undefined) ?? null;
}
