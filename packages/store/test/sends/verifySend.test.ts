import { randomBytes } from 'node:crypto';
import { matchesCode, type Keyring, type Send } from '@onecode/domain';
import { revokeApiKey, setSuspension } from '@onecode/store/accounts';
import { closeDatabase, newId, openDatabase, type Database } from '@onecode/store/client';
import { verifySend, type GuessOutcome } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  judgementOf,
  recipientKeysOf,
  refuseWrites,
  TEST_ACTOR,
  TEST_PEPPER,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { accepted, CODE, guessOf, sendActions, workerActions } from './sendActions.js';

const WRONG = '042914';
const VALID = { valid: true, verification: 'verified', attemptsLeft: 0 };

const store = useTestDatabase();
const { read, verify, version, counts, waiting } = sendActions(store);
let sender: Awaited<ReturnType<typeof buildSender>>;
let live: TestCaller;
let test: TestCaller;
beforeAll(async () => {
  sender = await buildSender(store.database);
  live = await buildCaller(store.database, 'live', { credits: 10_000, ratePerMinute: 100_000 });
  test = await buildCaller(store.database, 'test', { ratePerMinute: 100_000 });
});
const { claimSend, settleSend } = workerActions(store, () => sender);

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

async function sent(): Promise<string> {
  const id = await claimed();
  await settleSend(id, 1, accepted(`wamid.${newId()}`));
  return id;
}

/** Runs `work` with four databases, like four processes. */
async function inProcesses<R>(work: (processes: Database[]) => Promise<R>): Promise<R> {
  const processes = Array.from({ length: 4 }, () => openDatabase(store.url, { connectionsMax: 3 }));
  try {
    return await work(processes);
  } finally {
    await Promise.all(processes.map(closeDatabase));
  }
}

/** Returns the number of wrong guesses that are stored with a send. */
async function countWrong(id: string): Promise<number> {
  const sql = 'select coalesce(cardinality(wrong_guess_times), 0) as count from sends where id = $1';
  return (await store.sql<{ count: number }>(sql, [id]))[0]!.count;
}

describe('verifySend', () => {
  /** Returns a send without the columns that differ in each read. */
  const withoutRead = (send: Send): Send => ({ ...send, version: 0, now: null }) as Send;
  const after = async (id: string, guesses: string[]): Promise<[before: Send, after: Send]> => {
    const before = withoutRead(await read(live, id));
    for (const guess of guesses) await verify(live, id, guess);
    return [before, withoutRead(await read(live, id))];
  };
  const FIVE_WRONG = Array.from({ length: 5 }, () => WRONG);

  it('stores a wrong guess with its time', async () => {
    const id = await waiting(live, { code: CODE });
    const [before, wrong] = await after(id, [WRONG, WRONG]);
    expect(wrong).toEqual(before);
    expect(await countWrong(id)).toBe(2);
  });

  it.each([
    ['waiting', () => waiting(live, { code: CODE })],
    ['sent', () => sent()],
  ])('stores a correct guess at the code of a %s send, without changing its delivery', async (_, create) => {
    const id = await create();
    const [before, right] = await after(id, [WRONG, CODE]);
    const { verifiedAt } = right;
    expect(verifiedAt).toBeInstanceOf(Date);
    expect(right).toEqual({ ...before, verification: 'verified', verifiedAt });
    expect(await countWrong(id)).toBe(1);
  });

  it('locks the send at the fifth wrong guess, without ending a call in progress', async () => {
    const id = await claimed();
    const [before, locked] = await after(id, FIVE_WRONG);
    expect(locked).toEqual({ ...before, verification: 'locked' });
    expect(
      await store.sql('select locked_at = wrong_guess_times[5] as is_last from sends where id = $1', [id]),
    ).toEqual([{ is_last: true }]);
  });
});

