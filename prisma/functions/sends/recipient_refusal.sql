-- Why an account may not send to this number: its country is not on a list, or it lies in a premium-rate range. Null where it may. A number of no
-- country is on no list.
--
-- allowed: null for all countries
-- trial: the countries of a live send by a trial account, null for others
create or replace function recipient_refusal(country text, is_premium_rate boolean, allowed text[], allows_premium_rate boolean, trial text[]) returns text
language sql immutable as $$
  select case
    when trial is not null and is_premium_rate then 'trial_range'
    when trial is not null and not coalesce(country = any (trial), false) then 'trial_country'
    when is_premium_rate and not allows_premium_rate then 'range'
    when not coalesce(country = any (allowed), allowed is null) then 'country'
  end
$$;
