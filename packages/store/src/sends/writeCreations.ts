import type { AccountCreations, CreatedDecision, NewSend } from '@onecode/domain';
import { KEY_STATE } from '../accounts/apiKeys.js';
import { bytesText, prismaSql } from '../client/sql.js';

/**
 * Writes the creations of accounts, decided on what was read at `now`: their sends, units with ledger entries, and counters. An account is
 * written if it has created no other send since it was read, is not suspended, has the units, and all keys are valid. For trial accounts,
 * their shared counter of the day must be unchanged, too. An account or application that another transaction has locked counts as changed,
 * so that no account waits for another.
 *
 * @returns the ids of the accounts with creations that were not written
 */
export async function writeCreations(
  { prisma }: { prisma: Parameters<typeof prismaSql>[0] },
  accounts: ReadonlyMap<string, AccountCreations>,
  now: number,
): Promise<Set<string>> {
  const records = [...accounts]
    .filter(([, { created }]) => created.length > 0)
    .map(([id, account]) => accountRecord(id, account));
  if (records.length === 0) return new Set();
  const at = new Date(now).toISOString();
  const [{ lost }] = await prismaSql(prisma).query<[{ lost: string[] | null }]>`
    with account_writes as materialized (
      select * from json_to_recordset(${JSON.stringify(records)}::json) as w (
        account_id uuid, sends_before bigint, created integer, free_units integer, credits integer, units_of_day integer,
        units_of_month integer, times json, trial_sends integer, trial_sends_before integer, applications json
      )
    ), application_writes as materialized (
      select w.account_id, p.* from account_writes w cross join lateral json_to_recordset(w.applications) as p (
        application_id uuid, mode text, sends_created bigint, times json, key_ids uuid[], sends json
      )
    ), clock as materialized (select ${at}::timestamptz as now, (${at}::timestamptz at time zone 'UTC')::date as today),
    locked as materialized (
      select w.account_id from (
        select * from account_writes w join application_writes p using (account_id) order by account_id, application_id
      ) w cross join lateral (
        select from accounts o cross join applications p
        where o.id = w.account_id and p.id = w.application_id and o.sends_created = w.sends_before
          and (w.free_units = 0 or o.free_quota >= w.free_units) and (w.credits = 0 or o.credits + least(o.free_quota, 0) >= w.credits)
          and 'valid' = all (select (select ${KEY_STATE} from api_keys k where k.id = i.id limit 1) from unnest(w.key_ids) as i (id))
        for no key update of o, p skip locked
      ) l
    ), unchanged as materialized (
      -- An account of which only some applications could be locked is not written.
      select w.* from account_writes w
      where json_array_length(w.applications) = (select count(*) from locked l where l.account_id = w.account_id)
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
    ), won_applications as materialized (
      select p.* from application_writes p join won using (account_id)
    ), counted as (
      update applications p set sends_created = w.sends_created, minute_sends = w.times
      from won_applications w where p.id = w.application_id
    ), inserted as (
      insert into sends (
        id, account_id, application_id, mode, application_number, idempotency_key, body_hash, recipient, recipient_key, country, locale,
        charged_from, code_hash, encrypted_code, guess_cost, phase, due_at, created_at, expires_at, request_id, traceparent
      )
      select s.id, w.account_id, w.application_id, w.mode, s.number, s.idempotency_key, s.body_hash, s.recipient, s.recipient_key, s.country,
        s.locale, s.charged_from, s.code_hash, s.encrypted_code, s.guess_cost, case when s.is_waiting then 'waiting' else 'ready' end,
        case when s.is_waiting then s.expires_at else t.now end, t.now, s.expires_at, s.request_id, s.traceparent
      from clock t cross join won_applications w cross join lateral json_to_recordset(w.sends) as s (
        id uuid, number bigint, idempotency_key bytea, body_hash bytea, recipient text, recipient_key text, country text, locale text,
        charged_from text, code_hash bytea, encrypted_code bytea, guess_cost smallint, is_waiting boolean, expires_at timestamptz,
        request_id uuid, traceparent text
      )
      returning id, account_id, charged_from
    ), reserved as (
      insert into ledger_entries (account_id, send_id, kind, bucket, units)
      select account_id, id, 'reserved', charged_from, 1 from inserted where charged_from is not null
    )
    select array_agg(account_id::text) as lost from account_writes where account_id not in (select account_id from won)`;
  return new Set(lost);
}

/** The changes to an account, with those to each of its applications that has creations. */
function accountRecord(
  accountId: string,
  { state, created, units, trialSends, times, applications }: AccountCreations,
): object {
  const unitsTaken = units.free_quota + units.credit;
  return {
    account_id: accountId,
    sends_before: state.accountSends,
    created: created.length,
    free_units: units.free_quota,
    credits: units.credit,
    units_of_day: state.unitsOfDay + unitsTaken,
    units_of_month: state.unitsOfMonth + unitsTaken,
    times,
    trial_sends: trialSends,
    trial_sends_before: state.trialSendsOfDay,
    applications: [...applications]
      .filter(([, application]) => application.created > 0)
      .map(([applicationId, application]) => {
        const own = created.filter(({ request }) => request.applicationId === applicationId);
        return {
          application_id: applicationId,
          mode: application.state.mode,
          sends_created: application.state.applicationSends + own.length,
          times: application.times,
          key_ids: [...new Set(own.map(({ request }) => request.keyId))],
          sends: own.map(({ request, decision }) => sendRecord(request, decision)),
        };
      }),
  };
}

const sendRecord = (
  send: NewSend,
  { send: { phase, expiresAt }, number, locale, chargedFrom }: CreatedDecision,
): object => ({
  id: send.id,
  number,
  idempotency_key: send.idempotency && `\\x${send.idempotency.key}`,
  body_hash: send.idempotency && `\\x${send.idempotency.bodyHashes[0]}`,
  recipient: send.recipient,
  recipient_key: send.recipientKey,
  country: send.country,
  locale,
  charged_from: chargedFrom,
  code_hash: bytesText(send.codeHash),
  encrypted_code: send.encryptedCode === null ? undefined : bytesText(send.encryptedCode),
  guess_cost: send.guessCost,
  is_waiting: phase === 'waiting',
  expires_at: expiresAt,
  request_id: send.requestId,
  traceparent: send.traceparent,
});
