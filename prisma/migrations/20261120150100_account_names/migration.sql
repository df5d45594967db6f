-- The name is all that the index looks at, so a creation still updates its account's row in place.
create index concurrently accounts_name_words on accounts using gin (array_to_tsvector(name_words(name)));
