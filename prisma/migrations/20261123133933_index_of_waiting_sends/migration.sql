-- The sends of each account that wait for a sender, apart by what decides which senders may serve them; first the one
-- whose code lives longest.
create index concurrently sends_awaiting_turn on sends (account_id, coalesce(country, 'ZZ'), locale, expires_at desc) where awaiting_sender;
