import { encrypt, hashCode } from '@onecode/domain';
import { newId } from '@onecode/store/client';
import { TEST_PEPPER, TEST_SECRET_KEY, type TestCaller } from '@onecode/testing';
import type { WorkerEnvironment } from './workerEnvironment.js';

const CODE = '042913';

interface ManySends {
  /** The number before the first recipient; the first recipient is +5511970000001 by default. */
  recipientsFrom?: number;
  /** The caller of the sends. By default, a new caller with as many credits. */
  caller?: TestCaller;
  /** `waiting` sends wait for a sender, and need no job. */
  phase?: 'ready' | 'waiting';
}

/** Inserts many live sends in one statement, as if they had been created one by one. @returns their ids, oldest first */
export async function makeSends(
  environment: WorkerEnvironment,
  count: number,
  { recipientsFrom = 70_000_000, phase = 'ready', ...rest }: ManySends = {},
): Promise<string[]> {
  const caller = rest.caller ?? (await environment.newCaller('live', { freeQuota: 0, credits: count }));
  const ids = Array.from({ length: count }, () => newId());
  await environment.db.sql(
    `with made as (
       insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key, country,
         locale, charged_from, code_hash, encrypted_code, phase, due_at, created_at, expires_at)
       select id, gen_random_uuid(), $1, $2, 'live', n, number, '1:' || lpad(ltrim(number, '+'), 22, '0'), 'BR', 'pt-BR', 'credit', hash, box, $3,
         due, now(), now() + interval '10 minutes'
       from unnest($4::uuid[], $5::bytea[], $6::bytea[]) with ordinality as t (id, hash, box, n),
         lateral (select case when $3 = 'waiting' then now() + interval '10 minutes' else now() end as due,
           '+55119' || (${recipientsFrom} + n) as number) as d
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
      phase,
      ids,
      ids.map((id) => Buffer.from(hashCode(TEST_PEPPER, id, CODE))),
      ids.map((id) => Buffer.from(encrypt(TEST_SECRET_KEY, id, CODE))),
    ],
  );
  return ids;
}

/** Enqueues all sends concurrently. */
export async function enqueueAll(environment: WorkerEnvironment, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => environment.enqueue('live', id)));
}

/** Returns whether no send is due. Tests poll this, so the query uses an index. */
export async function isNothingDue(environment: WorkerEnvironment): Promise<boolean> {
  return (await environment.db.sql('select from sends where due_at is not null limit 1')).length === 0;
}
