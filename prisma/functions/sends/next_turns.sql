-- Returns the waiting sends that get the next turns, in order, and locks them. Accounts take turns: the account served least recently is
-- first, and none gets a second send before every other account has had one. Of an account's sends, the one that expires last is first:
-- usually the newest, for which the recipient is still waiting. Skips sends that are held or about to expire, or that no
-- sender can send by `p_until`.
create or replace function next_turns(p_limit integer, p_until timestamptz)
returns setof uuid
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_holds text[] := array(select kind || ' ' || target from holds);
  v_nil constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  return query with recursive blocks as materialized (
    select b.scope, b.subject, b.only_for from sender_blocks b
    where b.failures > 0 and greatest(coalesce(b.until, 'infinity'), b.free_at) > p_until
  ), available as materialized (
    -- The senders with a permit that starts by `p_until`, and the countries and languages for which each is blocked until then.
    select r.account_id, r.application_ids, t.blocked_for
    from senders r left join sender_permits p on p.sender_id = r.id cross join lateral (
      select array(
        select b.only_for from blocks b where b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)
      ) as blocked_for
    ) t
    -- An empty text blocks all messages.
    where r.removed_at is null and coalesce(p.free_at <= p_until, true) and '' <> all (t.blocked_for)
  ), waiting as (
    -- The groups of waiting sends that the same senders may serve. Each step reads one row of an index: the send of the next group that
    -- expires last. It reads none while no sender has a permit or all live sends are held. The first row only starts the search.
    select v_nil as account_id, v_nil as application_id, '' as country, '' as locale, false as is_worth_sending
    where exists (select from available) and 'live ' <> all (v_holds)
    union all
    select n.* from waiting g cross join lateral (
      select s.account_id, s.application_id, s.country, s.locale, is_worth_sending(s.created_at, s.expires_at, p_until)
      from sends s
      where s.is_waiting
        and (s.account_id, s.application_id, s.country, s.locale) > (g.account_id, g.application_id, g.country, g.locale)
      order by s.account_id, s.application_id, s.country, s.locale, s.expires_at desc limit 1
    ) n
  ), sendable as materialized (
    select g.*, t.served_at
    from waiting g join accounts c on c.id = g.account_id left join account_turns t on t.account_id = c.id
    where g.is_worth_sending and not is_held(v_holds, g.account_id, g.country) and exists (
      select from available a
      where not a.blocked_for && array[g.country, g.locale]
        and may_serve(a.account_id, a.application_ids, c.senders, g.account_id, g.application_id)
    )
  ), turns as materialized (
    -- Each account may get an equal share of the limit, rounded up.
    select a.account_id, row_number() over (order by a.served_at nulls first, a.account_id) as turn, (p_limit - 1) / count(*) over () + 1 as share
    from (select distinct g.account_id, g.served_at from sendable g order by g.served_at nulls first, g.account_id limit p_limit) a
  )
  select n.id from (
    -- nth: 1 for the account's first send, 2 for its second
    select s.id, t.turn, row_number() over (partition by t.turn order by s.expires_at desc, s.id desc) as nth
    from turns t join sendable g on g.account_id = t.account_id cross join lateral (
      select w.id, w.expires_at from sends w
      where w.is_waiting and w.account_id = g.account_id and w.application_id = g.application_id
        and w.country = g.country and w.locale = g.locale
        -- The first condition ends the scan of the index before the expired sends.
        and w.expires_at > p_until and is_worth_sending(w.created_at, w.expires_at, p_until)
      order by w.expires_at desc limit t.share for no key update skip locked
    ) s
  ) n
  order by n.nth, n.turn limit p_limit;
end
$$;
