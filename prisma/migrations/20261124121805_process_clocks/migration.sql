-- How far the clock of a process is ahead of this server's, in milliseconds: null for a process of a release that does not tell it.
alter table processes add column clock_ahead_ms double precision;
