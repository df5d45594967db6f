-- Grants of credits by the ids that whoever grants chose for them: a request that is sent again grants nothing again.
create table credit_grants (
  id uuid primary key,
  account_id uuid not null references accounts,
  amount integer not null check (amount > 0),
  reason text not null
);
