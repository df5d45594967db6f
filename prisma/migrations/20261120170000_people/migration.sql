-- The people of the console. The tables from users to sign_in_limits are better-auth's, under names of ours: its `account`, a
-- way to sign in, is our user_credentials.
create table users (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  language text not null default 'pt-BR' check (language in ('pt-BR', 'en')),
  -- Null for those who are not of the staff. On-call staff read what operators may change.
  staff text check (staff in ('operator', 'on_call')),
  two_factor_enabled boolean default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  token text not null unique,
  ip_address text,
  user_agent text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null
);
create index user_sessions_user_id_idx on user_sessions (user_id);

create table user_credentials (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  -- A salted scrypt hash.
  password text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null
);
create index user_credentials_user_id_idx on user_credentials (user_id);

create table user_verifications (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index user_verifications_identifier_idx on user_verifications (identifier);

create table user_two_factors (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- Both are sealed with the key of the sessions.
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamptz(3)
);
create index user_two_factors_user_id_idx on user_two_factors (user_id);
create index user_two_factors_secret_idx on user_two_factors (secret);

-- Counts of requests to sign up and in, over all replicas.
create table sign_in_limits (
  id uuid primary key,
  key text not null unique,
  count integer not null,
  last_request bigint not null
);

-- Who may do what in an account.
create table members (
  account_id uuid not null references accounts,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('admin', 'developer', 'viewer')),
  created_at timestamptz(3) not null default now(),
  primary key (account_id, user_id)
);
create index members_user_id_idx on members (user_id);

create table invitations (
  id uuid primary key,
  account_id uuid not null references accounts,
  email text not null check (email = lower(email)),
  role text not null check (role in ('admin', 'developer', 'viewer')),
  -- SHA-256 of the token in the link.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  invited_by uuid references users on delete set null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  unique (account_id, email)
);
