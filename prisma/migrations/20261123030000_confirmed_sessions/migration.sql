-- When whoever uses a session last showed that it is them: by signing in, or by a code or password given since. Null for sessions
-- that the release before this one begins: they are asked again before their first change that needs it.
alter table user_sessions add column confirmed_at timestamptz(3);
