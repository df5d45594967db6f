import { findAccountDetails, placeHold, newId, readHeldSends, readSenderActivity } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { nodesOf, plansOf, statementsOf } from '../client/statementPlans.js';

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

  it('is read from the end of the attempts, and of a busy hour only its latest', async () => {
    const { id } = await buildSender(store.database);
    const send = await buildSend(store.database, caller);
    await attempts(send, id, ATTEMPTS, 0.1);
    await store.sql('analyze attempts');

    const found = (await readSenderActivity(store.database)).find(({ senderId }) => senderId === id);
    expect((found?.outcomes.accepted ?? 0) + (found?.outcomes.retry ?? 0)).toBeLessThanOrEqual(20_000);

    const statements = await statementsOf(store.database, readSenderActivity);
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const nodes = nodesOf(await plansOf(store.url, statements, mode)).filter(
        (node) => node['Relation Name'] === 'attempts',
      );
      expect(nodes).toMatchObject([
        { 'Index Name': 'attempts_pkey', 'Index Cond': expect.stringMatching(/id >= /) },
      ]);
      expect(nodes[0]?.['Actual Rows']).toBeLessThanOrEqual(20_000);
    }
  });
});

describe('what is held', () => {
  it('tells how many sends wait for each switch', async () => {
    const { database } = store;
    const other = await buildCaller(database, 'live', { name: 'Outra', credits: 9 });
    const waiting = [];
    for (const one of [caller, caller, other]) waiting.push(await buildSend(database, one));
    await store.sql('update sends set awaiting_sender = id = any($1::uuid[])', [waiting]);
    const abroad = await buildSend(database, other);
    await store.sql(`update sends set awaiting_sender = true, country = null where id = $1`, [abroad]);
    const reason = 'a test';
    await placeHold(database, TEST_ACTOR, { kind: 'country', target: 'ZZ', reason });
    await placeHold(database, TEST_ACTOR, { kind: 'account', target: caller.accountId, reason });

    expect(await readHeldSends(database)).toMatchObject({
      holds: [
        { kind: 'country', target: 'ZZ', accountName: null, waiting: 1 },
        { kind: 'account', target: caller.accountId, accountName: 'Loja Azul', waiting: 2 },
      ],
      waiting: 4,
      isCapped: false,
    });
  });

  it('counts by the index of waiting sends, and no more than ten thousand', async () => {
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, account_number, application_number, recipient, canonical_recipient,
         country, locale, charged_from, code_hash, sealed_code, awaiting_sender, due_at, next_enqueue_at, created_at, expires_at)
       select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', 1000 + n, 1000 + n, '+5511987654321', '+5511987654321', 'BR', 'pt-BR', 'credit',
         convert_to(repeat('h', 33), 'utf8'), 'sealed'::bytea, n <= 10500, now(), now(), now(), now() + interval '10 minutes'
       from generate_series(1, 20000) n`,
      [caller.accountId, caller.applicationId],
    );
    await store.sql('analyze sends');

    expect(await readHeldSends(store.database)).toMatchObject({ waiting: 10_000, isCapped: true });

    const statements = await statementsOf(store.database, readHeldSends);
    const nodes = nodesOf(await plansOf(store.url, statements, 'force_generic_plan'));
    const reads = nodes.filter((node) => node['Relation Name'] === 'sends');
    expect(reads).toMatchObject([{ 'Index Name': 'sends_awaiting_sender' }]);
    expect(reads[0]?.['Actual Rows']).toBeLessThanOrEqual(10_001);
  });
});

describe('the details of an account', () => {
  it('are its own alone', async () => {
    const other = await buildCaller(store.database, 'test', { name: 'Alheia', ratePerMinute: 5 });

    const details = await findAccountDetails(store.database, other.accountId);

    expect(details).toMatchObject({ name: 'Alheia', ownRatePerMinute: 5, members: [], trips: [] });
    expect(details?.applications.map(({ id }) => id)).toEqual([other.applicationId]);
    expect(await findAccountDetails(store.database, newId())).toBeNull();
  });
});
