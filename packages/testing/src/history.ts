import { canonicalNumber, recipientKeys, type Keyring } from '@onecode/domain';
import pg from 'pg';

/** Generated historical data of accounts, for the seed of `npm start`, benchmarks and screenshots. */
export interface History {
  /** Earlier applications get most of the sends. No other sends may be created for them meanwhile. */
  applications: readonly { applicationId: string; accountId: string; mode: 'test' | 'live' }[];
  /** The sender of the live sends. */
  senderId: string;
  /** The pepper with which the processes look up numbers. */
  numberPepper: Keyring;
  sends: number;
  /** The number of days that the sends are spread over, with more sends during the day. */
  days: number;
  /** The number of days between the last send and now; 0 by default. */
  endedDaysAgo?: number;
}

/**
 * Adds historical data to accounts: sends with idempotency keys and every final status, with the attempts and ledger entries that the
 * service would have written. Credits, granted at the start, pay for them.
 */
export async function fillHistory(databaseUrl: string, history: History): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(DRAW_SENDS, [
      history.sends,
      history.days,
      history.applications.map(({ applicationId }) => applicationId),
      history.applications.map(({ accountId }) => accountId),
      history.applications.map(({ mode }) => mode),
      history.endedDaysAgo ?? 0,
    ]);
    const drawn = await client.query<{ id: string; recipient: string }>('select id, recipient from drawn');
    await client.query(
      'update drawn d set recipient_key = k.recipient_key from unnest($1::uuid[], $2::text[]) as k (id, recipient_key) where d.id = k.id',
      [
        drawn.rows.map(({ id }) => id),
        drawn.rows.map(({ recipient }) => recipientKeys(history.numberPepper, canonicalNumber(recipient))[0]),
      ],
    );
    for (const statement of INSERTS)
      await client.query(statement.replaceAll(':sender', client.escapeLiteral(history.senderId)));
    await client.query('commit');
    await client.query('analyze sends, attempts, ledger_entries');
  } finally {
    await client.end();
  }
}

/** Returns an SQL expression for an id of version 7 with this time. */
const idAt = (time: string): string =>
  `(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
    || '8' || substr(md5(random()::text), 1, 15))::uuid`;

/** Draws the random properties of each send once, because all other rows are derived from them. */
const DRAW_SENDS = `
  create temporary table drawn on commit drop as
  with candidates as (
    select date_trunc('milliseconds', now() - interval '5 minutes' - ($6::float8 + random() * $2::float8) * interval '1 day') as at
    from generate_series(1, 3 * $1::integer)
  ), kept as (
    -- As many as were asked for, whatever hours they fall into: a weighted sample (Efraimidis, Spirakis 2006).
    select at from candidates
    order by ln(random()) / ((1.1 + sin((extract(hour from at) - 9) * pi() / 12)) * case when extract(isodow from at) > 5 then 0.6 else 1 end) desc
    limit $1::integer
  ), lots as (
    select at, row_number() over (order by at) as number, random() as fate, random() as verdict, random() as place,
      random() as reader, ceil(power(random(), 2) * cardinality($3::text[]))::integer as choice, random() as pace
    from kept
  )
  select ${idAt('at')} as id, at, number,
    ($3::text[])[choice]::uuid as application_id, ($4::text[])[choice]::uuid as account_id, ($5::text[])[choice] as mode,
    row_number() over (partition by choice order by at) as nth,
    case when ($5::text[])[choice] = 'test' then 'read' when fate < 0.05 then 'failed' when fate < 0.09 then 'sent'
      when reader < 0.4 then 'delivered' else 'read' end as status,
    case when fate < 0.09 and ($5::text[])[choice] = 'live' then 'pending' when verdict < 0.87 then 'verified' when verdict < 0.885 then 'locked' else 'pending' end as verification,
    case when place < 0.75 then 'BR' when place < 0.9 then 'US' else 'PT' end as country,
    case when place < 0.75 then '+55119' || (60000000 + floor(random() * 9999999))::bigint
      when place < 0.9 then '+1202555' || lpad(floor(random() * 9999)::text, 4, '0')
      else '+35191' || (2000000 + floor(random() * 7999999))::bigint end as recipient, null::text as recipient_key,
    case when place < 0.8 then 'pt-BR' else 'en' end as locale,
    at + make_interval(secs => 0.2 + 0.5 * pace) as sent_at,
    at + make_interval(secs => 0.9 + 0.5 * pace + exp(2.2 * pace * pace)) as delivered_at,
    at + make_interval(secs => 4 + 0.5 * pace + exp(2.2 * pace * pace) + 20 * pace) as read_at,
    at + make_interval(secs => 12 + 60 * pace) as verified_at
  from lots`;