describe('concurrent guesses', () => {
  it('have one valid result for 200 correct guesses at one send, which is written once', async () => {
    const id = await send(live);
    const before = await version(id);
    const judged = await inProcesses((processes) =>
      Promise.all(
        Array.from({ length: 200 }, async (_, n) =>
          judgementOf(await verifySend(processes[n % 4]!, guessOf(live, id, CODE))),
        ),
      ),
    );
    expect(judged.filter(({ valid }) => valid)).toEqual([VALID]);
    expect(new Set(judged.map(({ verification }) => verification))).toEqual(new Set(['verified']));
    expect(await version(id)).toBe(before + 1);
  });

  it('are counted exactly at many sends, with at most one valid result for each send', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => send(live)));
    const answers = await inProcesses((processes) =>
      Promise.all(
        Array.from({ length: 12 * ids.length }, async (_, n) => {
          const id = ids[(n * 7) % ids.length]!;
          const guess = guessOf(live, id, n % 60 === 59 ? CODE : WRONG);
          return { id, ...judgementOf(await verifySend(processes[n % 4]!, guess)) };
        }),
      ),
    );
    for (const id of ids) {
      const own = answers.filter((answer) => answer.id === id);
      const wrongGuesses = await countWrong(id);
      expect(own.filter(({ valid }) => valid).length).toBe(wrongGuesses < 5 ? 1 : 0);
      const left = own.flatMap(({ verification, attemptsLeft }) =>
        verification === 'pending' ? [attemptsLeft] : [],
      );
      const wrong = wrongGuesses < 5 ? wrongGuesses : 4;
      expect(left.toSorted((one, other) => other - one)).toEqual([4, 3, 2, 1].slice(0, wrong));
    }
  });

  it.each([
    [
      'the fourth wrong guess',
      'wrong_guess_times = array_fill(now(), array[4])',
      WRONG,
      { verification: 'locked' },
    ],
    [
      'a failure of the message',
      "phase = 'ready', due_at = now()",
      CODE,
      { verification: 'verified', phase: 'ready' },
    ],
  ])('are judged again if %s is committed first', async (_, change, code, becomes) => {
    const id = await sent();
    for (let n = 0; n < 3; n++) await verify(live, id, WRONG);
    const other = await store.connect();
    await other.query('begin');
    await other.query(`update sends set ${change}, version = version + 1 where id = $1`, [id]);
    const guess = verify(live, id, code);
    await until('the wait for the lock', async () => (await store.countLockWaits()) > 0);
    await other.query('commit');
    await other.end();
    expect(await guess).toMatchObject({ verification: becomes.verification });
    expect(await read(live, id)).toMatchObject(becomes);
  });
});

it('a guess does not wait for the lock of another send in its batch', async () => {
  const [locked, free] = [await send(live), await send(live)];
  const other = await store.connect();
  await other.query('begin');
  await other.query('select from sends where id = $1 for no key update', [locked]);
  const ends: string[] = [];
  const guess = (id: string) => verify(live, id, CODE).then(() => ends.push(id));
  const both = [guess(locked), guess(free)];
  await both[1];
  expect(ends).toEqual([free]);
  await other.query('commit');
  await other.end();
  await Promise.all(both);
});

it('guesses at two locked sends pause, and then wait for the locks instead of repeating their statements', async () => {
  const locked = [await send(live), await send(live)];
  const other = await store.connect();
  await other.query('begin');
  await other.query('select from sends where id = any($1) for no key update', [locked]);
  const guesses = locked.map((id) => verify(live, id, CODE));
  // Without pauses, both would always be in one batch, which skips locked sends.
  await until('a guess that waits', async () => (await store.countLockWaits()) > 0);
  await other.query('commit');
  await other.end();
  for (const guess of await Promise.all(guesses)) expect(guess).toMatchObject({ valid: true });
});

