-- The sends that wait for a shared sender whose accounts have the next turns, in their order, with the turns' virtual times. Start-time fair
-- queueing (Goyal, Vin, Cheng 1996): a turn starts when the account's previous one ends, or now (when the latest turn that was given
-- started) if that is over; it lasts 1 / weight; the turn that starts first is next, of equals that of the account whose previous turn is
-- longest ago, as new flows come first in FQ-CoDel (RFC 8290). So an account that was quiet is next, whatever the others have waiting, and
-- none saves turns up. Of an account's sends, the one whose code lives longest is first: the newest, whose person is still there.
--
-- Beside them, the sends that an account's own senders may serve: `is_own`. Nobody else waits for these, so they take no turn, and neither
-- wait for one. The limit is divided among the shared senders and the accounts with senders of their own, one send of each after the other.
-- The sends of an account that is `own-first` are `is_own` while one of its own senders has a slot within the horizon, and else take turns.
--
-- Jumps along the index from group to group, and reads none while no sender has a slot within the horizon or everything is held. A
-- send that no sender may serve has no turn. Neither has one whose recipient may get no message for now: `opens_at` says until when.
create or replace function next_turns(p_limit integer, p_now timestamptz, p_horizon interval)
returns setof next_turn
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query with recursive held as materialized (
    select active_holds() as holds
  ), stopped as materialized (
    select * from active_stops(p_now) t where t.opens_at > p_now + p_horizon
  ), available as materialized (
    select r.id, r.account_id, r.application_ids, array(
      select t.only_for from stopped t where t.only_for <> '' and t.subject = stop_subject(t.scope, r.id, r.business_account_id)
    ) as closed
    from senders r left join send_slots s on s.sender_id = r.id
    where r.removed_at is null and coalesce(s.free_at <= p_now + p_horizon, true) and not exists (
      select from stopped t where t.only_for = '' and t.subject = stop_subject(t.scope, r.id, r.business_account_id)
    )
  ), groups as (
    (
      select w.account_id, w.application_id, coalesce(w.country, 'ZZ') as country, w.locale,
        is_worth_sending(w.created_at, w.expires_at, p_now + p_horizon) as is_worth
      from sends w
      where (select count(*) from available) > 0 and not (select (holds).all_live from held) and w.awaiting_sender
      order by w.account_id, w.application_id, coalesce(w.country, 'ZZ'), w.locale, w.expires_at desc limit 1
    ) union all
    select n.* from groups g cross join lateral (
      select w.account_id, w.application_id, coalesce(w.country, 'ZZ') as country, w.locale,
        is_worth_sending(w.created_at, w.expires_at, p_now + p_horizon) as is_worth
      from sends w
      where w.awaiting_sender
        and (w.account_id, w.application_id, coalesce(w.country, 'ZZ'), w.locale) > (g.account_id, g.application_id, g.country, g.locale)
      order by w.account_id, w.application_id, coalesce(w.country, 'ZZ'), w.locale, w.expires_at desc limit 1
    ) n
  ), served as materialized (
    select g.account_id, g.application_id, g.country, g.locale, l.is_own
    from groups g join accounts c on c.id = g.account_id cross join held cross join lateral (
      select case
        when c.senders <> 'shared' and exists (
          select from available a
          where is_own_sender(a.account_id, a.application_ids, g.account_id, g.application_id) and not array[g.country, g.locale] && a.closed
        ) then true
        when c.senders <> 'own' and exists (
          select from available a where a.account_id is null and not array[g.country, g.locale] && a.closed
        ) then false
      end as is_own
    ) l
    where g.is_worth and not is_held(held.holds, g.account_id, g.country) and l.is_own is not null
  ), accounts_in_turn as materialized (
    select c.id as account_id, 1.0::double precision / c.weight as lasts, t.ends_at as busy_until, greatest(v.now, t.ends_at) as starts_at
    from accounts c
    left join account_turns t on t.account_id = c.id
    cross join (select coalesce(max(starts_at), 0) as now from account_turns) v
    where c.id = any (array(select account_id from served where not is_own))
    order by greatest(v.now, t.ends_at), t.ends_at nulls first, c.id limit p_limit
  ), turns as materialized (
    select account_id, starts_at + n * lasts as starts_at, starts_at + (n + 1) * lasts as ends_at, n + 1 as nth,
      row_number() over (order by starts_at + n * lasts, case when n = 0 then busy_until else starts_at + n * lasts end nulls first, account_id)
        as position
    from accounts_in_turn cross join generate_series(0, p_limit - 1) n
    order by position limit p_limit
  ), shares as materialized (
    select account_id, false as is_own, count(*) as sends from turns group by account_id
    union all
    select account_id, true, greatest(1, p_limit / count(*) over ()) from served where is_own group by account_id
  ), longest as materialized (
    select w.*, g.is_own from served g join shares t using (account_id, is_own)
    cross join lateral (
      select w.id, w.account_id, w.application_id, w.country, w.locale, w.recipient_key, w.expires_at from sends w
      where w.awaiting_sender and w.account_id = g.account_id and w.application_id = g.application_id
        and coalesce(w.country, 'ZZ') = g.country and w.locale = g.locale
        -- The first condition is for the index, which then ends before what has expired.
        and w.expires_at > p_now + p_horizon and is_worth_sending(w.created_at, w.expires_at, p_now + p_horizon)
      order by w.expires_at desc limit t.sends for no key update skip locked
    ) w
  ), judged as materialized (
    select w.*, (
      -- When the first of these senders may write to the recipient.
      select min(coalesce(p.free_at, '-infinity')) from available a
      left join sender_recipient_windows p on p.sender_id = a.id and p.recipient_hash = hashtextextended(w.recipient_key, 0)
      where not array[coalesce(w.country, 'ZZ'), w.locale] && a.closed and case
        when w.is_own then is_own_sender(a.account_id, a.application_ids, w.account_id, w.application_id)
        else a.account_id is null
      end
    ) as window_at from longest w
  ), ranked as (
    select *, row_number() over (partition by account_id, is_own order by expires_at desc, id desc) as nth from judged
    where window_at <= p_now + p_horizon
  )
  select u.id, u.account_id, u.is_own, u.starts_at, u.ends_at, u.opens_at from (
    (
      select r.id, r.account_id, r.is_own, t.starts_at, t.ends_at, null::timestamptz as opens_at,
        -- By chance, so that none of those with senders of their own is always the last.
        row_number() over (order by coalesce(t.position, r.nth), random()) as position
      from ranked r left join turns t on not r.is_own and t.account_id = r.account_id and t.nth = r.nth
      where r.is_own or t.nth is not null
      order by position limit p_limit
    )
    union all
    -- One after the other, as the window lets them through.
    select j.id, j.account_id, null, null, null, least(j.expires_at, j.window_at + recipient_window_spacing() * (
      row_number() over (partition by j.recipient_key order by j.expires_at desc, j.id desc) - 1
    )), null
    from judged j where j.window_at > p_now + p_horizon
  ) u order by u.position;
end
$$;
