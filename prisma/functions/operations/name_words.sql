-- Returns the words of a name in lower case, for a search by prefix.
create or replace function name_words(p_name text) returns text[]
language sql immutable parallel safe as $$
  select array_remove(regexp_split_to_array(lower(p_name), '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+'), '')
$$;
