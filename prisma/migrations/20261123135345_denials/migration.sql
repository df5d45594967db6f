-- People say by a button of our message that they did not request its code. What they write is not stored.
create table denials (
  -- The provider's id of our message: several presses of one button are one denial.
  message_id text not null,
  occurred_at timestamptz(3) not null,
  received_at timestamptz(3) not null default now(),
  -- Null until the message is known.
  send_id uuid references sends (id),
  account_id uuid references accounts (id),
  application_id uuid references applications (id),
  country text,
  due_at timestamptz(3) default now(),
  tries integer not null default 0,
  primary key (message_id)
);
create index denials_send_id on denials (send_id) where send_id is not null;
create index denials_account_id on denials (account_id, received_at) where account_id is not null;
create index denials_due_at on denials (due_at) where due_at is not null;
create index denials_unmatched on denials (received_at) where send_id is null;
