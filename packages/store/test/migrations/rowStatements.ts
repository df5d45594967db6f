/** Statements that write one row of `checks.test.ts`; `:sent` and the like stand for its known values. */

export const account = (columns: string, values: string) =>
  `insert into accounts (id, ${columns}) values (gen_random_uuid(), ${values})`;
export const own = (change: string) => `update accounts set ${change} where id = :account`;
export const budget = (values: string) =>
  `insert into guess_budgets (account_id, last_wrong_at, mode, recipient, wrong_in_a_row) values (:account, now(), ${values})`;
export const trip = (values: string) =>
  `insert into breaker_trips (account_id, tripped_at, country, open_until, sends, unverified)
     values (:account, now(), ${values})`;
export const application = (columns: string, values: string) =>
  `insert into applications (id, account_id, ${columns}) values (gen_random_uuid(), :account, ${values})`;
export const sender = (change: string) => `update senders set ${change} where id = :sender`;
export const send = (which: string, change: string) => `update sends set ${change} where id = :${which}`;
/** The send that such a change would make, as a new row. */
export const inserted = (change: string) =>
  `create temporary table invalid on commit drop as select * from sends where id = ${/:\w+$/.exec(change)?.[0]};
   ${change.replace('update sends', 'update invalid')};
   insert into sends select * from invalid`;
export const attempt = (columns: string, values: string) =>
  `insert into attempts (id, ${columns}) values (gen_random_uuid(), ${values})`;
export const entry = (kind: string, bucket: string, units: number, of = ':sent') =>
  `insert into ledger_entries (account_id, send_id, kind, bucket, units)
     values (:account, ${of}, '${kind}', '${bucket}', ${units})`;
export const receipt = (columns: string, values: string) =>
  `insert into receipts (occurred_at, ${columns}) values (now(), ${values})`;
export const routed = `channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender`;
export const undue = 'due_at = null, next_enqueue_at = null';
export const happened = 'sent_at = now(), delivered_at = now(), read_at = now()';
export const copied = (columns: string, values: string) =>
  `insert into sends (id, account_id, application_id, mode, account_number, application_number, recipient, canonical_recipient, locale, charged_from,
     code_hash, sealed_code, due_at, next_enqueue_at, created_at, expires_at, ${columns})
   select gen_random_uuid(), account_id, application_id, mode, account_number + 1000, application_number + 1000, recipient, canonical_recipient,
     locale, charged_from, code_hash, sealed_code, due_at, next_enqueue_at, created_at, expires_at, ${values} from sends where id = :queued`;
