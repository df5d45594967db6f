import { randomBytes } from 'node:crypto';
import { hashesOf, judge, type Judgement, type Keyring, type Send } from '@onecode/domain';
import { closeDatabase, newId, openDatabase } from '@onecode/store/client';
import { changeSend, verifySend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  recipientKeysOf,
  TEST_PEPPER,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';
import { accepted, CODE, sendActions, workerActions } from './sendActions.js';

const WRONG = '042914';
const UNKNOWN = { kind: 'unknown', errorCode: null, reason: 'no answer' } as const;
const REFUSED = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' } as const;

const store = useTestDatabase();
const { read, verify, age, waiting } = sendActions(store);
let sender: Awaited<ReturnType<typeof buildSender>>;
let live: TestCaller;
let test: TestCaller;
beforeAll(async () => {
  sender = await buildSender(store.database);
  live = await buildCaller(store.database, 'live', { credits: 10_000, ratePerMinute: 100_000 });
  test = await buildCaller(store.database, 'test', { ratePerMinute: 100_000 });
});
const { claimSend, settleSend } = workerActions(store, () => sender);

/** Mostly wrong ones, so that codes are locked too. */
const GUESSES = fc.array(
  fc.nat(11).map((n) => n === 0),
  { minLength: 3, maxLength: 8 },
);

let recipients = 0;
const send = (caller: TestCaller): Promise<string> =>
  buildSend(store.database, caller, {
    code: CODE,
    recipient: `+5511987${String(recipients++).padStart(6, '0')}`,
  });

async function claimed(): Promise<string> {
  const id = await send(live);
  await claimSend(id);
  return id;
}

async function settled(outcome: Parameters<typeof settleSend>[2]): Promise<string> {
  const id = await claimed();
  await settleSend(id, 1, outcome);
  return id;
}

/** Sends in every state that a guess may meet. */
const STATES: Record<string, () => Promise<string>> = {
  'a test send': () => send(test),
  'a send that waits for a worker': () => send(live),
  'a send that waits for a sender': () => waiting(live, { code: CODE }),
  'a call under way': async () => await claimed(),
  'a message that may have gone out': () => settled(UNKNOWN),
  'a sent message': () => settled(accepted(`wamid.${newId()}`)),
  'a lost message': async () => {
    const id = await settled(accepted(`wamid.${newId()}`));
    await changeSend(store.database, { id }, (_, now) => ({
      result: null,
      change: { lostAt: now, dueAt: now },
    }));
    return id;
  },
  'a failed send': () => settled(REFUSED),
};

describe.each(Object.entries(STATES))('guesses at %s', (name, make) => {
  const caller = (): TestCaller => (name === 'a test send' ? test : live);

  it('are judged, and change the send, as the rule says', async () => {
    await fc.assert(
      fc.asyncProperty(GUESSES, fc.boolean(), async (guesses, isLate) => {
        const id = await make();
        if (isLate) await age(id, 3600);
        for (const isRight of guesses) {
          const before = await read(caller(), id);
          const result = await verify(caller(), id, isRight ? CODE : WRONG);
          const after = await read(caller(), id);
          const now = after.verifiedAt ?? after.lockedAt ?? new Date();
          const rule = judge(before, now, () => isRight);
          expect(result).toEqual(rule.result);
          expect(after).toEqual({ ...before, ...rule.change });
        }
      }),
      { numRuns: 12 },
    );
  });
});

it('guesses at once, of several processes, are five at the most, and one is valid', async () => {
  const processes = Array.from({ length: 4 }, () => openDatabase(store.url, { connectionsMax: 3 }));
  const ids = await Promise.all(Array.from({ length: 30 }, () => send(live)));
  const answers = await Promise.all(
    Array.from({ length: 12 * ids.length }, async (_, n) => {
      const id = ids[(n * 7) % ids.length]!;
      const code = n % 60 === 59 ? CODE : WRONG;
      const guess = { id, accountId: live.accountId, hashes: hashesOf(TEST_PEPPER, id, code) };
      return { id, ...(await verifySend(processes[n % 4]!, guess))! };
    }),
  );
  for (const id of ids) {
    const own = answers.filter((answer) => answer.id === id);
    const { wrongGuesses } = await read(live, id);
    expect(own.filter(({ valid }) => valid).length).toBe(wrongGuesses < 5 ? 1 : 0);
    const left = own.flatMap(({ verification, attemptsLeft }) =>
      verification === 'pending' ? [attemptsLeft] : [],
    );
    expect(new Set(left).size).toBe(left.length);
  }
  await Promise.all(processes.map(closeDatabase));
});

it.each([
  ['the fourth wrong guess', 'wrong_guesses = 4', WRONG, 'locked'],
  ['its loss', 'lost_at = now(), due_at = now()', CODE, 'verified'],
])(
  'a guess that waits for %s to be committed is judged and written by what is there then',
  async (_, change, code, becomes) => {
    const id = await settled(accepted(`wamid.${newId()}`));
    for (let n = 0; n < 3; n++) await verify(live, id, WRONG);
    const other = await store.connect();
    await other.query('begin');
    await other.query(`update sends set ${change}, version = version + 1 where id = $1`, [id]);
    const guess = verify(live, id, code);
    await until('the wait for the lock', async () => {
      const waiting = await store.sql(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%guesses as materialized%'",
      );
      return waiting.length > 0;
    });
    await other.query('commit');
    await other.end();
    expect(await guess).toMatchObject({ verification: becomes });
    expect(await read(live, id)).toMatchObject({ verification: becomes });
  },
);

it('a code is valid until its deadline, and not in the millisecond of it', async () => {
  await until('guesses before and after deadlines', async () => {
    const ids = (await Promise.all(Array.from({ length: 100 }, () => send(live)))).toSorted();
    // A deadline in each millisecond around the guesses.
    await store.sql(
      `update sends s set expires_at = date_trunc('milliseconds', clock_timestamp()) + n * interval '1 millisecond'
       from unnest($1::uuid[]) with ordinality u (id, n) where s.id = u.id`,
      [ids],
    );
    // The database refuses a code that is verified at its deadline.
    const states = await Promise.all(ids.map(async (id) => (await verify(live, id, CODE)).verification));
    return states.includes('expired') && states.includes('verified');
  });
});

it('a guess at another account’s send, or at none, is no guess', async () => {
  const id = await send(live);
  const hashes = hashesOf(TEST_PEPPER, id, CODE);
  expect(await verifySend(store.database, { id, accountId: test.accountId, hashes })).toBeNull();
  expect(await verifySend(store.database, { id: newId(), accountId: live.accountId, hashes })).toBeNull();
  expect(await read(live, id)).toMatchObject({ verification: 'pending', wrongGuesses: 0 });
});

it('peppers are rotated: an old one is still compared, and without it a guess is an error that counts for nothing', async () => {
  const id = await send(live);
  const next = randomBytes(32);
  const both: Keyring = { current: 2, keys: new Map([[2, next], ...TEST_PEPPER.keys]) };
  const only: Keyring = { current: 2, keys: new Map([[2, next]]) };
  const guess = (pepper: Keyring, code: string) =>
    verifySend(store.database, { id, accountId: live.accountId, hashes: hashesOf(pepper, id, code) });
  await expect(guess(only, CODE)).rejects.toThrow('pepper');
  expect(await guess(both, WRONG)).toMatchObject({ valid: false, attemptsLeft: 4 });
  expect(await guess(both, CODE)).toMatchObject({ valid: true } satisfies Partial<Judgement>);
  expect((await read(live, id)) satisfies Send).toMatchObject({ verification: 'verified' });
});

it('a guess whose count cannot be written fails alone, and no other is judged at its send', async () => {
  const [id, other] = [await send(live), await send(live)];
  await store.sql(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'of a test'; end $$`,
  );
  await store.sql(
    `create trigger of_a_test before insert or update on guess_budgets for each row
     when (new.recipient_key = '${recipientKeysOf((await read(live, id)).recipient)[0]}') execute function refuse()`,
  );
  const [failed, judged] = await Promise.allSettled([verify(live, id, WRONG), verify(live, other, WRONG)]);
  await store.sql('drop trigger of_a_test on guess_budgets');
  expect(failed.status).toBe('rejected');
  expect(judged).toMatchObject({ status: 'fulfilled', value: { attemptsLeft: 4 } });
  expect(await read(live, id)).toMatchObject({ wrongGuesses: 0 });
  expect(await verify(live, id, CODE)).toMatchObject({ valid: false, verification: 'locked' });
});
