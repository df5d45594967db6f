-- Null: the browser's language, until the person chooses one.
alter table users alter column language drop not null;
