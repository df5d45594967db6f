-- contract: release 1.3.0 creates sends by `try_create_sends`.
drop function create_sends(uuid[], uuid[], uuid[], bytea[], bytea[], text[], text[], text[], bytea[], bytea[]);
