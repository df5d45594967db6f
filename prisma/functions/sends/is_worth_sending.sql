-- Whether a message is still worth sending: more of the code's life is left than a tenth or 30 seconds, whichever is less.
create or replace function is_worth_sending(created_at timestamptz, expires_at timestamptz, at timestamptz) returns boolean
language sql stable as $$ select expires_at - least(interval '30 seconds', (expires_at - created_at) * 0.1::double precision) > at $$;
