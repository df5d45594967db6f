-- Passwords tried for an e-mail address from wherever, whether or not somebody has it. SHA-256: it may be anything that was typed.
create table sign_in_tries (
  email_hash bytea primary key check (octet_length(email_hash) = 32),
  tries integer not null check (tries >= 0),
  first_at timestamptz(3) not null default clock_timestamp()
);
create index sign_in_tries_first_at_idx on sign_in_tries (first_at);

-- Codes of an authenticator that let somebody in: each does so once, though it holds for a minute and a half.
create table used_two_factor_codes (
  user_id uuid not null references users on delete cascade,
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at timestamptz(3) not null default clock_timestamp(),
  primary key (user_id, code_hash)
);
