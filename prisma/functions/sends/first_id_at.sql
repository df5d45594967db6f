-- Returns a bound between the ids made before this time and those made at or after it: UUIDs of version 7 start with their milliseconds.
create or replace function first_id_at(at timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;
