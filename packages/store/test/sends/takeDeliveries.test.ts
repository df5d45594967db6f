import type { NewSend, Phase, Send } from '@onecode/domain';
import { claim } from '@onecode/testing/claim-model';
import { closeDatabase, openDatabase, type Database } from '@onecode/store/client';
import { placeHold } from '@onecode/store/holds';
import { pauseSender, resumeSender, type Sender } from '@onecode/store/senders';
import { createSend, findSend, openDeliveries } from '@onecode/store/sends';
import {
  blockSender,
  buildCaller,
  buildSend,
  buildSender,
  endBlocks,
  guessCode,
  newSend,
  TEST_ACTOR,
  until,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';
import { sendActions } from './sendActions.js';

const store = useTestDatabase();

const TERMS = { policy: { attemptsMax: 5, backoffMs: 1000 }, leaseMs: 15_000 };

/** Returns the claimed sends, in the order of their permits. */
async function takeDue(limit = 100, database = store.database): Promise<Send[]> {
  const taken = await openDeliveries(database, TERMS.leaseMs).takeDue(limit);
  return taken.flatMap((one) => (one.waitMs === null ? [] : [one]));
}

describe('sends that wait for a sender', () => {
  let live: TestCaller;
  beforeAll(async () => {
    live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  });
  beforeEach(() => store.sql('truncate sends, senders, sender_blocks cascade'));

  const { age, ...actions } = sendActions(store);

  const waiting = (wishes: SendOptions = {}) => actions.waiting(live, wishes);
  const countTaken = async (limit = 100) => (await takeDue(limit)).length;
  const isAwaiting = async (id: string) =>
    (await findSend(store.database, { id, accountId: live.accountId }))!.phase === 'waiting';

  it('wait only while every sender is blocked for their language', async () => {
    const { id: senderId } = await buildSender(store.database);
    const [english, portuguese] = [await waiting({ locale: 'en' }), await waiting({ locale: 'pt-BR' })];
    await blockSender(store.database, { id: senderId }, { onlyFor: 'en' });
    expect(await countTaken()).toBe(1);
    expect([await isAwaiting(english), await isAwaiting(portuguese)]).toEqual([true, false]);
    await resumeSender(store.database, TEST_ACTOR, senderId);
    expect(await countTaken()).toBe(1);
    expect(await isAwaiting(english)).toBe(false);
  });

  it('are claimed once after a sender is added', async () => {
    const id = await waiting();
    expect(await countTaken()).toBe(0);
    const { id: senderId, number } = await buildSender(store.database);
    const [taken] = await takeDue();
    expect(taken).toMatchObject({
      id,
      status: 'sending',
      channel: 'whatsapp',
      from: number,
      senderId,
      attempts: 1,
      attemptNumber: 1,
      phase: 'calling',
    });
    expect(taken!.claimedUntil!.getTime()).toBeGreaterThanOrEqual(
      taken!.claimedAt!.getTime() + TERMS.leaseMs,
    );
    // The send is due again when its lease ends, so that after a crash it is taken before its deadline.
    expect(taken!.dueAt).toEqual(taken!.claimedAt);
    expect(await countTaken()).toBe(0);
  });

  it('are taken only by a sender that may message their country', async () => {
    const id = await waiting();
    const sender = await buildSender(store.database);
    await blockSender(store.database, sender, { onlyFor: 'BR' });
    expect(await countTaken()).toBe(0);
    const other = await buildSender(store.database);
    await blockSender(store.database, other, { onlyFor: 'US' });
    expect(await countTaken()).toBe(1);
    expect(await isAwaiting(id)).toBe(false);
    await pauseSender(store.database, TEST_ACTOR, other.id);
    await waiting();
    expect(await countTaken()).toBe(0);
    await endBlocks(store.database);
    expect(await countTaken()).toBe(1);
  });

  it('are taken by any sender if they have no country', async () => {
    const id = await waiting();
    await store.sql(`update sends set country = 'ZZ' where id = $1`, [id]);
    const sender = await buildSender(store.database);
    await blockSender(store.database, sender, { onlyFor: 'BR' });
    expect(await countTaken()).toBe(1);
  });

  it('are taken newest first within an account, up to the limit', async () => {
    const [newer, older] = [await waiting(), await waiting()];
    await age(older, 60);
    await buildSender(store.database);
    expect(await countTaken(1)).toBe(1);
    expect([await isAwaiting(newer), await isAwaiting(older)]).toEqual([false, true]);
  });

  it('are not taken if too little time is left', async () => {
    const id = await waiting();
    await age(id, 571);
    await buildSender(store.database);
    expect(await countTaken()).toBe(0);
    await age(id, -3);
    expect(await countTaken()).toBe(1);
  });

  it('are not taken after their deadline', async () => {
    const id = await waiting();
    await age(id, 600);
    await buildSender(store.database);
    expect(await countTaken()).toBe(0);
    expect(await isAwaiting(id)).toBe(true);
  });

  it('are taken even if expired sends fill the limit', async () => {
    const expired = await waiting();
    await age(expired, 601);
    await store.sql('update sends set due_at = expires_at where id = $1', [expired]);
    const id = await waiting();
    await buildSender(store.database);
    const taken = await openDeliveries(store.database, TERMS.leaseMs).takeDue(1);
    expect(taken.map((one) => [one.waitMs === null, one.id])).toEqual([
      [true, expired],
      [false, id],
    ]);
  });

  it('do not include new sends, which are left to their jobs', async () => {
    const id = await buildSend(store.database, live);
    await buildSender(store.database);
    expect(await countTaken()).toBe(0);
    expect((await findSend(store.database, { id, accountId: live.accountId }))!.dueAt).not.toBeNull();
  });

  it('are taken once by concurrent sweeps', async () => {
    for (let n = 0; n < 40; n++) await waiting();
    await buildSender(store.database);
    const taken = await Promise.all(Array.from({ length: 6 }, () => countTaken(15)));
    const rest = await countTaken(100);
    expect(taken.reduce((sum, count) => sum + count, rest)).toBe(40);
  });

  it('are taken newest first by concurrent callers, exactly as permits allow', async () => {
    const ids = [];
    for (let n = 0; n < 30; n++) ids.push(await waiting({ recipient: `+55119876543${10 + n}` }));
    await buildSender(store.database, { throughput: 10 });
    const begun = performance.now();
    const taken = (await Promise.all(Array.from({ length: 6 }, () => countTaken()))).reduce(
      (sum, n) => sum + n,
    );
    // One permit immediately, four more within half a second, and one more for each ninth of a second that has passed.
    expect(taken).toBeGreaterThanOrEqual(5);
    expect(taken).toBeLessThanOrEqual(6 + Math.ceil((performance.now() - begun) / (1_000 / 9)));
    const left = await store.sql<{ id: string }>('select id from sends where is_waiting');
    expect(left.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, -taken).toSorted());
  });

  it('are taken with permits that other calls leave unused', async () => {
    for (let n = 0; n < 5; n++) await waiting();
    await buildSender(store.database, { throughput: 10 });
    await store.sql(
      `insert into sender_permits (sender_id, free_at) select id, clock_timestamp() + interval '350 milliseconds' from senders`,
    );
    expect(await countTaken()).toBe(2);
  });
});

