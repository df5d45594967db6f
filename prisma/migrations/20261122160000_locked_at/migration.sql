-- Set by the last wrong guess and by nothing else, so that an index may look at it: one that looks at `wrong_guesses` keeps every
-- wrong guess from updating its row in place.
alter table sends add column locked_at timestamptz(3);
