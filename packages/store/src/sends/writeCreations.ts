import { afterSends, type CreatedDecision } from '@onecode/domain';
import { KEY_STATE } from '../accounts/apiKeys.js';
import { bytesText, prismaSql } from '../client/sql.js';

/**
 * Writes created sends with their units, ledger entries and counters, through Prisma's client. All sends of an account are written, or none:
 *
 * - The account must have created no other send since the read, must have the units, and must not be locked by another transaction. A batch
 *   does not wait for a locked account, because other accounts share it.
 * - All keys must be valid, which includes that the account is not suspended.
 * - The trial accounts of the batch must be within the daily limit that all trial accounts share. Otherwise none of them creates a send.
 *
 * @param created the created sends by account
 * @returns the ids of the accounts with sends that were not written
 */
export async function writeCreations(
  { prisma }: { prisma: Parameters<typeof prismaSql>[0] },
  created: ReadonlyMap<string, readonly CreatedDecision[]>,
): Promise<Set<string>> {
  const [first] = [...created.values()].flat();
  if (first === undefined) return new Set();
  const records = [...created].map(([accountId, sends]) => accountRecord(accountId, sends));
  const at = first.send.createdAt.toISOString();
  const [{ lost }] = await prismaSql(prisma).query<[{ lost: string[] | null }]>`
    with account_writes as materialized (
      select * from json_to_recordset(${JSON.stringify(records)}::json) as w (
        account_id uuid, sends_before bigint, created integer, free_units integer, credits integer, units_of_day integer,
        units_of_month integer, times json, trial_sends integer, key_ids uuid[], applications json, sends json
      )
    ), clock as materialized (select ${at}::timestamptz as now, (${at}::timestamptz at time zone 'UTC')::date as today),
    unchanged as materialized (
      select w.* from (select * from account_writes order by account_id) w cross join lateral (
        select from accounts o
        where o.id = w.account_id and o.sends_created = w.sends_before
          and (w.free_units = 0 or o.free_quota >= w.free_units) and (w.credits = 0 or o.credits + least(o.free_quota, 0) >= w.credits)
          and 'valid' = all (select (select ${KEY_STATE} from api_keys k where k.id = i.id limit 1) from unnest(w.key_ids) as i (id))
        for no key update skip locked
      ) l
    ), trial as (
      update settings s set trial_sends_on = t.today,
        trial_sends_of_day = case when s.trial_sends_on = t.today then s.trial_sends_of_day else 0 end + w.sends
      from clock t cross join (select sum(trial_sends)::integer as sends from unchanged) w
      where w.sends > 0
        and case when s.trial_sends_on = t.today then s.trial_sends_of_day else 0 end + w.sends <= s.trial_sends_per_day
      returning true as is_written
    ), won as materialized (
      select * from unchanged where trial_sends = 0 or exists (select from trial)
    ), accounted as (
      update accounts a set sends_created = a.sends_created + w.created, free_quota = a.free_quota - w.free_units,
        credits = a.credits - w.credits, units_on = t.today, units_of_day = w.units_of_day, units_of_month = w.units_of_month,
        minute_sends = w.times
      from clock t cross join won w where a.id = w.account_id
    ), counted as (
      -- Apart from creations, only a change of the application's settings locks its row, for milliseconds.
      update applications p set sends_created = c.sends_created, minute_sends = c.times
      from won w cross join lateral json_to_recordset(w.applications) as c (application_id uuid, sends_created bigint, times json)
      where p.id = c.application_id
    ), inserted as (
      insert into sends (
        id, account_id, application_id, mode, application_number, idempotency_key, body_hash, recipient, recipient_key, country, locale,
        charged_from, code_hash, encrypted_code, guess_cost, phase, due_at, created_at, expires_at, request_id, traceparent
      )
      select s.id, w.account_id, s.application_id, s.mode, s.number, s.idempotency_key, s.body_hash, s.recipient, s.recipient_key, s.country,
        s.locale, s.charged_from, s.code_hash, s.encrypted_code, s.guess_cost, s.phase,
        case s.phase when 'waiting' then s.expires_at else t.now end, t.now, s.expires_at, s.request_id, s.traceparent
      from clock t cross join won w cross join lateral json_to_recordset(w.sends) as s (
        id uuid, application_id uuid, mode text, number bigint, idempotency_key bytea, body_hash bytea, recipient text, recipient_key text,
        country text, locale text, charged_from text, code_hash bytea, encrypted_code bytea, guess_cost smallint, phase text,
        expires_at timestamptz, request_id uuid, traceparent text
      )
      returning id, account_id, charged_from
    ), reserved as (
      insert into ledger_entries (account_id, send_id, kind, bucket, units)
      select account_id, id, 'reserved', charged_from, 1 from inserted where charged_from is not null
    )
    select array_agg(account_id::text) as lost from account_writes where account_id not in (select account_id from won)`;
  return new Set(lost);
}

/** The changes of one account and its applications, and its new sends. */
function accountRecord(accountId: string, created: readonly CreatedDecision[]): object {
  const stateAfter = (one: CreatedDecision) => afterSends(one.state, one.request, [one]);
  const [{ state: before }] = created as [CreatedDecision];
  const after = stateAfter(created.at(-1) as CreatedDecision);
  // The last send of each application.
  const applications = new Map(created.map((one) => [one.request.applicationId, one]));
  return {
    account_id: accountId,
    sends_before: before.accountSends,
    created: created.length,
    free_units: before.freeQuota - after.freeQuota,
    credits: before.credits - after.credits,
    units_of_day: after.unitsOfDay,
    units_of_month: after.unitsOfMonth,
    times: after.accountTimes,
    trial_sends: created.filter((one) => one.state.trialCountries !== null).length,
    key_ids: [...new Set(created.map(({ request }) => request.keyId))],
    applications: [...applications].map(([id, one]) => {
      const { applicationSends, applicationTimes } = stateAfter(one);
      return { application_id: id, sends_created: applicationSends, times: applicationTimes };
    }),
    sends: created.map(sendRecord),
  };
}

const sendRecord = ({ request, state, send, locale, chargedFrom }: CreatedDecision): object => ({
  id: request.id,
  application_id: request.applicationId,
  mode: send.mode,
  number: state.applicationSends + 1,
  idempotency_key: request.idempotency && `\\x${request.idempotency.key}`,
  body_hash: request.idempotency && `\\x${request.idempotency.bodyHashes[0]}`,
  recipient: request.recipient,
  recipient_key: request.recipientKey,
  country: request.country,
  locale,
  charged_from: chargedFrom,
  code_hash: bytesText(request.codeHash),
  encrypted_code: request.encryptedCode === null ? undefined : bytesText(request.encryptedCode),
  guess_cost: request.guessCost,
  phase: send.phase,
  expires_at: send.expiresAt,
  request_id: request.requestId,
  traceparent: request.traceparent,
});
