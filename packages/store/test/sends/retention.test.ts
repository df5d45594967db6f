import { maskRecipient } from '@onecode/domain';
import { changeSettings, findAccount, changeApplication } from '@onecode/store/accounts';
import { closeDatabase, newId, openDatabase } from '@onecode/store/client';
import { listLedger, listSends } from '@onecode/store/reports';
import { createSend, eraseRecipient, readRetention, applyRetention } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  guessCode,
  newSend,
  recipientKeysOf,
  TEST_ACTOR,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from './sendActions.js';

const store = useTestDatabase();
const { insertAttempt } = sendActions(store);
const NUMBER = '+5511987654321';
const always = new AbortController().signal;

let live: TestCaller;
let test: TestCaller;
beforeEach(async () => {
  await store.sql('truncate accounts, senders, attempts, send_identities, guess_budgets cascade');
  await store.sql(`update cursors set position = default`);
  await changeSettings(store.database, TEST_ACTOR, { retainNumbersDays: 90 });
  await changeSettings(store.database, TEST_ACTOR, { retainSendsDays: null });
  live = await buildCaller(store.database, 'live', { credits: 1_000 });
  test = await buildCaller(store.database, 'test', { id: live.accountId });
});

const FAILED = `status = 'failed', phase = 'done', failure_reason = 'attempts_exhausted', failed_at = now()`;
const READ = `status = 'read', phase = 'done', channel = 'sandbox', sent_at = now(), delivered_at = now(), read_at = now()`;

/** A finished send that was created this many days ago. */
async function past(
  days: number,
  { caller = live, ...options }: { caller?: TestCaller; recipient?: string } = {},
) {
  return makeOlder(
    await buildSend(store.database, caller, options),
    days,
    caller.mode === 'live' ? FAILED : READ,
  );
}

/** Makes a send this many days older, and finished unless `change` is empty. @returns its id, which contains its time */
async function makeOlder(id: string, days: number, change: string): Promise<string> {
  const [send] = await store.sql<{ id: string }>(
    `update sends set id = overlay(first_id_at(created_at - make_interval(days => $2))::text placing right(id::text, 17) from 20)::uuid,
       ${change && `${change}, due_at = null, encrypted_code = null,`}
       created_at = created_at - make_interval(days => $2), expires_at = expires_at - make_interval(days => $2)
     where id = $1 returning id`,
    [id, days],
  );
  return send!.id;
}
const sendsLeft = () =>
  store.sql<{ id: string; recipient: string }>('select id, recipient from sends order by id');
const recipients = async () => (await sendsLeft()).map(({ recipient }) => recipient);
const idsLeft = async () => (await sendsLeft()).map(({ id }) => id);

