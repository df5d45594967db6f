-- Returns the sends that get the next permits of the senders they wait for, in order, and locks them. Accounts take turns: the account
-- served least recently is first, and none gets a second send before every other account has had one. Of an account's sends, the one that
-- expires last is first: usually the newest, for which the recipient is still waiting. Gives turns only to sends that are not held and
-- that a sender can send within the horizon. The recursive query reads one index row for each group of an account, application, country and
-- language, and none while no sender has a permit or all live sends are held.
create or replace function next_turns(p_limit integer, p_now timestamptz, p_horizon interval)
returns setof uuid
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_end timestamptz := p_now + p_horizon;
  v_holds text[] := array(select kind || ' ' || target from holds);
begin
  return query with recursive blocks as materialized (
    select * from active_blocks(p_now) b where b.opens_at > v_end
  ), available as materialized (
    select r.account_id, r.application_ids, x.blocked
    from senders r left join sender_permits s on s.sender_id = r.id cross join lateral (
      -- The countries and languages in which the sender is blocked; an empty text means all.
      select array(select b.only_for from blocks b where b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)) as blocked
    ) x
    where r.removed_at is null and coalesce(s.free_at <= v_end, true) and '' <> all (x.blocked)
  ), groups as (
    select '00000000-0000-0000-0000-000000000000'::uuid as account_id, '00000000-0000-0000-0000-000000000000'::uuid as application_id,
      '' as country, '' as locale, false as is_worth
    where exists (select from available) and 'live ' <> all (v_holds)
    union all
    select n.* from groups g cross join lateral (
      select w.account_id, w.application_id, coalesce(w.country, 'ZZ'), w.locale, is_worth_sending(w.created_at, w.expires_at, v_end)
      from sends w
      where w.is_waiting
        and (w.account_id, w.application_id, coalesce(w.country, 'ZZ'), w.locale) > (g.account_id, g.application_id, g.country, g.locale)
      order by w.account_id, w.application_id, coalesce(w.country, 'ZZ'), w.locale, w.expires_at desc limit 1
    ) n
  ), served as materialized (
    select g.*, t.served_at
    from groups g join accounts c on c.id = g.account_id left join account_turns t on t.account_id = c.id
    where g.is_worth and not is_held(v_holds, g.account_id, g.country) and exists (
      select from available a
      where not a.blocked && array[g.country, g.locale]
        and may_serve(a.account_id, a.application_ids, c.senders, g.account_id, g.application_id)
    )
  ), accounts_in_turn as materialized (
    -- An equal share of the limit for each account, rounded up.
    select account_id, (p_limit - 1) / count(*) over () + 1 as sends from (
      select account_id from served group by account_id, served_at order by served_at nulls first, account_id limit p_limit
    ) a
  ), locked as materialized (
    select w.*, g.served_at from accounts_in_turn a join served g using (account_id) cross join lateral (
      select s.id, s.account_id, s.expires_at from sends s
      where s.is_waiting and s.account_id = g.account_id and s.application_id = g.application_id
        and coalesce(s.country, 'ZZ') = g.country and s.locale = g.locale
        -- The first condition lets the index scan end before the expired sends.
        and s.expires_at > v_end and is_worth_sending(s.created_at, s.expires_at, v_end)
      order by s.expires_at desc limit a.sends for no key update skip locked
    ) w
  )
  select id from (
    select id, served_at, account_id, row_number() over (partition by account_id order by expires_at desc, id desc) as nth from locked
  ) n
  order by nth, served_at nulls first, account_id limit p_limit;
end
$$;
