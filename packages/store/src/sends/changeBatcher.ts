import type { AttemptChange, MessageCost, Send } from '@onecode/domain';
import { createBatcher, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import { Prisma } from '../generated/prisma/client.js';
import { assignments, RECORD_COLUMNS, toSendRecord } from './sendRow.js';

/** A change of a send, written only if its row still has `version`. */
export interface Change {
  before: Send;
  after: Send;
  version: number;
  /** When the change was decided, by the database's clock. */
  at: Date;
  attempts: readonly AttemptChange[];
  /** The price of the message, if this change is the first to report it. */
  cost?: MessageCost | undefined;
}

/** A batch locks the rows of its sends until it commits. */
const CHANGES_MAX = 100;

/**
 * Returns a function that batches changes into one statement, and returns whether its change was written. If a batch has two changes of one
 * send, only the first is tried.
 *
 * @param write returns the ids of the sends that still had the version
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
  /** Extra columns of the records `c` with their types, and the values of a change. */
  records?: { columns: Prisma.Sql; valuesOf: (change: Change) => Record<string, unknown> };
  /** Columns of the sends `s` and the records `c`. */
  returning: Prisma.Sql;
}

/**
 * Returns the first steps of a statement that writes changes of different sends: `changed` returns the sends that still had the version.
 * Every statement locks sends in the order of their ids, so that two cannot deadlock.
 */
export function updateSends(changes: readonly Change[], { records, returning }: UpdateOptions): Prisma.Sql {
  const { lock, lockedIds } = lockSends(changes.length);
  const json = JSON.stringify(
    changes.map((change) => ({
      id: change.before.id,
      version: change.version,
      ...toSendRecord(change.after),
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
 * Returns the step that locks the sends of the step `changes` that still have the version in the change, with one index probe for each send
 * in the order of the ids, and the query of the locked ids. A single send needs no such step: its update locks it.
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