describe('turns', () => {
  beforeEach(() => store.sql('truncate sends, senders, sender_blocks, account_turns, holds cascade'));

  const accounts = (count: number): Promise<TestCaller[]> =>
    Promise.all(
      Array.from({ length: count }, () => buildCaller(store.database, 'live', { freeQuota: 1000 })),
    );

  let recipients = 0;
  /** Creates this many sends that wait for a sender, to different recipients, a millisecond apart. */
  async function waiting(
    { accountId, applicationId }: TestCaller,
    count: number,
    country: string = 'BR',
  ): Promise<void> {
    recipients += count;
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key,
         country, locale, charged_from, code_hash, encrypted_code, phase, due_at, created_at, expires_at)
       select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', m.latest + n, '+55119' || ($4 + n), '1:' || lpad('55119' || ($4 + n), 22, '0'), $5, 'pt-BR',
         'free_quota', decode(repeat('01', 33), 'hex'), 'x', 'waiting', made + interval '10 minutes', made,
         made + interval '10 minutes'
       from generate_series(1, $3::integer) n,
         lateral (select coalesce(max(application_number), 0) as latest from sends where application_id = $2) m,
         lateral (select clock_timestamp() - interval '1 minute' + n * interval '1 millisecond' as made) t`,
      [accountId, applicationId, count, 10_000_000 + recipients, country],
    );
  }

  /** Takes this many sends. @returns their accounts' positions in `callers`, in the order of their turns */
  async function takeTurns(
    callers: readonly TestCaller[],
    limit: number,
    database = store.database,
  ): Promise<number[]> {
    const taken = await takeDue(limit, database);
    return taken.map((send) => callers.findIndex(({ accountId }) => accountId === send.accountId));
  }
  const count = (turns: readonly number[], caller: number): number =>
    turns.filter((turn) => turn === caller).length;

  describe('accounts with waiting sends', () => {
    it('take turns, starting with the account served least recently', async () => {
      const callers = await accounts(3);
      await buildSender(store.database, { throughput: 1000 });
      for (const first of [2, 0, 1]) {
        await waiting(callers[first]!, 1);
        expect(await takeTurns(callers, 10)).toEqual([first]);
      }
      for (const caller of callers) await waiting(caller, 2);
      const turns: number[] = [];
      while (turns.length < 6) turns.push(...(await takeTurns(callers, 1)));
      expect(turns).toEqual([2, 0, 1, 2, 0, 1]);
    });

    it('wait for at most one turn behind 5,000 sends of another account', async () => {
      const callers = await accounts(2);
      await waiting(callers[0]!, 5_000);
      await buildSender(store.database, { throughput: 1000 });
      expect(await takeTurns(callers, 50)).toEqual(Array.from({ length: 50 }, () => 0));
      await waiting(callers[1]!, 1);
      expect((await takeTurns(callers, 50)).slice(0, 2)).toContain(1);
    });

    it('each get a first turn before any account gets a second turn', async () => {
      const callers = await accounts(20);
      await waiting(callers[0]!, 200);
      for (const caller of callers.slice(1)) await waiting(caller, 2);
      await buildSender(store.database, { throughput: 1000 });
      const first = await takeTurns(callers, 20);
      expect(first.toSorted((a, b) => a - b)).toEqual(callers.map((_, n) => n));
    });

    it('share permits equally among concurrent callers', async () => {
      const callers = await accounts(4);
      for (const caller of callers) await waiting(caller, 50);
      await buildSender(store.database, { throughput: 80 });
      const batches = await Promise.all(Array.from({ length: 8 }, () => takeTurns(callers, 5)));
      let turns = batches.flat();
      for (let more = [0]; more.length > 0; turns = [...turns, ...more]) more = await takeTurns(callers, 5);
      // At least the sender's permits of half a second. More if time has passed.
      expect(turns.length).toBeGreaterThanOrEqual(43);
      const shares = callers.map((_, n) => count(turns, n));
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    });

    it('have each send claimed once by four concurrent processes', async () => {
      const callers = await accounts(5);
      for (const caller of callers) await waiting(caller, 60);
      await buildSender(store.database, { throughput: 1000 });
      const databases = Array.from({ length: 4 }, () =>
        openDatabase(store.url, { connectionsMax: 2, byIndexOnly: true }),
      );
      const taken: string[] = [];
      const takeAll = async (database: Database): Promise<void> => {
        while (taken.length < 300) taken.push(...(await takeDue(7, database)).map(({ id }) => id));
      };
      await Promise.all(databases.map(takeAll));
      await Promise.all(databases.map(closeDatabase));
      expect([taken.length, new Set(taken).size]).toEqual([300, 300]);
    });

    it.each(['nested loops', 'merge joins'])('lose no turn if they get no permit, with %s', async (joins) => {
      const off = joins === 'nested loops' ? 'mergejoin' : 'nestloop';
      const url = new URL(store.url);
      url.searchParams.set('options', `-c enable_hashjoin=off -c enable_${off}=off`);
      const database = openDatabase(url.href, { connectionsMax: 1, byIndexOnly: true });
      const callers = await accounts(2);
      for (const caller of callers) await waiting(caller, 30);
      await buildSender(store.database, { throughput: 10 });
      const first = await takeTurns(callers, 100, database);
      expect(Math.abs(count(first, 0) - count(first, 1))).toBeLessThanOrEqual(1);
      await store.sql(`update sender_permits set free_at = free_at - interval '1 second'`);
      const all = [...first, ...(await takeTurns(callers, 100, database))];
      expect(Math.abs(count(all, 0) - count(all, 1))).toBeLessThanOrEqual(1);
      await closeDatabase(database);
    });

    it('get no turn for sends without an allowed sender, and these sends do not block other sends', async () => {
      const callers = await accounts(3);
      await waiting(callers[0]!, 300, 'US');
      await waiting(callers[0]!, 4, 'BR');
      await waiting(callers[1]!, 300, 'AR');
      await waiting(callers[2]!, 4, 'ZZ');
      const { id: senderId } = await buildSender(store.database, { throughput: 1000 });
      await blockSender(store.database, { id: senderId }, { onlyFor: 'US' });
      await placeHold(store.database, TEST_ACTOR, {
        kind: 'account',
        target: callers[1]!.accountId,
        reason: 'a test',
      });
      const turns = await takeTurns(callers, 10);
      expect([count(turns, 0), count(turns, 1), count(turns, 2)]).toEqual([4, 0, 4]);
    });
  });

  describe('a new send', () => {
    const create = async (caller: TestCaller, fields: Partial<NewSend> = {}) => {
      const creation = await createSend(store.database, { ...newSend(caller), ...fields });
      if (creation.outcome !== 'created') throw new Error(creation.outcome);
      return creation.send;
    };

    it('waits without a job behind sends that the same senders may serve', async () => {
      const [caller, other] = await accounts(2);
      await waiting(caller!, 3);
      expect(await create(caller!)).toMatchObject({ phase: 'waiting' });
      expect(await create(caller!, { locale: 'en' })).toMatchObject({ phase: 'ready' });
      expect(await create(caller!, { country: 'US' })).toMatchObject({ phase: 'ready' });
      expect(await create(other!)).toMatchObject({ phase: 'ready' });
    });

    it('of another account gets the next turn after its job found no permit', async () => {
      const callers = await accounts(2);
      await buildSender(store.database);
      await waiting(callers[0]!, 200);
      while ((await takeTurns(callers, 100)).length > 0);
      const { id } = await create(callers[1]!);
      await store.sql(`update sender_permits set free_at = clock_timestamp() + interval '1 minute'`);
      expect(await openDeliveries(store.database, TERMS.leaseMs).take(id)).toMatchObject({
        waitMs: null,
        phase: 'waiting',
      });
      await store.sql('update sender_permits set free_at = clock_timestamp()');
      expect((await takeTurns(callers, 100)).slice(0, 2)).toContain(1);
    });

    it('is ready immediately while no send waits, even without a sender', async () => {
      const [caller] = await accounts(1);
      expect(await create(caller!)).toMatchObject({ phase: 'ready' });
      await buildSender(store.database);
      const send = await create(caller!);
      expect(send.phase).toBe('ready');
      expect(await openDeliveries(store.database, TERMS.leaseMs).take(send.id)).toMatchObject({
        waitMs: 0,
      });
    });
  });
});

describe('the send of a job', () => {
  let caller: TestCaller;
  let sender: Sender;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  });
  beforeEach(async () => {
    await store.sql('truncate sends, senders, sender_blocks, account_turns, holds cascade');
    sender = await buildSender(store.database);
  });

  const { age } = sendActions(store);
  const take = (id: string) => openDeliveries(store.database, TERMS.leaseMs).take(id);
  const many = (count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        buildSend(store.database, caller, { recipient: `+55119876500${10 + n}` }),
      ),
    );
  const set = (id: string, change: string) => store.sql(`update sends set ${change} where id = $1`, [id]);
  const permitsTaken = async (): Promise<boolean> =>
    (await store.sql('select from sender_permits')).length > 0;
  const attemptsOf = (id: string) =>
    store.sql('select number, sender_id, outcome, started_at, finished_at from attempts where send_id = $1', [
      id,
    ]);

  it('is claimed once, with a permit', async () => {
    const id = await buildSend(store.database, caller);
    const taken = await take(id);
    expect(taken).toMatchObject({ waitMs: 0, id, senderId: sender.id });
    expect(await take(id)).toMatchObject({ waitMs: null });
    expect(await permitsTaken()).toBe(true);
    expect(await attemptsOf(id)).toEqual([]);
  });

  it('does not end a pause of its sender that began during the claim', async () => {
    const id = await buildSend(store.database, caller);
    await store.sql(`insert into sender_permits (sender_id, free_at) values ($1, clock_timestamp())`, [
      sender.id,
    ]);
    const editing = await store.connect();
    await editing.query('begin');
    await editing.query(`update sender_permits set free_at = clock_timestamp() + interval '1 minute'`);
    const taken = take(id);
    await until('the claim waits', async () => (await store.countLockWaits()) > 0);
    await editing.query('commit');
    await editing.end();
    expect(await taken).toMatchObject({ waitMs: 0 });
    const [row] = await store.sql(
      `select free_at > clock_timestamp() + interval '30 seconds' as is_paused from sender_permits`,
    );
    expect(row).toEqual({ is_paused: true });
  });

  it('is claimed by one of many concurrent jobs', async () => {
    const id = await buildSend(store.database, caller);
    const workers = Array.from({ length: 10 }, () => openDeliveries(store.database, TERMS.leaseMs));
    const taken = await Promise.all(workers.map((worker) => worker.take(id)));
    expect(taken.filter((one) => one?.waitMs === 0)).toHaveLength(1);
  });

  it('is claimed once by several calls in a batch', async () => {
    const [first, second] = await many(2);
    const deliveries = openDeliveries(store.database, TERMS.leaseMs);
    // The first call is a separate batch; the others share the next one.
    const taken = await Promise.all([first!, second!, second!, second!].map((id) => deliveries.take(id)));
    expect(taken.map((one) => one?.id)).toEqual([first, second, undefined, undefined]);
    expect(taken[1]!.attempts).toBe(1);
  });

  it('gets a permit at most a quarter of a second ahead, or waits', async () => {
    await store.sql('update senders set throughput = 10');
    const deliveries = openDeliveries(store.database, TERMS.leaseMs);
    const taken = await Promise.all((await many(12)).map((id) => deliveries.take(id)));
    const waits = taken.flatMap((one) => one?.waitMs ?? []);
    expect([3, 4]).toContain(waits.length);
    expect(new Set(waits).size).toBe(waits.length);
    expect(Math.max(...waits)).toBeLessThanOrEqual(250);
    const unclaimed = taken.filter((one) => one?.waitMs === null);
    for (const one of unclaimed)
      expect(one).toMatchObject({ status: 'queued', phase: 'waiting', dueAt: one.expiresAt });
    expect(unclaimed).toHaveLength(12 - waits.length);
  });

  it('is returned unclaimed after the lease of a dead worker, until its call has an outcome', async () => {
    const id = await buildSend(store.database, caller);
    await take(id);
    const takeDue = () => openDeliveries(store.database, TERMS.leaseMs).takeDue(10);
    expect(await takeDue()).toEqual([]);
    await set(id, `claimed_until = now() - interval '1 second'`);
    for (const taken of [await take(id), ...(await takeDue())])
      expect(taken).toMatchObject({ id, waitMs: null, phase: 'calling' });
  });

  it.each([
    ['is not due yet', `due_at = now() + interval '1 minute'`],
    [
      'is being sent',
      `status = 'sending', phase = 'calling', channel = 'whatsapp', from_number = '+15550783881', sender_id = (select id from senders),
         attempt_number = 1, claimed_at = now(), claimed_until = now() + interval '1 minute'`,
    ],
    [
      'has expired',
      `created_at = now() - interval '11 minutes', expires_at = now() - interval '1 minute', due_at = now() - interval '1 second'`,
    ],
    [
      'has too little time left',
      `created_at = now() - interval '571 seconds', expires_at = now() + interval '29 seconds'`,
    ],
    ['was verified', `verification = 'verified', verified_at = now()`],
    [
      'was sent',
      `status = 'sent', phase = 'done', channel = 'whatsapp', from_number = '+15550783881', sender_id = (select id from senders),
         sent_at = now(), encrypted_code = null, due_at = null`,
    ],
    [
      'has failed',
      `status = 'failed', phase = 'done', failed_at = now(), failure_reason = 'rejected_by_provider', encrypted_code = null, due_at = null`,
    ],
  ])('is not claimed if it %s, and takes no permit', async (_, change) => {
    const id = await buildSend(store.database, caller);
    await set(id, change);
    expect(await take(id)).toMatchObject({ id, waitMs: null });
    expect(await permitsTaken()).toBe(false);
  });

  it('does not block other sends while its row is locked', async () => {
    const [held, free, due] = await many(3);
    for (const id of [held!, due!]) await age(id, 3);
    const holder = await store.connect();
    await holder.query('begin');
    await holder.query('select from sends where id = $1 for no key update', [held]);
    const deliveries = openDeliveries(store.database, TERMS.leaseMs);
    const taken = await Promise.all([held!, free!].map((id) => deliveries.take(id)));
    expect(taken).toMatchObject([undefined, { phase: 'calling' }]);
    expect((await deliveries.takeDue(1)).map(({ id }) => id)).toEqual([due]);
    await holder.end();
    expect((await deliveries.takeDue(10)).map(({ id }) => id)).toEqual([held]);
  });

  it('is left to its job at first, and then taken without its job, in the order of due times', async () => {
    const [one, two] = await many(3);
    expect(await takeDue()).toEqual([]);
    await age(one!, 3);
    await set(
      two!,
      `created_at = created_at - interval '10 seconds', due_at = due_at - interval '10 seconds'`,
    );
    expect((await takeDue(1)).map(({ id }) => id)).toEqual([two]);
    expect((await takeDue()).map(({ id }) => id)).toEqual([one]);
  });

  it('is returned unclaimed if it is due and cannot be sent, like a test send', async () => {
    const [expired, used] = await many(2);
    const test = await buildSend(store.database, await buildCaller(store.database, 'test'));
    for (const id of [expired!, used!, test]) await age(id, 3);
    await age(expired!, 600);
    await guessCode(store.database, used!, true);
    const taken = await openDeliveries(store.database, TERMS.leaseMs).takeDue(10);
    expect(new Set(taken.map(({ waitMs, id }) => `${waitMs} ${id}`))).toEqual(
      new Set([expired, used, test].map((id) => `null ${id}`)),
    );
  });

  it('is claimed exactly as in the model', async () => {
    const anySend = fc.record({
      created: fc.integer({ min: -620, max: -1 }),
      due: fc.integer({ min: -30, max: 30 }),
      attempts: fc.integer({ min: 0, max: 4 }),
      claimed: fc.constantFrom(null, -20, 20),
      status: fc.constantFrom('queued', 'sending', 'lost', 'sent', 'failed'),
      verification: fc.constantFrom('pending', 'verified', 'locked'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anySend, { minLength: 1, maxLength: 40 }), async (made) => {
        await store.sql('truncate sends cascade');
        const ids = await many(made.length);
        for (const [n, one] of made.entries()) await set(ids[n]!, columnsOf(one, sender));
        const before = new Map<string, Send>();
        for (const id of ids)
          before.set(id, fieldsOf((await findSend(store.database, { id, accountId: caller.accountId }))!));
        const deliveries = openDeliveries(store.database, TERMS.leaseMs);
        const taken = await Promise.all(ids.map((id) => deliveries.take(id)));
        for (const [n, id] of ids.entries()) {
          const one = taken[n]!;
          const send = before.get(id)!;
          const now = one.waitMs === null ? one.now : one.claimedAt!;
          const permit = { sender, waitMs: 0 };
          const rule = claim(send, now, { ...TERMS, permit });
          if (one.waitMs === null) expect(rule.result).not.toBe('claimed');
          else {
            expect(rule.result).toBe('claimed');
            expect(fieldsOf({ ...one, claimedUntil: null })).toEqual({
              ...send,
              ...rule.change,
              claimedUntil: null,
            });
            expect(one.claimedUntil!.getTime() - now.getTime() - TERMS.leaseMs).toBeLessThanOrEqual(
              one.waitMs,
            );
          }
        }
      }),
      { numRuns: 15 },
    );
  });
});

/** Returns the fields of `Send`, without the other columns of the row. */
function fieldsOf(row: Send): Send {
  const columns = row as Send & Record<string, unknown>;
  const {
    ordinal: _ordinal,
    version: _version,
    now: _now,
    waitMs: _waitMs,
    leaseEndMs: _leaseEndMs,
    identityHash: _identityHash,
    ...send
  } = columns;
  return send;
}

interface AnySend {
  created: number;
  due: number;
  attempts: number;
  claimed: number | null;
  status: string;
  verification: string;
}

/** Seconds are relative to now. Codes are valid for ten minutes; nothing is within a second of a boundary. */
function columnsOf(
  { created, due, attempts, claimed, status, verification }: AnySend,
  { id, number }: Sender,
): string {
  const at = (seconds: number): string => `now() + interval '${seconds} seconds'`;
  const isRouted = status !== 'queued';
  const isOver = status === 'sent' || status === 'failed';
  const isClaimed = claimed !== null && isRouted && !isOver;
  const phaseOf = (): Phase => {
    if (isOver) return status === 'sent' ? 'unconfirmed' : 'done';
    if (isClaimed) return 'calling';
    return isRouted ? 'backing_off' : 'ready';
  };
  return [
    `created_at = ${at(created)}, expires_at = ${at(created + 600)}, attempts = ${attempts}`,
    `attempt_number = ${Math.max(attempts, 1)}`,
    attempts > 1 && `receipt_until = ${at(20)}`,
    isRouted && `channel = 'whatsapp', sender_id = '${id}', from_number = '${number}'`,
    `status = '${status === 'lost' ? 'sent' : status}'`,
    (status === 'lost' || status === 'sent') && `sent_at = ${at(created + 1)}`,
    status === 'failed' &&
      `failed_at = now(), failure_reason = 'rejected_by_provider', encrypted_code = null`,
    `due_at = ${isOver ? 'null' : at(due)}`,
    `phase = '${phaseOf()}'`,
    isClaimed && `claimed_at = ${at(claimed - 15)}, claimed_until = ${at(claimed)}`,
    verification === 'verified' && `verification = 'verified', verified_at = ${at(created + 1)}`,
    verification === 'locked' &&
      `verification = 'locked', wrong_guess_times = array_fill(now(), array[5]), locked_at = ${at(created + 1)}`,
  ]
    .filter(Boolean)
    .join(', ');
}
