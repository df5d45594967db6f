-- What the provider tells of templates, numbers and business accounts: by webhook, and by reads.
create table provider_changes (
  id bigint generated always as identity,
  digest bytea not null,
  business_account_id text not null,
  field text not null,
  value jsonb not null,
  occurred_at timestamptz(3) not null,
  received_at timestamptz(3) default now() not null,
  due_at timestamptz(3) default now(),
  result text,
  constraint provider_changes_pkey primary key (id),
  constraint provider_changes_digest_key unique (digest),
  constraint provider_changes_result_check check (result in ('applied', 'ignored')),
  constraint provider_changes_done_check check ((due_at is null) = (result is not null))
);
create index provider_changes_due_at on provider_changes (due_at, id) where due_at is not null;
create index provider_changes_received_at on provider_changes (received_at);

create table business_accounts (
  id text not null,
  facts jsonb not null,
  constraint business_accounts_pkey primary key (id)
);

create table message_templates (
  business_account_id text not null,
  name text not null,
  language text not null,
  facts jsonb not null,
  constraint message_templates_pkey primary key (business_account_id, name, language)
);

create table sender_readings (
  sender_id uuid not null,
  facts jsonb default '{}' not null,
  due_at timestamptz(3) default now() not null,
  tried_at timestamptz(3),
  read_at timestamptz(3),
  failures jsonb default '{}' not null,
  recipients_24h integer,
  constraint sender_readings_pkey primary key (sender_id),
  constraint sender_readings_sender_id_fkey foreign key (sender_id) references senders (id) on delete cascade
);
create index sender_readings_due_at on sender_readings (due_at);
