-- How far apart the messages of one sender to one recipient lie in the long run: the provider takes one in six seconds (its "pair rate
-- limit", error 131056).
create or replace function recipient_window_spacing() returns interval
language sql immutable return interval '6 seconds';