const INSERTS: readonly string[] = [
  `insert into ledger_entries (account_id, kind, bucket, units, reason, created_at)
   select account_id, 'granted', 'credit', 2 * count(*), 'prepaid', min(at) - interval '1 hour' from drawn group by 1`,

  `insert into sends (
     id, account_id, application_id, mode, application_number, idempotency_key, body_hash, recipient, recipient_key, country, locale,
     charged_from, code_hash, status, phase, verification, wrong_guess_times, channel, from_number, sender_id, attempts, attempt_number, created_at, expires_at,
     sent_at, delivered_at, read_at, verified_at, locked_at, failed_at, failure_reason, version, request_id
   )
   select d.id, d.account_id, application_id, d.mode, a.sends_created + nth, convert_to(gen_random_uuid()::text, 'UTF8'),
     decode(repeat('00', 33), 'hex'), recipient, recipient_key, country, locale,
     case d.mode when 'live' then 'credit' end, decode(repeat('00', 33), 'hex'), status, 'done', verification,
     case verification when 'locked' then array(select at + make_interval(secs => 20 + 6 * n) from generate_series(1, 5) n) end,
     case d.mode when 'live' then 'whatsapp' else 'sandbox' end, case d.mode when 'live' then r.number end,
     case d.mode when 'live' then r.id end, case d.mode when 'live' then 1 else 0 end,
     case d.mode when 'live' then 1 else 0 end, at, at + interval '10 minutes',
     case when d.mode = 'test' then at + interval '40 milliseconds' when status <> 'failed' then sent_at end,
     case when d.mode = 'test' then at + interval '40 milliseconds' when status in ('delivered', 'read') then delivered_at end,
     case when d.mode = 'test' then at + interval '40 milliseconds' when status = 'read' then read_at end,
     case verification when 'verified' then verified_at end, case verification when 'locked' then at + interval '50 seconds' end,
     case status when 'failed' then sent_at end, case status when 'failed' then 'rejected_by_provider' end, 3, gen_random_uuid()
   from drawn d join applications a on a.id = d.application_id cross join (select id, number from senders where id = :sender) r
   order by d.number`,

  `insert into attempts (send_id, number, sender_id, outcome, error_code, message_id, started_at, finished_at)
   select id, 1, :sender, case status when 'failed' then 'recipient' else 'accepted' end,
     case status when 'failed' then 131026 end, case when status <> 'failed' then 'wamid.' || md5(id::text) end,
     at + interval '60 milliseconds', sent_at
   from drawn where mode = 'live' order by number`,

  `insert into ledger_entries (account_id, send_id, kind, bucket, units, created_at)
   select account_id, id, kind, 'credit', 1, entry_at
   from drawn cross join lateral (values ('reserved', at), ('returned', sent_at)) as e (kind, entry_at)
   where mode = 'live' and (kind = 'reserved' or status = 'failed')
   order by entry_at`,

  `update accounts a set sends_created = a.sends_created + d.sends,
     credits = a.credits + 2 * d.sends - d.charged
   from (
     select account_id, count(*) as sends, count(*) filter (where mode = 'live' and status <> 'failed') as charged from drawn group by 1
   ) d where a.id = d.account_id`,

  `update applications a set sends_created = a.sends_created + d.sends
   from (select application_id, count(*) as sends from drawn group by 1) d where a.id = d.application_id`,
];
