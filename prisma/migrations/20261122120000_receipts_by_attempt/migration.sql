-- Message ids have no order in time, so that each entry by them meets a page of its own; attempts' ids have it. Reports without one
-- stand together, by message id.
-- refuses nothing new: receipts_once refuses all that this one does.
create unique index concurrently receipts_by_attempt on receipts (attempt_id, message_id, status) nulls not distinct;
