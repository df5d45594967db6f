-- Locks the accounts and applications of these sends that nobody else has locked, in the order of the ids, so that two calls never wait for
-- each other. Trial accounts also need the lock of `settings`, which counts their sends of the day.
--
-- p_wait_ms: how long to wait for the locks of the others first; null for not at all.
--
-- Returns the applications whose locks the caller has.
create or replace function lock_applications(p_sends new_send[], p_wait_ms integer) returns uuid[]
language plpgsql as $$
declare
  v_accounts uuid[] := array(select s.account_id from unnest(p_sends) s);
  v_applications uuid[] := array(select s.application_id from unnest(p_sends) s);
  v_trial uuid[];
begin
  if p_wait_ms is not null then
    begin
      perform set_config('lock_timeout', p_wait_ms::text, true);
      perform from accounts a join applications p on p.account_id = a.id
        where a.id = any (v_accounts) and p.id = any (v_applications) order by a.id, p.id for no key update of a, p;
    exception when lock_not_available then
      return '{}';
    end;
  end if;
  select array_agg(l.id), array_agg(l.id) filter (where l.trial_countries is not null) into v_applications, v_trial from (
    select p.id, a.trial_countries from accounts a join applications p on p.account_id = a.id
    where a.id = any (v_accounts) and p.id = any (v_applications) order by a.id, p.id for no key update of a, p skip locked
  ) l;
  if v_trial is not null then
    perform from settings for no key update skip locked;
    if not found then
      v_applications := array(select id from unnest(v_applications) id where id <> all (v_trial));
    end if;
  end if;
  return v_applications;
end
$$;
