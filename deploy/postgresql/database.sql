-- Onecode's database and its two roles, once, by a superuser with psql 15 or newer (docs/deploy.md):
--   OWNER_PASSWORD=… SERVICE_PASSWORD=… psql --set ON_ERROR_STOP=1 --file database.sql
-- onecode_owner makes the tables (MIGRATE_DATABASE_URL). onecode_service is the role of the processes and of the command line
-- (DATABASE_URL): it reads and writes rows, and cannot take the trigger away that keeps the audit log from being changed.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role onecode_owner login password :'owner_password';
create role onecode_service login password :'service_password';
create database onecode owner onecode_owner template template0 encoding 'UTF8';
revoke all on database onecode from public;
grant connect on database onecode to onecode_service;
-- No statement and no detail in PostgreSQL's log: both may quote a phone number.
alter database onecode set log_error_verbosity = 'terse';
alter database onecode set log_min_error_statement = 'panic';

\connect onecode
-- Of the tables that migrations will make. Functions may be called by everybody who may connect.
alter default privileges for role onecode_owner grant select, insert, update, delete on tables to onecode_service;
