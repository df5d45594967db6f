-- The console makes a key for one call when somebody tries an application. No list and no count of keys has it.
alter table api_keys add column purpose text
  constraint api_keys_purpose_check check (purpose = 'tryout');
