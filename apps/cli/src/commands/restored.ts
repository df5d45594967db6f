import type { DeploymentCheck } from '@onecode/domain';
import { cancelDeletion, listApiKeys, revokeApiKey, type ApiKey } from '@onecode/store/accounts';
import { isId, type Database } from '@onecode/store/client';
import { placeHold } from '@onecode/store/holds';
import {
  endProcessesSeenBefore,
  findLostEntries,
  readRestoredState,
  type Actor,
} from '@onecode/store/operations';
import { actor } from '../actor.js';
import { readStandardInput } from '../arguments.js';
import { withDatabase } from '../database.js';
import { UsageError } from '../errors.js';

const REASON = 'restored from a backup: review before releasing';
/** Audit actions without a change that an operator could repeat. */
const NOTHING_TO_REPEAT = /^user\.(?:sign_|confirm_)|\.read$/;

/** The fields of an entry from `audit list --json` that are used here. */
interface PrintedEntry {
  id: string;
  at: Date;
  actor: string;
  action: string;
  subject: string | null;
  details: Record<string, unknown>;
}

/**
 * Holds live sends in a restored database, repeats key revocations and cancelled deletions of accounts, and returns what an operator has to
 * review. It can be repeated.
 *
 * @param audit `-` reads audit entries written after the backup from standard input
 */
export async function examineRestored(audit: '-' | undefined): Promise<DeploymentCheck[]> {
  const who = actor();
  const printed = audit === undefined ? null : parseEntries(await readStandardInput());
  return withDatabase(async (database) => {
    const held = await holdLive(database, who);
    if (printed === null) return [...held, ...(await validKeys(database))];
    const lost = await findLostEntries(database, printed);
    const toDo = printed.filter(({ id, action }) => lost.has(id) && !NOTHING_TO_REPEAT.test(action));
    const isWhole = lost.size < printed.length;
    return [
      ...held,
      !isWhole ? TOO_SHORT : lost.size === 0 ? NOTHING_NEW : describeEnd(printed),
      ...(isWhole && lost.size > 0 ? [] : await validKeys(database)),
      ...(await repeatChanges(database, who, toDo)),
    ];
  });
}

const describeEnd = ([newest]: readonly PrintedEntry[]): DeploymentCheck => ({
  check: 'audit_log',
  ok: true,
  detail: `The given entries end at ${newest!.at.toISOString()}: later changes are unknown.`,
});

/** A file saved from the restored database contains no lost entry. */
const NOTHING_NEW: DeploymentCheck = {
  check: 'audit_log',
  ok: null,
  detail:
    'The database has all given entries. If the file was saved after the restore, give an older one. Changes after the newest entry are unknown.',
};

const TOO_SHORT: DeploymentCheck = {
  check: 'audit_log',
  ok: false,
  detail:
    'The given entries do not reach back to the backup: changes between the backup and the oldest entry are unknown.',
};

function parseEntries(json: string): PrintedEntry[] {
  try {
    const entries = JSON.parse(json) as (Omit<PrintedEntry, 'at'> & { at: string })[];
    return entries.map((entry) => {
      const at = new Date(entry.at);
      if (!/^\d+$/.test(entry.id) || Number.isNaN(at.getTime())) throw new Error('no entry');
      return { ...entry, at };
    });
  } catch {
    throw new UsageError('--audit must be the output of "onecode audit list --json"');
  }
}

async function holdLive(database: Database, who: Actor): Promise<DeploymentCheck[]> {
  const hold = await placeHold(database, who, { kind: 'live', target: '', reason: REASON });
  const isOwn = hold?.reason === REASON;
  const before = isOwn ? hold.since : new Date();
  // Processes started after the restore have written newer rows.
  if (isOwn) await endProcessesSeenBefore(database, before);
  const { newestAt, waiting, lastExpiresAt } = await readRestoredState(database, before);
  const again =
    lastExpiresAt === null
      ? ''
      : ` Some may have been sent before the restore: those released by ${lastExpiresAt.toISOString()} are sent again, those released later fail with a refund.`;
  return [
    {
      check: 'restored',
      ok: true,
      detail:
        newestAt === null ? 'The database is empty.' : `Changes after ${newestAt.toISOString()} are lost.`,
    },
    {
      check: 'hold_live',
      ok: true,
      detail: `Live sends are held until onecode hold release live; ${waiting} wait with an active code.${again}`,
    },
  ];
}

async function validKeys(database: Database): Promise<DeploymentCheck[]> {
  return (await listApiKeys(database, { areInUse: true })).map((key) => ({
    check: `key_${key.id}`,
    ok: null,
    detail: `${describeKey(key)} is valid: revoke it again if it was revoked after the backup.`,
  }));
}

const describeKey = ({ hint, applicationId, createdAt, lastUsedAt }: ApiKey): string =>
  `${hint} of application ${applicationId}, created ${createdAt.toISOString()}, last used ${lastUsedAt?.toISOString() ?? 'never'},`;

/** Repeats the lost changes in `REPEATED`, and lists all others, oldest first. */
async function repeatChanges(
  database: Database,
  who: Actor,
  lost: readonly PrintedEntry[],
): Promise<DeploymentCheck[]> {
  const checks: DeploymentCheck[] = [];
  for (const { id, at, actor, action, subject, details } of lost.toReversed()) {
    const repeat = REPEATED[action];
    const isRepeated =
      repeat !== undefined && subject !== null && isId(subject) && (await repeat(database, who, subject));
    const done = `${at.toISOString()} ${actor}: ${action} ${subject ?? ''} ${JSON.stringify(details)}`;
    checks.push({
      check: `audit_${id}`,
      ok: isRepeated ? true : null,
      detail: `${done} ${isRepeated ? 'has been repeated.' : 'is lost.'}`,
    });
  }
  return checks;
}

/** The changes that are repeated, by audit action. Each function returns whether the change is in effect. */
const REPEATED: Readonly<
  Record<string, (database: Database, who: Actor, subject: string) => Promise<boolean>>
> = {
  'key.revoke': async (...change) => (await revokeApiKey(...change)) !== null,
  // Otherwise workers would delete the account when they start, if its time has passed.
  'account.cancel_deletion': async (...change) => (await cancelDeletion(...change)) !== null,
};
