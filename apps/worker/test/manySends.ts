import { hashCode, seal } from '@onecode/domain';
import { newId } from '@onecode/store';
import { TEST_PEPPER, TEST_SECRET_KEY } from '@onecode/store/testing';
import type { House } from './house.js';

const CODE = '042913';

export interface ManySends {
  /** All to this one; each to its own unless given. */
  recipient?: string;
  /** Whether they have found no sender already, so that nobody needs to enqueue them. */
  awaitingSender?: boolean;
}

/** Makes many live sends at once, as if each had been created by itself. @returns their ids, oldest first */
export async function makeSends(
  house: House,
  count: number,
  { recipient, awaitingSender = false }: ManySends = {},
): Promise<string[]> {
  const caller = await house.caller('live', { freeQuota: 0, credits: count });
  const ids = Array.from({ length: count }, () => newId());
  await house.db.sql(
    `with made as (
       insert into sends (id, account_id, application_id, mode, account_number, application_number, recipient, canonical_recipient, country,
         locale, charged_from, code_hash, sealed_code, awaiting_sender, due_at, next_enqueue_at, created_at, expires_at)
       select id, $1, $2, 'live', n, n, number, number, 'BR', 'pt-BR', 'credit', hash, box, $4,
         due, due + interval '10 seconds', now(), now() + interval '10 minutes'
       from unnest($5::uuid[], $6::bytea[], $7::bytea[]) with ordinality as t (id, hash, box, n),
         lateral (select case when $4 then now() + interval '10 minutes' else now() end as due,
           coalesce($3, '+55119' || (70000000 + n)) as number) as d
       returning id
     ), entries as (
       insert into ledger_entries (account_id, send_id, kind, bucket, units) select $1, id, 'reserved', 'credit', 1 from made
     ), counted as (
       update applications set sends_created = ${count} where id = $2
     )
     update accounts set sends_created = ${count}, credits = 0 where id = $1`,
    [
      caller.accountId,
      caller.applicationId,
      recipient ?? null,
      awaitingSender,
      ids,
      ids.map((id) => Buffer.from(hashCode(TEST_PEPPER, id, CODE))),
      ids.map((id) => Buffer.from(seal(TEST_SECRET_KEY, id, CODE))),
    ],
  );
  return ids;
}

/** Enqueues all of them at once. */
export async function ringFor(house: House, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => house.enqueue('live', id, 0)));
}

/** Whether nothing is due any more. Asked often, and answered by an index: the machine has enough to do. */
export async function allSettled(house: House): Promise<boolean> {
  return (await house.db.sql('select from sends where next_enqueue_at is not null limit 1')).length === 0;
}
