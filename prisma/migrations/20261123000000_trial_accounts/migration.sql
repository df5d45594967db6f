-- Accounts that people made themselves and that never had credits: where they may send, and how many live sends they share a day.
-- The release before this one makes accounts that are none of these, and sends for them as ever.

alter table accounts
  -- Null for accounts that operators made, and from the first credit on.
  add column trial_countries text[]
    check (array_to_string(trial_countries, ',', '?') ~ '^[A-Z]{2}(,[A-Z]{2})*$');

-- Live sends of all trial accounts together, by the day (UTC).
create table trial_sends (
  day date primary key,
  sends integer not null check (sends >= 0)
);

alter table settings
  add column trial_sends_per_day integer not null default 500 check (trial_sends_per_day between 0 and 1000000),
  add column sign_ups_per_network_day integer not null default 20 check (sign_ups_per_network_day between 1 and 1000000),
  add column sign_ups_per_domain_day integer not null default 100 check (sign_ups_per_domain_day between 1 and 1000000),
  add column staff_two_factor text not null default 'optional' check (staff_two_factor in ('optional', 'required'));
