-- The throttles that still slow somebody down, and how far apart their messages lie. While the provider refuses, single messages go out as
-- probes, five seconds apart at the least and not before `free_at`. Once it has accepted one, the rate begins at half of that at which it
-- refused and grows by a twentieth of the full rate each second; at the full rate the throttle is over. (Additive increase and
-- multiplicative decrease, as TCP does it: RFC 5681.)
create or replace function active_throttles(p_now timestamptz)
returns table (scope text, subject text, free_at timestamptz, spacing interval, rate double precision)
language sql stable
begin atomic
  select w.scope, w.subject, w.free_at,
    case when w.refusals > 0 then interval '5 seconds' else make_interval(secs => 1 / w.rate) end, w.rate
  from (
    select t.scope, t.subject, t.free_at, t.refusals, f.rate as full_rate,
      case when t.refusals > 0 then t.rate else t.rate + f.rate / 20 * extract(epoch from p_now - t.recovered_at) end as rate
    from throttles t cross join lateral (
      select sum(r.throughput) * 0.9::double precision as rate from senders r
      where sender_throttle_subject(t.scope, r.id, r.business_account_id) = t.subject
    ) f
  ) w
  where w.refusals > 0 or w.rate < w.full_rate;
end;
