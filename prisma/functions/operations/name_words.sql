-- The words of a name in small letters, for a search by their beginnings.
create or replace function name_words(p_name text) returns text[]
language sql immutable parallel safe as $$
  select array_remove(regexp_split_to_array(lower(p_name), '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+'), '')
$$;
