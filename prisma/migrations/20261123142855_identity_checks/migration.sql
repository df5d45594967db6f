-- A phone number may change hands. The provider tells by a hash of the person's identity, which changes with it.
alter table applications add column identity_check text not null default 'off'
  constraint applications_identity_check_check check (identity_check in ('off', 'observe', 'enforce'));
alter table receipts add column identity_hash text;

create table send_identities (
  send_id uuid not null references sends (id),
  application_id uuid not null references applications (id),
  canonical_recipient text not null,
  -- The provider's hash; null once it was forgotten.
  identity_hash text,
  -- Whether it was another one than when the recipient last verified a code.
  has_changed boolean not null,
  seen_at timestamptz(3) not null default now(),
  primary key (send_id)
);
create index send_identities_recipient on send_identities (application_id, canonical_recipient, seen_at);
