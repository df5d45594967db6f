import { newId, readHeldSends, readSenderActivity } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';

const ATTEMPTS = 30_000;
const store = useTestDatabase();
let caller: TestCaller;
beforeAll(async () => {
  caller = await buildCaller(store.database, 'live', { name: 'Loja Azul', credits: 1_000 });
});

/** Attempts of this send, the nth `every` seconds before the one that follows it, numbered by their times. */
async function attempts(send: string, sender: string, count: number, every: number): Promise<void> {
  await store.sql(
    `insert into attempts (id, send_id, sender_id, outcome, error_code, started_at, finished_at)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' ||
         '8000' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2,
       case when n % 10 = 0 then 'retry' else 'accepted' end, case when n % 10 = 0 then 130429 end, at, at
     from generate_series(1, $3::integer) n, lateral (select now() - make_interval(secs => n * $4::float8) as at) t`,
    [send, sender, count, every],
  );
}

describe('what a sender did lately', () => {
  it('is that of an hour, by outcome, with its errors latest first', async () => {
    const [{ id: one }, { id: other }] = [
      await buildSender(store.database),
      await buildSender(store.database),
    ];
    const send = await buildSend(store.database, caller);
    // One a minute for two hours.
    await attempts(send, one, 120, 60);
    await store.sql(
      `insert into attempts (id, send_id, sender_id, outcome, error_code, finished_at) values ($1, $2, $3, 'config', 190, now())`,
      [newId(), send, one],
    );

    const activity = await readSenderActivity(store.database);

    expect(activity.map(({ senderId }) => senderId)).toEqual([one]);
    expect(activity[0]?.outcomes).toEqual({ accepted: 54, retry: 5, config: 1 });
    expect(activity[0]?.errors).toMatchObject([
      { outcome: 'config', errorCode: 190, times: 1 },
      { outcome: 'retry', errorCode: 130429, times: 5 },
    ]);
    expect(activity.some(({ senderId }) => senderId === other)).toBe(false);
  });

  it('is that of the latest calls alone in a busy hour', async () => {
    const { id } = await buildSender(store.database);
    const send = await buildSend(store.database, caller);
    await attempts(send, id, ATTEMPTS, 0.1);

    const found = (await readSenderActivity(store.database)).find(({ senderId }) => senderId === id);
    expect((found?.outcomes.accepted ?? 0) + (found?.outcomes.retry ?? 0)).toBeLessThanOrEqual(20_000);
  });
});

describe('what is held', () => {
  it('is counted up to ten thousand', async () => {
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, account_number, application_number, recipient, canonical_recipient,
         country, locale, charged_from, code_hash, sealed_code, awaiting_sender, due_at, next_enqueue_at, created_at, expires_at)
       select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', 1000 + n, 1000 + n, '+5511987654321', '+5511987654321', 'BR', 'pt-BR', 'credit',
         convert_to(repeat('h', 33), 'utf8'), 'sealed'::bytea, true, now(), now(), now(), now() + interval '10 minutes'
       from generate_series(1, 10500) n`,
      [caller.accountId, caller.applicationId],
    );

    expect(await readHeldSends(store.database)).toMatchObject({ waiting: 10_000, isCapped: true });
  });
});
