-- The sum of the points that stand at a recipient's places in a list.
create or replace function points_of(recipient text, recipients text[], points integer[]) returns integer
language sql immutable as $$
  select sum(o.points)::integer from unnest(recipients, points) as o (recipient, points) where o.recipient = points_of.recipient
$$;
