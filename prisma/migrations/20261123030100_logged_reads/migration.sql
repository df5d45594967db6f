-- What somebody of the staff read, and when the audit log was last told: a page that reads again by itself is logged once an hour.
create table logged_reads (
  user_id uuid not null references users on delete cascade,
  action text not null,
  subject text not null,
  logged_at timestamptz(3) not null default clock_timestamp(),
  primary key (user_id, action, subject)
);
