-- Returns whether a message is still worth sending: more than a tenth or 30 seconds of the code's lifetime is left, whichever is less.
create or replace function is_worth_sending(created_at timestamptz, expires_at timestamptz, at timestamptz) returns boolean
language sql stable as $$ select expires_at - least(interval '30 seconds', (expires_at - created_at) * 0.1::double precision) > at $$;
