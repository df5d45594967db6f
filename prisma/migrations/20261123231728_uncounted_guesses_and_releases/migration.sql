-- Wrong guesses that were judged and could not be written to their sends. They count from here until a worker has written them. It refuses
-- as little as a table can: whatever keeps a guess from being counted must not keep it out of here too.
create table uncounted_guesses (
  id uuid not null default gen_random_uuid(),
  send_id uuid not null,
  -- As in wrong_guess_times of the send: one that is there was written after all, and only the answer was lost.
  judged_at timestamptz(3) not null default clock_timestamp(),
  -- When a worker tries to write it next.
  due_at timestamptz(3) not null default clock_timestamp(),
  primary key (id)
);
create index uncounted_guesses_send_id on uncounted_guesses (send_id);
create index uncounted_guesses_due_at on uncounted_guesses (due_at);

-- The processes that run, and of which release they are.
create unlogged table processes (
  id uuid not null,
  kind text not null,
  release text not null,
  -- The newest migration that it knows.
  last_migration text not null,
  started_at timestamptz(3) not null default clock_timestamp(),
  seen_at timestamptz(3) not null default clock_timestamp(),
  -- Null while it runs, and when it was killed.
  stopped_at timestamptz(3),
  primary key (id),
  constraint processes_kind_check check (kind in ('api', 'worker', 'console'))
);

-- The releases of which a process has run here.
create table releases (
  release text not null,
  first_started_at timestamptz(3) not null default clock_timestamp(),
  primary key (release)
);

-- The contracting migrations that were applied: a process that does not know one of them does not start.
create table schema_contracts (
  migration_name text not null,
  -- The oldest release that works with it; null where only those do that know it.
  oldest_release text,
  reason text not null,
  applied_at timestamptz(3) not null default clock_timestamp(),
  primary key (migration_name)
);
