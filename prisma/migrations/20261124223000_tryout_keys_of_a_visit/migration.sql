-- A visit to the page Try it has one key, which ends by itself. The console's replicas share it, sealed.
alter table api_keys
  add column user_id uuid references users (id),
  add column sealed_key bytea,
  add column expires_at timestamp(3) with time zone,
  add constraint api_keys_visit_check check (num_nulls(user_id, sealed_key, expires_at) in (0, 3));
create index api_keys_expires_at on api_keys (expires_at) where expires_at is not null;
-- contract: since 1.0.0: no release reads it that anybody runs
alter table api_keys drop column purpose;
