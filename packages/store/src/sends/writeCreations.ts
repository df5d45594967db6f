import { addSends, unitsFrom, type CreatedDecision } from '@onecode/domain';
import { KEY_STATE } from '../accounts/apiKeys.js';
import { bytesText, prismaSql } from '../client/sql.js';

/**
 * Writes created sends with their units, ledger entries and counters. All sends of an account are written, or none:
 *
 * - The account must have created no other send since the read, must have the units, and must not be locked by another transaction. A batch
 *   does not wait for a locked account, because other accounts share it.
 * - All keys must be valid, which includes that the account is not suspended.
 * - For a trial account, the daily counter that all trial accounts share must be unchanged.
 *
 * @param created the created sends by account
 * @param now when the data was read from which the sends were decided
 * @returns the ids of the accounts with sends that were not written
 */
export async function writeCreations(
  { prisma }: { prisma: Parameters<typeof prismaSql>[0] },
  created: ReadonlyMap<string, readonly CreatedDecision[]>,
  now: number,
): Promise<Set<string>> {
  const records = [...created].map(([accountId, sends]) => accountRecord(accountId, sends, now));
  if (records.length === 0) return new Set();
  const at = new Date(now).toISOString();
  const [{ lost }] = await prismaSql(prisma).query<[{ lost: string[] | null }]>`
    with account_writes as materialized (
      select * from json_to_recordset(${JSON.stringify(records)}::json) as w (
        account_id uuid, sends_before bigint, created integer, free_units integer, credits integer, units_of_day integer,
        units_of_month integer, times json, trial_sends integer, trial_sends_before integer, key_ids uuid[], applications json, sends json
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
      update settings s set trial_sends_on = t.today, trial_sends_of_day = w.before + w.sends
      from clock t cross join (
        select sum(trial_sends)::integer as sends, max(trial_sends_before) as before from unchanged where trial_sends > 0
      ) w where w.sends > 0 and w.before = case when s.trial_sends_on = t.today then s.trial_sends_of_day else 0 end
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
function accountRecord(accountId: string, created: readonly CreatedDecision[], now: number): object {
  const [{ state }] = created as [CreatedDecision];
  const units = { free_quota: unitsFrom('free_quota', created), credit: unitsFrom('credit', created) };
  const unitsTaken = units.free_quota + units.credit;
  return {
    account_id: accountId,
    sends_before: state.accountSends,
    created: created.length,
    free_units: units.free_quota,
    credits: units.credit,
    units_of_day: state.unitsOfDay + unitsTaken,
    units_of_month: state.unitsOfMonth + unitsTaken,
    times: addSends(state.accountTimes, created.length, now),
    trial_sends: created.filter((one) => one.state.trialCountries !== null).length,
    trial_sends_before: state.trialSendsOfDay,
    key_ids: [...new Set(created.map(({ request }) => request.keyId))],
    // The last send of an application has its highest number.
    applications: [...new Map(created.map((one) => [one.request.applicationId, one]))].map(([id, last]) => ({
      application_id: id,
      sends_created: last.number,
      times: addSends(last.state.applicationTimes, last.number - last.state.applicationSends, now),
    })),
    sends: created.map(sendRecord),
  };
}

const sendRecord = ({ request, send, number, locale, chargedFrom }: CreatedDecision): object => ({
  id: request.id,
  application_id: request.applicationId,
  mode: send.mode,
  number,
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
