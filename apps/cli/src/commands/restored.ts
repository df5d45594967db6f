import type { DeploymentCheck } from '@onecode/domain';
import { listValidKeys, revokeApiKey, type ApiKey } from '@onecode/store/accounts';
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

const REASON = 'restored: what came back is looked at first';
/** Entries that changed nothing which could be done again. */
const PASSING = /^user\.(?:sign_|confirm_)|\.read$/;

/** An entry as `audit list --json` prints it, as far as it is used here. */
interface PrintedEntry {
  id: string;
  at: Date;
  actor: string;
  action: string;
  subject: string | null;
  details: Record<string, unknown>;
}

/**
 * Holds live sends in a database that was restored, revokes keys again, and says what is left to look at. It may run again.
 *
 * @param audit `-` reads the audit log of the lost time from standard input
 */
export async function examineRestored(audit: '-' | undefined): Promise<DeploymentCheck[]> {
  const who = actor();
  const printed = audit === undefined ? null : parseEntries(await readStandardInput());
  return withDatabase(async (database) => {
    const held = await holdLive(database, who);
    if (printed === null) return [...held, ...(await validKeys(database))];
    const lost = await findLostEntries(database, printed);
    const toDo = printed.filter(({ id, action }) => lost.has(id) && !PASSING.test(action));
    const isWhole = lost.size < printed.length;
    return [
      ...held,
      isWhole ? endOf(printed) : TOO_SHORT,
      ...(isWhole ? [] : await validKeys(database)),
      ...(await redo(database, who, toDo)),
    ];
  });
}

const endOf = ([newest]: readonly PrintedEntry[]): DeploymentCheck => ({
  check: 'audit_log',
  ok: true,
  detail: `It was given until ${newest!.at.toISOString()}: what was done later is not known.`,
});

const TOO_SHORT: DeploymentCheck = {
  check: 'audit_log',
  ok: false,
  detail: 'It was not given back to the backup: what was done between them is not known.',
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
    throw new UsageError('--audit must be what "onecode audit list --json" printed');
  }
}

async function holdLive(database: Database, who: Actor): Promise<DeploymentCheck[]> {
  const hold = await placeHold(database, who, { kind: 'live', target: '', reason: REASON });
  const isOwn = hold?.reason === REASON;
  const before = isOwn ? hold.since : new Date();
  // Those that were started since have told of themselves since.
  if (isOwn) await endProcessesSeenBefore(database, before);
  const { newestAt, waiting, lastExpiresAt } = await readRestoredState(database, before);
  const again =
    lastExpiresAt === null
      ? ''
      : ` They may have gone out before: those released by ${lastExpiresAt.toISOString()} go out again, later ones fail and return their unit.`;
  return [
    {
      check: 'restored',
      ok: true,
      detail:
        newestAt === null ? 'The database is empty.' : `What came after ${newestAt.toISOString()} is gone.`,
    },
    {
      check: 'hold_live',
      ok: true,
      detail: `Live sends are held until onecode hold release live; ${waiting} wait with a code that lives.${again}`,
    },
  ];
}

async function validKeys(database: Database): Promise<DeploymentCheck[]> {
  return (await listValidKeys(database)).map((key) => ({
    check: `key_${key.id}`,
    ok: null,
    detail: `${describeKey(key)} is valid: revoke it again if it was revoked since.`,
  }));
}

const describeKey = ({ hint, applicationId, createdAt, lastUsedAt }: ApiKey): string =>
  `${hint} of application ${applicationId}, made ${createdAt.toISOString()}, last used ${lastUsedAt?.toISOString() ?? 'never'},`;

/** Revokes the keys again that were revoked in the lost time, and lists all else that was done in it, oldest first. */
async function redo(
  database: Database,
  who: Actor,
  lost: readonly PrintedEntry[],
): Promise<DeploymentCheck[]> {
  const checks: DeploymentCheck[] = [];
  for (const entry of lost.toReversed()) {
    const { id, at, action, subject } = entry;
    const isRevoked =
      action === 'key.revoke' &&
      subject !== null &&
      isId(subject) &&
      (await revokeApiKey(database, who, subject)) !== null;
    const done = `${at.toISOString()} ${entry.actor}: ${action} ${subject ?? ''} ${JSON.stringify(entry.details)}`;
    checks.push({
      check: `audit_${id}`,
      ok: isRevoked ? true : null,
      detail: `${done} ${isRevoked ? 'is done again.' : 'is gone.'}`,
    });
  }
  return checks;
}
