-- Writes what `create_sends` has decided: the sends, their units' ledger entries, and what their accounts and applications have left.
create or replace function insert_sends(p_sends new_send[], p_created created_send[], p_now timestamptz) returns void
language plpgsql as $$
declare
  v_today date := p_now at time zone 'UTC';
begin
  if cardinality(p_sends[1].recipient_keys) > 1 then
    -- Workers, who have no pepper, find who verified before under the key that is written now.
    update send_identities i set recipient_key = u.recipient_keys[1] from unnest(p_sends) u
      where i.application_id = u.application_id and i.recipient_key = any (u.recipient_keys[2:]);
  end if;
  with created as materialized (
    select u.*, c.mode, c.locale as language, c.charged_from, c.expires_at, c.awaiting_sender, c.application_number
    from unnest(p_created) c join unnest(p_sends) u using (ordinal)
  ), accounted as (
    update accounts a set sends_created = a.sends_created + c.sends, free_quota = a.free_quota - c.free, credits = a.credits - c.credits,
      units_on = v_today, units_of_day = c.free + c.credits + case when a.units_on = v_today then a.units_of_day else 0 end,
      units_of_month = c.free + c.credits
        + case when date_trunc('month', a.units_on::timestamp) = date_trunc('month', v_today::timestamp) then a.units_of_month else 0 end,
      (minute_times, minute_totals) = (select m.times, m.totals from counted_minute(a.minute_times, a.minute_totals, a.sends_created + c.sends, p_now) m)
    from (
      select account_id, count(*) as sends, count(*) filter (where charged_from = 'free_quota') as free,
        count(*) filter (where charged_from = 'credit') as credits
      from created group by account_id
    ) c where a.id = c.account_id
  ), counted as (
    update applications a set sends_created = c.total,
      (minute_times, minute_totals) = (select m.times, m.totals from counted_minute(a.minute_times, a.minute_totals, c.total, p_now) m)
    from (select application_id, max(application_number) as total from created group by application_id) c where a.id = c.application_id
  ), reserved as (
    insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'reserved', charged_from, 1 from created where charged_from is not null order by ordinal
  )
  insert into sends (
    id, account_id, application_id, mode, application_number, idempotency_key, body_hash, recipient,
    recipient_key, country, locale, charged_from, code_hash, encrypted_code, guess_cost, phase, due_at,
    created_at, expires_at, request_id, traceparent
  ) select id, account_id, application_id, mode, application_number, idempotency_key, body_hashes[1], recipient,
    recipient_keys[1], country, language, charged_from, code_hash, encrypted_code, guess_cost, case when awaiting_sender then 'waiting' else 'ready' end,
    case when awaiting_sender then expires_at else p_now end, p_now, expires_at, request_id, traceparent
  from created;
end
$$;
