-- Returns the permits per second of all senders to which a block of this scope applies.
create or replace function full_rate(p_scope text, p_subject text) returns double precision
language sql stable
begin atomic
  select sum(r.throughput) * 0.9::double precision from senders r
  where r.removed_at is null and block_subject(p_scope, r.id, r.business_account_id, r.portfolio_id) = p_subject;
end;
