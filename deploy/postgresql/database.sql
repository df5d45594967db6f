-- Creates Onecode's database and its two roles, once, with psql 15 or newer (docs/deploy.md):
--   OWNER_PASSWORD=… SERVICE_PASSWORD=… psql --set ON_ERROR_STOP=1 --file database.sql
-- Run it as a superuser, or as a role with CREATEROLE and CREATEDB, such as the administrator of a managed service
-- (docs/managed-services.md).
-- onecode_owner creates the tables (MIGRATE_DATABASE_URL). onecode_service is the role of the processes and of the command line
-- (DATABASE_URL): it reads and writes rows, and cannot remove the trigger that protects the audit log.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role onecode_owner login password :'owner_password';
create role onecode_service login password :'service_password';
-- Unless the current user is a superuser, it must be a member of onecode_owner to create that role's database and default privileges.
grant onecode_owner to current_user;
create database onecode owner onecode_owner template template0 encoding 'UTF8';
revoke all on database onecode from public;
grant connect on database onecode to onecode_service;

\connect onecode
-- Rights on tables that migrations create. Functions need no grant: every role that can connect can call them.
alter default privileges for role onecode_owner grant select, insert, update, delete on tables to onecode_service;

-- Optional: keep statements and details out of PostgreSQL's log, because both may quote a phone number. Only a superuser can set these for
-- a database. On a managed service, set them as server parameters.
select rolsuper as is_superuser from pg_roles where rolname = current_user
\gset
\if :is_superuser
alter database onecode set log_error_verbosity = 'terse';
alter database onecode set log_min_error_statement = 'panic';
\else
\warn 'Set log_error_verbosity = terse and log_min_error_statement = panic in the parameters of the server (docs/managed-services.md).'
\endif
