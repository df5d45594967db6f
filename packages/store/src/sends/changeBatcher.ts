import type { AttemptChange, MessageCost, Send } from '@onecode/domain';
import { createBatcher, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import { Prisma } from '../generated/prisma/client.js';
import { assignments, RECORD_COLUMNS, recordOf } from './sendRow.js';

/** A send as it is to be, if its row still has the version that was decided on. */
export interface Change {
  before: Send;
  after: Send;
  version: number;
  /** When it was decided. */
  at: Date;
  attempts: readonly AttemptChange[];
  /** What the message costs, when this change is the first to report it. */
  cost?: MessageCost | undefined;
}

/** Their rows are locked while the batch lasts. */
const CHANGES_MAX = 100;

/**
 * Batches changes into one statement.
 *
 * @param write returns the ids of the sends whose rows still had the version
 * @returns a function that says whether its change was written. Of two changes of one send in a batch the first is tried; the second
 * has been overtaken then.
 */
export function createChangeBatcher(
  write: (changes: readonly Change[]) => Promise<{ id: string }[]>,
): (change: Change) => Promise<boolean> {
  return createBatcher(
    async (changes: Change[]) => {
      const first = new Map<string, Change>();
      for (const change of changes) if (!first.has(change.before.id)) first.set(change.before.id, change);
      const written = new Set((await write([...first.values()])).map(({ id }) => id));
      return changes.map((change) => first.get(change.before.id) === change && written.has(change.before.id));
    },
    { batchSizeMax: CHANGES_MAX, concurrentBatchesMax: OVERLAPPING_BATCHES_MAX },
  );
}

interface UpdateOptions {
  /** Further columns of the records `c`, with their types, and their values. */
  records?: { columns: Prisma.Sql; valuesOf: (change: Change) => Record<string, unknown> };
  /** Columns of the sends `s` and the records `c`. */
  returning: Prisma.Sql;
}

/**
 * The first steps of a statement that writes changes of different sends: `changed` returns those whose rows still had the version.
 * All statements lock sends in the order of their ids, so that no two wait for each other.
 */
export function updateSends(changes: readonly Change[], { records, returning }: UpdateOptions): Prisma.Sql {
  const { lock, lockedIds } = lockSends(changes.length);
  const json = JSON.stringify(
    changes.map((change) => ({
      id: change.before.id,
      version: change.version,
      ...recordOf(change.after),
      pricing: change.cost?.pricing,
      ...records?.valuesOf(change),
    })),
  );
  return Prisma.sql`
    changes as materialized (
      select * from json_to_recordset(${json}::json)
        as c (id uuid, version integer, pricing jsonb, ${RECORD_COLUMNS} ${records === undefined ? Prisma.empty : Prisma.sql`, ${records.columns}`})
    ), ${lock} changed as (
      update sends s set ${assignments('c')}, pricing = coalesce(s.pricing, c.pricing), version = s.version + 1
      from changes c
      where s.id = any(array(${lockedIds})) and c.id = s.id and c.version = s.version
      returning ${returning}
    )`;
}

/**
 * Returns the step that locks the sends of the step `changes` whose rows still have its `version`, one probe for each in the order of the
 * ids, and the query of the locked ids. A single send needs no such step: its update locks it.
 */
export function lockSends(count: number): { lock: Prisma.Sql; lockedIds: Prisma.Sql } {
  return count === 1 ? { lock: Prisma.empty, lockedIds: ONLY_ID } : { lock: LOCKED, lockedIds: LOCKED_IDS };
}

const LOCKED = Prisma.sql`
  locked as materialized (
    select s.id from (select id, version from changes order by id) c
    cross join lateral (select id from sends where id = c.id and version = c.version for no key update) s
  ),`;
const ONLY_ID = Prisma.sql`select id from changes`;
const LOCKED_IDS = Prisma.sql`select id from locked`;