describe('retention of numbers', () => {
  it('masks the numbers of old sends, which a search for the number still finds', async () => {
    await past(91, { recipient: NUMBER });
    await past(89, { recipient: NUMBER });
    expect(await applyRetention(store.database, always)).toEqual({ numbersReplaced: 1, sendsDeleted: 0 });
    expect(await recipients()).toEqual([maskRecipient(NUMBER), NUMBER]);
    expect(await applyRetention(store.database, always)).toEqual({ numbersReplaced: 0, sendsDeleted: 0 });

    const filter = { recipientKeys: recipientKeysOf(NUMBER) };
    expect((await listSends(store.database, live.accountId, filter, { limit: 10 })).sends).toHaveLength(2);
  });

  it('counts masked numbers in the hourly limit', async () => {
    await changeApplication(store.database, TEST_ACTOR, live.applicationId, { perRecipientHour: 1 });
    const id = await buildSend(store.database, live, { recipient: NUMBER });
    await store.sql('update sends set recipient = $2 where id = $1', [id, maskRecipient(NUMBER)]);
    const again = await createSend(store.database, newSend(live, { recipient: NUMBER }));
    expect(again).toMatchObject({ outcome: 'rate_limited', cause: 'recipient_rate' });
  });

  it('reports overdue numbers and days without aggregation', async () => {
    const overdueDays = async (): Promise<number | null> => {
      const { seconds } = await readRetention(store.database);
      return seconds && Math.round(seconds / 86_400);
    };
    expect(await overdueDays()).toBeNull();
    const id = await past(12, { recipient: NUMBER });
    expect(await overdueDays()).toBe(12 - 9);
    await makeOlder(id, 90, FAILED);
    expect(await overdueDays()).toBe(102 - 9);
    await store.sql(`update cursors set position = $1 where name = 'statistics'`, [newId()]);
    expect(await overdueDays()).toBe(102 - 30);
    await applyRetention(store.database, always);
    expect(await overdueDays()).toBeNull();
  });

  it('keeps numbers forever if no time is set', async () => {
    await changeSettings(store.database, TEST_ACTOR, { retainNumbersDays: null });
    await past(3_000, { recipient: NUMBER });
    expect(await applyRetention(store.database, always)).toEqual({ numbersReplaced: 0, sendsDeleted: 0 });
  });

  it('masks numbers of sends that are inserted before the position after a reset', async () => {
    await past(92, { recipient: NUMBER });
    await applyRetention(store.database, always);
    await past(93, { recipient: NUMBER });
    expect(await applyRetention(store.database, always)).toMatchObject({ numbersReplaced: 0 });
    await store.sql(`update cursors set position = default where name = 'numbers'`);
    expect(await applyRetention(store.database, always)).toMatchObject({ numbersReplaced: 1 });
    expect(await recipients()).toEqual([maskRecipient(NUMBER), maskRecipient(NUMBER)]);
  });

  it('masks each number once with concurrent workers and after an interruption', async () => {
    const model = await past(91, { recipient: NUMBER });
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key, country, locale,
         charged_from, code_hash, status, phase, failed_at, failure_reason, created_at, expires_at)
       select gen_random_uuid(), request_id, account_id, application_id, mode, 1000 + n, recipient, recipient_key, country, locale,
         charged_from, code_hash, status, phase, failed_at, failure_reason, created_at, expires_at
       from sends s, generate_series(1, 500) n where id = $1`,
      [model],
    );
    const cutOff = new AbortController();
    const begun = applyRetention(store.database, cutOff.signal);
    await until('a masked number', async () => (await recipients()).includes(maskRecipient(NUMBER)));
    cutOff.abort();
    const rounds = [await begun];
    rounds.push(...(await Promise.all([1, 2, 3].map(() => applyRetention(store.database, always)))));
    expect(rounds.reduce((sum, { numbersReplaced }) => sum + numbersReplaced, 0)).toBe(501);
    expect(new Set(await recipients())).toEqual(new Set([maskRecipient(NUMBER)]));
  });
});

describe('retention of sends', () => {
  const days = (value: number | null) =>
    changeSettings(store.database, TEST_ACTOR, { retainSendsDays: value });

  it('deletes test sends after thirty days, and live sends only if a time is set', async () => {
    const sends = {
      test: await past(31, { caller: test }),
      youngTest: await past(29, { caller: test }),
      live: await past(366),
      youngLive: await past(364),
    };
    expect(await applyRetention(store.database, always)).toMatchObject({ sendsDeleted: 1 });
    expect(await idsLeft()).toEqual([sends.live, sends.youngLive, sends.youngTest]);
    await days(365);
    expect(await applyRetention(store.database, always)).toMatchObject({ sendsDeleted: 1 });
    expect(await idsLeft()).toEqual([sends.youngLive, sends.youngTest]);
  });

  it('deletes sends with all their data, and keeps the ledger and the balance', async () => {
    await days(30);
    const gone = await past(31, { recipient: NUMBER });
    const stays = await past(29, { recipient: NUMBER });
    for (const id of [gone, stays]) {
      await insertAttempt(id, { messageId: id });
      await store.sql(
        `insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed)
         select id, application_id, recipient_key, 'DF2lS5v2W6x=', false from sends where id = $1`,
        [id],
      );
    }
    const money = async () => ({
      account: await findAccount(store.database, live.accountId),
      ledger: await listLedger(store.database, live.accountId, { limit: 100 }),
    });
    const before = await money();
    expect(await applyRetention(store.database, always)).toEqual({ numbersReplaced: 0, sendsDeleted: 1 });
    expect(await money()).toEqual(before);
    for (const table of ['attempts', 'send_identities'])
      expect(await store.sql(`select send_id from ${table}`)).toEqual([{ send_id: stays }]);
  });

  it('keeps sends that may still be refunded', async () => {
    await days(30);
    await makeOlder(await buildSend(store.database, live), 31, '');
    expect(await applyRetention(store.database, always)).toMatchObject({ sendsDeleted: 0 });
  });

  it('deletes only guess budgets that have recovered', async () => {
    await days(30);
    const id = await buildSend(store.database, live, { recipient: NUMBER });
    await guessCode(store.database, id, false);
    await makeOlder(id, 31, FAILED);
    await past(31, { recipient: NUMBER });
    const [recovered] = await store.sql<{ recipient_key: string }>(
      `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
       select account_id, recipient_key, 5, now() - interval '2 days' from sends where id = $1 returning recipient_key`,
      [await past(31, { recipient: '+5511987654322' })],
    );
    expect(await applyRetention(store.database, always)).toMatchObject({ sendsDeleted: 3 });
    const left = await store.sql<{ recipient_key: string }>('select recipient_key from guess_budgets');
    expect(left).toEqual([{ recipient_key: recipientKeysOf(NUMBER)[0] }]);
    expect(left).not.toEqual([recovered]);
  });
});

it('eraseRecipient may take longer than the timeout of other transactions', async () => {
  for (let count = 0; count < 12; count += 1) await buildSend(store.database, test, { recipient: NUMBER });
  await store.sql(`
    create function delay() returns trigger language plpgsql as $$ begin perform pg_sleep(0.1); return new; end $$;
    create trigger delay before update on sends for each row execute function delay()`);
  // Each of the two updates takes 1.2 seconds.
  const timeouts = { connectionMs: 3_000, statementMs: 2_000 };
  const database = openDatabase(store.url, { connectionsMax: 2, timeouts });
  try {
    const erased = await eraseRecipient(database, TEST_ACTOR, recipientKeysOf(NUMBER), null, 'Request 17');
    expect(erased).toEqual({ sendsErased: 12, codesEnded: 12 });
  } finally {
    await closeDatabase(database);
    await store.sql('drop function delay() cascade');
  }
  expect(new Set(await recipients())).toEqual(new Set([maskRecipient(NUMBER)]));
});
