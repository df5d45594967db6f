-- How much one sender may send to one recipient at once: the provider takes a burst of 45. One of them is kept for messages that overtake
-- each other on their way, so 44 go at once: the first one and those of this time.
create or replace function recipient_window_burst() returns interval
language sql immutable return 43 * recipient_window_spacing();