describe.each<[string, (caller: TestCaller) => Promise<unknown>, GuessOutcome]>([
  [
    'a revoked key',
    ({ keyId }) => revokeApiKey(store.database, TEST_ACTOR, keyId),
    { outcome: 'key_refused', cause: 'revoked' },
  ],
  [
    'an expired key',
    ({ keyId }) =>
      store.sql(`update api_keys set expires_at = clock_timestamp() - interval '1 second' where id = $1`, [
        keyId,
      ]),
    { outcome: 'key_refused', cause: 'expired' },
  ],
  [
    'a key of a suspended account',
    ({ accountId }) => setSuspension(store.database, TEST_ACTOR, accountId, 'unpaid'),
    { outcome: 'key_refused', cause: 'suspended' },
  ],
])('a guess with %s', (_, refuse, refused) => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await buildCaller(store.database, 'live');
  });
  afterEach(() => setSuspension(store.database, TEST_ACTOR, caller.accountId, null));
  const guess = (id: string, code: string): Promise<GuessOutcome> =>
    verifySend(store.database, guessOf(caller, id, code));

  it.each([CODE, WRONG])('is refused and not counted: %s', async (code) => {
    const id = await send(caller);
    await refuse(caller);
    const before = await version(id);
    expect(await guess(id, code)).toEqual(refused);
    expect([await version(id), await counts(caller)]).toEqual([before, {}]);
  });

  it.each([CODE, WRONG])(
    'is refused and not counted if that happens between the read and the write: %s',
    async (code) => {
      const id = await send(caller);
      const before = await version(id);
      const other = await store.connect();
      // Blocks the write but not the read, because only the write uses this table.
      await other.query('begin; lock table guess_budgets in access exclusive mode');
      const guessed = guess(id, code);
      await until('the wait of the write', async () => (await store.countLockWaits()) > 0);
      await refuse(caller);
      await other.query('rollback');
      await other.end();
      expect(await guessed).toEqual(refused);
      expect([await version(id), await counts(caller)]).toEqual([before, {}]);
    },
  );
});

it('verifySend accepts a code until exactly its deadline', async () => {
  await until('guesses before and after deadlines', async () => {
    const ids = (await Promise.all(Array.from({ length: 100 }, () => send(live)))).toSorted();
    // The deadlines are one millisecond apart, around the time of the guesses.
    await store.sql(
      `update sends s set expires_at = date_trunc('milliseconds', clock_timestamp()) + n * interval '1 millisecond'
       from unnest($1::uuid[]) with ordinality u (id, n) where s.id = u.id`,
      [ids],
    );
    // The database would reject a verification at or after the deadline.
    const states = await Promise.all(ids.map(async (id) => (await verify(live, id, CODE)).verification));
    return states.includes('expired') && states.includes('verified');
  });
});

it('verifySend returns not_found for an unknown send or another account’s send, and counts nothing', async () => {
  const id = await send(live);
  for (const guess of [guessOf(test, id, CODE), guessOf(live, newId(), CODE)])
    expect(await verifySend(store.database, guess)).toEqual({ outcome: 'not_found' });
  expect(await read(live, id)).toMatchObject({ verification: 'pending' });
  expect(await countWrong(id)).toBe(0);
});

it('verifySend throws if the keyring lacks the code’s pepper, and counts nothing', async () => {
  const id = await send(live);
  const next = randomBytes(32);
  const both: Keyring = { current: 2, keys: new Map([[2, next], ...TEST_PEPPER.keys]) };
  const only: Keyring = { current: 2, keys: new Map([[2, next]]) };
  const guess = (pepper: Keyring, code: string) =>
    verifySend(store.database, {
      ...guessOf(live, id, code),
      matches: (codeHash) => matchesCode(pepper, id, code, codeHash),
    });
  await expect(guess(only, CODE)).rejects.toThrow('not in the keyring');
  expect(judgementOf(await guess(both, WRONG))).toMatchObject({ valid: false, attemptsLeft: 4 });
  expect(judgementOf(await guess(both, CODE))).toEqual(VALID);
});

it('verifySend fails a guess with a rejected write, and writes the other guesses of its batch', async () => {
  const [id, other] = [await send(live), await send(live)];
  const [recipientKey] = recipientKeysOf((await read(live, id)).recipient);
  const allow = await refuseWrites(
    store,
    'insert or update on guess_budgets',
    `new.recipient_key = '${recipientKey}'`,
  );
  const [failed, judged] = await Promise.allSettled([verify(live, id, WRONG), verify(live, other, WRONG)]);
  await allow();
  expect(failed.status).toBe('rejected');
  expect(judged).toMatchObject({ status: 'fulfilled', value: { attemptsLeft: 4 } });
  expect(await countWrong(id)).toBe(0);
});
