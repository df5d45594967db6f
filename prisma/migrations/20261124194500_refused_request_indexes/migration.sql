-- Each list of refused requests has an index that holds it in the order in which it is read, so that a page costs the same beside any
-- number of others' requests: by application, with a code and without, and by idempotency key, which a client may repeat without end.
create index refused_requests_application on refused_requests (account_id, application_id, refused_at, request_id);
create index refused_requests_application_code on refused_requests (account_id, application_id, code, refused_at, request_id);
drop index refused_requests_idempotency_key;
create index refused_requests_idempotency_key on refused_requests (account_id, idempotency_key_hash, refused_at, request_id);

-- The counts of one application of many, and whether it has any.
create index refused_request_counts_application on refused_request_counts (application_id, minute);
