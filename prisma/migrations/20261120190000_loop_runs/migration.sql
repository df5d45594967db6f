-- When each worker last ended a round of each of its loops. May be forgotten in a crash of the database, so it costs no write-ahead
-- log: the next rounds say it again.
create unlogged table loop_runs (
  loop text not null check (loop in ('sweep', 'wake', 'breaker', 'clean_up')),
  -- A new one each time that a worker starts.
  worker_id uuid not null,
  ran_at timestamptz(3) not null default clock_timestamp(),
  primary key (loop, worker_id)
) with (fillfactor = 50);
