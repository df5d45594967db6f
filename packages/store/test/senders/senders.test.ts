import { randomBytes } from 'node:crypto';
import { decrypt, isNew, NOT_ACTIVATED, type Keyring } from '@onecode/domain';
import {
  applyProviderReport,
  applySenderReading,
  editSender,
  isSuperseded,
  noteSenderSetup,
  listSenderKnowledge,
  listSenders,
  pauseSender,
  reencryptTokens,
  removeSender,
  requestReading,
  resumeSender,
  takeDueReading,
  type Sender,
} from '@onecode/store/senders';
import {
  blockSender,
  buildCaller,
  buildSend,
  buildSender,
  takePermits,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  useTestDatabase,
  type PermitRequest,
} from '@onecode/testing';
import fc from 'fast-check';
import { sendActions } from '../sends/sendActions.js';

const isLong = process.env['ALL_TESTS'] === '1';
const store = useTestDatabase();
const { insertAttempt } = sendActions(store);

describe('senders', () => {
  beforeEach(() => store.sql('truncate senders, sender_blocks, sends, attempts cascade'));

  /** Returns the senders that may message a country now: all that get permits while every sender has free permits. */
  const available = async (country = 'BR') => {
    await store.sql('delete from sender_permits');
    // In the future even on a slow machine: of two senders that have idled, one may get all permits by chance.
    await store.sql(
      `insert into sender_permits (sender_id, free_at) select id, now() + interval '500 milliseconds' from senders`,
    );
    const wants = Array.from({ length: 6 }, (_, n) => ({ recipient: `+551198765432${n}`, country }));
    const permits = await takePermits(store.database, wants, 1000);
    return [...new Set(permits.flatMap((permit) => permit?.senderId ?? []))].toSorted();
  };
  /** Applies a read of a sender's number that returned its portfolio and limit. */
  const readPortfolio = (sender: Sender, portfolioId: string | null, messagingLimit = 'TIER_UNLIMITED') => {
    const { businessAccountId } = sender;
    const number = { messagingLimit };
    const read = {
      businessAccountId,
      portfolioId,
      number,
      businessAccount: {},
      templates: null,
      failures: {},
    };
    return applySenderReading(store.database, sender, read, new Date());
  };
  const blocksOf = async (id: string) =>
    (await listSenders(store.database)).find((one) => one.id === id)!.blocks;

  it('lose all blocks when they are resumed, except the provider’s blocks of a template', async () => {
    const sender = await buildSender(store.database);
    await pauseSender(store.database, TEST_ACTOR, sender.id, 'why');
    await blockSender(store.database, sender);
    await blockSender(store.database, sender, { onlyFor: 'BR' });
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, only_for, source, reason) values
         ('provider', 'sender', $1, '', 'provider', 'banned'), ('provider', 'sender', $1, 'en', 'provider', 'paused')`,
      [sender.id],
    );
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason, until)
       values ('limit', 'sender', $1, 'answer', 'limit', now() + interval '10 seconds')`,
      [sender.id],
    );
    expect(await available()).toEqual([]);
    await resumeSender(store.database, TEST_ACTOR, sender.id);
    expect(await blocksOf(sender.id)).toMatchObject([{ cause: 'provider', onlyFor: 'en' }]);
    expect(await available()).toEqual([sender.id]);
  });

  it('keep their time and their reason when they are paused again', async () => {
    const { id } = await buildSender(store.database);
    await pauseSender(store.database, TEST_ACTOR, id);
    const before = await blocksOf(id);
    expect(before).toMatchObject([{ reason: 'paused by an operator' }]);
    await pauseSender(store.database, TEST_ACTOR, id, 'why');
    expect(await blocksOf(id)).toEqual(before);
  });

  it('still wait for their activation after an operator has paused them', async () => {
    const { id } = await buildSender(store.database);
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason) values ('operator', 'sender', $1, 'operator', $2)`,
      [id, NOT_ACTIVATED],
    );
    await pauseSender(store.database, TEST_ACTOR, id, 'why');
    expect(isNew(await blocksOf(id))).toBe(true);
  });

  it('are registered after their setup or activation', async () => {
    const { id } = await buildSender(store.database);
    await pauseSender(store.database, TEST_ACTOR, id, NOT_ACTIVATED);
    const isRegistered = async () =>
      (await listSenders(store.database)).find((one) => one.id === id)!.isRegistered;
    expect(await isRegistered()).toBe(false);
    const details = { stepsDone: ['registration'] };
    await noteSenderSetup(store.database, TEST_ACTOR, id, 'sender.setup', details);
    expect(await isRegistered()).toBe(true);
    const activated = await buildSender(store.database);
    expect((await listSenders(store.database)).find((one) => one.id === activated.id)!.isRegistered).toBe(
      true,
    );
  });

  it('keep the failures of their latest read when an earlier one ends after it', async () => {
    const { id, template } = await buildSender(store.database);
    const reading = {
      businessAccountId: null,
      portfolioId: null,
      number: {},
      businessAccount: {},
      templates: null,
    };
    const apply = (failures: object, startedAt: Date) =>
      applySenderReading(store.database, { id, template }, { ...reading, failures }, startedAt);
    const latest = new Date();
    await apply({}, latest);
    await apply({ token: 'the former token has expired' }, new Date(latest.getTime() - 5_000));
    const [knowledge] = await listSenderKnowledge(store.database, id);
    expect(knowledge).toMatchObject({ triedAt: latest, readAt: latest });
    expect(knowledge!.failures).toEqual({});
    await apply({ token: 'the token has expired' }, new Date(latest.getTime() + 5_000));
    expect(await listSenderKnowledge(store.database, id)).toMatchObject([
      { failures: { token: 'the token has expired' } },
    ]);
  });

  it('get no facts from a read after their removal', async () => {
    const former = await buildSender(store.database);
    await removeSender(store.database, TEST_ACTOR, former.id);
    await readPortfolio(former, '88', 'TIER_250');
    expect(await store.sql('select from provider_facts where subject = $1', [former.id])).toEqual([]);
  });

  it('send nothing and have no token after their removal', async () => {
    const gone = await buildSender(store.database);
    await blockSender(store.database, gone);
    const other = await buildSender(store.database);
    await removeSender(store.database, TEST_ACTOR, gone.id);
    expect((await listSenders(store.database)).map(({ id }) => id)).toEqual([other.id]);
    expect(await available()).toEqual([other.id]);
    expect(
      await store.sql('select encrypted_token, removed_at from senders where id = $1', [gone.id]),
    ).toEqual([{ encrypted_token: Buffer.alloc(0), removed_at: expect.any(Date) }]);
    await store.sql(`update senders set read_due_at = now() - interval '1 second'`);
    await requestReading(store.database, gone.id);
    expect((await takeDueReading(store.database))?.senderId).toBe(other.id);
    expect(await takeDueReading(store.database)).toBeNull();
    await removeSender(store.database, TEST_ACTOR, other.id);
    expect(await available()).toEqual([]);
    expect(await reencryptTokens(store.database, TEST_ACTOR, TEST_SECRET_KEY)).toEqual([]);
  });

  it('lose their own faults when they are edited', async () => {
    const sender = await buildSender(store.database);
    await blockSender(store.database, sender);
    await editSender(store.database, TEST_ACTOR, sender.id, { throughput: 5 });
    expect(await blocksOf(sender.id)).toEqual([]);
  });

  it('are not blocked again by messages started before they were resumed', async () => {
    const sender = await buildSender(store.database);
    const startedAt = new Date();
    await blockSender(store.database, sender);
    await resumeSender(store.database, TEST_ACTOR, sender.id);
    expect(await blockSender(store.database, sender, { startedAt })).toBeNull();
    expect(await available()).toEqual([sender.id]);
  });

  it('lose their own faults when they get a new token', async () => {
    const sender = await buildSender(store.database, { businessAccountId: '11' });
    const startedAt = new Date();
    await blockSender(store.database, sender, { errorCode: 190, isConfiguration: true });
    await blockSender(store.database, sender, { errorCode: 130497, onlyFor: 'BR', isConfiguration: true });
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason, error_code, is_configuration, until)
       values ('fault', 'business', '11', 'answer', 'payment', 131042, true, now())`,
    );
    const secrets = { keyring: TEST_SECRET_KEY, token: 'EAAGnew' };
    await editSender(store.database, TEST_ACTOR, sender.id, { secrets });
    expect(await blocksOf(sender.id)).toMatchObject([{ errorCode: 131042 }]);
    // Messages started before the change do not start a block again.
    expect(await blockSender(store.database, sender, { startedAt })).toBeNull();
    expect(await blockSender(store.database, sender)).not.toBeNull();
  });

  it('are blocked for a language according to the facts about their new template', async () => {
    const sender = await buildSender(store.database, { businessAccountId: '88' });
    const report = (name: string) =>
      applyProviderReport(
        store.database,
        '88',
        { template: { name, language: 'en', values: { status: 'PAUSED' } } },
        new Date(),
      );
    await report(sender.template);
    expect(await blocksOf(sender.id)).toMatchObject([{ cause: 'provider', onlyFor: 'en' }]);
    await editSender(store.database, TEST_ACTOR, sender.id, { template: 'another' });
    expect(await blocksOf(sender.id)).toEqual([]);
    await report('third');
    await editSender(store.database, TEST_ACTOR, sender.id, { template: 'third' });
    expect(await blocksOf(sender.id)).toMatchObject([{ cause: 'provider', onlyFor: 'en' }]);
  });

  it('are blocked once by concurrent faults', async () => {
    const sender = await buildSender(store.database);
    const startedAt = new Date();
    const begun = await Promise.all(
      Array.from({ length: 20 }, () => blockSender(store.database, sender, { startedAt })),
    );
    expect(begun.filter((block) => block !== null)).toMatchObject([{ failures: 1 }]);
  });

  it('can be blocked for one country only', async () => {
    const [one, two] = [await buildSender(store.database), await buildSender(store.database)];
    await blockSender(store.database, one, { onlyFor: 'BR' });
    expect([await available('BR'), await available('US')]).toEqual([[two.id], [one.id, two.id]]);
    await blockSender(store.database, two, { onlyFor: 'US' });
    expect([await available('BR'), await available('US')]).toEqual([[two.id], [one.id]]);
  });

  it('send nothing if their business account is blocked, and other senders continue', async () => {
    const [one, twin, foreign, unknown] = [
      await buildSender(store.database, { businessAccountId: '11' }),
      await buildSender(store.database, { businessAccountId: '11' }),
      await buildSender(store.database, { businessAccountId: '22' }),
      await buildSender(store.database),
    ];
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason, until)
       values ('fault', 'business', '11', 'receipt', 'payment', now() + interval '1 minute')`,
    );
    expect(await available()).toEqual([foreign.id, unknown.id].toSorted());
    for (const { id } of [one, twin]) expect(await blocksOf(id)).toMatchObject([{ scope: 'business' }]);
    for (const { id } of [foreign, unknown]) expect(await blocksOf(id)).toEqual([]);
  });

  it('send nothing if their portfolio is blocked, and other senders continue', async () => {
    const [one, twin, foreign, unknown] = [
      await buildSender(store.database, { businessAccountId: '11' }),
      await buildSender(store.database, { businessAccountId: '12' }),
      await buildSender(store.database, { businessAccountId: '22' }),
      await buildSender(store.database),
    ];
    await readPortfolio(one, '5');
    await readPortfolio(twin, '5');
    await readPortfolio(foreign, '6');
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason, until)
       values ('fault', 'portfolio', '5', 'receipt', 'held', now() + interval '1 minute')`,
    );
    expect(await available()).toEqual([foreign.id, unknown.id].toSorted());
    for (const { id } of [one, twin]) expect(await blocksOf(id)).toMatchObject([{ scope: 'portfolio' }]);
    for (const { id } of [foreign, unknown]) expect(await blocksOf(id)).toEqual([]);
    await resumeSender(store.database, TEST_ACTOR, twin.id);
    for (const { id } of [one, twin]) expect(await blocksOf(id)).toEqual([]);
  });

  it('share the portfolio of their business account', async () => {
    const one = await buildSender(store.database, { businessAccountId: '11' });
    const twin = await buildSender(store.database, { businessAccountId: '11' });
    await readPortfolio(one, '5');
    await readPortfolio(one, null);
    const portfolios = async () =>
      (await listSenders(store.database)).map(({ id, portfolioId }) => [id, portfolioId]);
    expect(await portfolios()).toEqual([
      [one.id, '5'],
      [twin.id, '5'],
    ]);
  });

  it('are preferred if their portfolio is under its limit of recipients', async () => {
    const full = await buildSender(store.database, { businessAccountId: '11' });
    const roomy = await buildSender(store.database, { businessAccountId: '22' });
    const caller = await buildCaller(store.database, 'live', { credits: 60 });
    for (let nth = 0; nth < 50; nth += 1) await buildSend(store.database, caller);
    await store.sql(
      `insert into attempts (send_id, number, sender_id, outcome, started_at, finished_at)
       select id, 1, $1, 'accepted', created_at, now() from sends`,
      [full.id],
    );
    for (const sender of [full, roomy]) await readPortfolio(sender, null, 'TIER_50');
    expect(await available()).toEqual([roomy.id]);
    await pauseSender(store.database, TEST_ACTOR, roomy.id);
    expect(await available()).toEqual([full.id]);
    await resumeSender(store.database, TEST_ACTOR, roomy.id);
    await readPortfolio(full, null, 'TIER_250');
    expect(await available()).toEqual([full.id, roomy.id].toSorted());
  });

  it('send one message per second after a fault, across all blocks, until a message succeeds', async () => {
    const senders = [
      await buildSender(store.database, { businessAccountId: '11' }),
      await buildSender(store.database, { businessAccountId: '11' }),
    ];
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, only_for, source, reason, until) values
         ('fault', 'business', '11', '', 'answer', 'payment', now()), ('fault', 'sender', $1, 'en', 'answer', 'template', now()),
         ('fault', 'sender', $2, 'en', 'answer', 'template', now())`,
      senders.map(({ id }) => id),
    );
    const wants = Array.from({ length: 20 }, (_, n) => ({
      recipient: `+5511987654${300 + n}`,
      country: 'BR',
      locale: n % 2 === 0 ? ('en' as const) : ('pt-BR' as const),
    }));
    const times = async () =>
      (await takePermits(store.database, wants, 2_500))
        .flatMap((permit) => permit?.atMs ?? [])
        .toSorted((a, b) => a - b);
    const first = await times();
    expect(first).toHaveLength(3);
    for (const [nth, time] of first.entries()) expect(time - first[0]!).toBeCloseTo(1_000 * nth, 0);
    // The next caller continues where this one stopped.
    expect(await times()).toEqual([]);
    await store.sql(`delete from sender_blocks where scope = 'business'`);
    await store.sql(`update sender_blocks set free_at = now() - interval '1 second'`);
    const permits = await takePermits(store.database, wants, 900);
    const languages = permits.flatMap((permit, n) => (permit === null ? [] : [wants[n]!.locale]));
    expect(languages.filter((locale) => locale === 'en')).toHaveLength(2);
    expect(languages.filter((locale) => locale === 'pt-BR')).toHaveLength(10);
  });
});

describe('alerts of a business account', () => {
  const report = (type: string, second: number) =>
    applyProviderReport(
      store.database,
      '7',
      { alert: { type, severity: null, detail: null } },
      new Date(second * 1_000),
    );
  const types = async () => (await listSenderKnowledge(store.database))[0]!.alerts.map(({ type }) => type);
  beforeEach(async () => {
    await store.sql('truncate senders, provider_facts cascade');
    await buildSender(store.database, { businessAccountId: '7' });
  });

  it('are kept newest first, without duplicates', async () => {
    await report('late', 2);
    await report('early', 1);
    await report('early', 1);
    expect(await types()).toEqual(['late', 'early']);
  });

  it('are the last fifty', async () => {
    for (let second = 0; second < 60; second++) await report(String(second), second);
    await report('oldest', 0);
    expect(await types()).toEqual(Array.from({ length: 50 }, (_, n) => String(59 - n)));
  });
});

describe('isSuperseded', () => {
  beforeEach(() => store.sql('truncate senders, sender_blocks, sends, attempts cascade'));

  /** Creates a send with a message that was accepted at this number of milliseconds. */
  async function accepted(
    sender: Sender,
    atMs: number,
    more = '',
  ): Promise<{ sendId: string; startedAt: Date }> {
    const caller = await buildCaller(store.database, 'live');
    const sendId = await buildSend(store.database, caller);
    const startedAt = new Date(Date.now() + atMs);
    await insertAttempt(sendId, { senderId: sender.id, startedAt });
    if (more !== '') await store.sql(`update sends set ${more} where id = $1`, [sendId]);
    return { sendId, startedAt };
  }

  it('returns true after a later accepted message, and for a fault from a receipt only after a later delivery', async () => {
    const [sender, other] = [await buildSender(store.database), await buildSender(store.database)];
    const about = { scope: 'sender', onlyFor: '' } as const;
    const before = await accepted(sender, -10, 'delivered_at = now()');
    const faulty = await accepted(sender, 0);
    await store.sql(`update attempts set outcome = 'config' where send_id = $1`, [faulty.sendId]);
    await accepted(other, 10, 'delivered_at = now()');
    const is = (source: 'answer' | 'receipt') =>
      isSuperseded(store.database, sender.id, about, { ...faulty, source });
    expect([await is('answer'), await is('receipt')]).toEqual([false, false]);
    expect(await isSuperseded(store.database, sender.id, about, { ...before, source: 'receipt' })).toBe(true);
    const later = await accepted(sender, 20);
    expect([await is('answer'), await is('receipt')]).toEqual([true, false]);
    // A verified code proves no delivery, because the caller may have chosen the code.
    const change = (columns: string) =>
      store.sql(`update sends set ${columns} where id = $1`, [later.sendId]);
    await change(`verification = 'verified', verified_at = now()`);
    expect(await is('receipt')).toBe(false);
    await change('delivered_at = now()');
    expect(await is('receipt')).toBe(true);
  });

  it('returns true after a later message of an older send', async () => {
    const sender = await buildSender(store.database);
    const older = await accepted(sender, -10);
    const faulty = await accepted(sender, 0);
    await store.sql(`update attempts set outcome = 'config' where send_id = $1`, [faulty.sendId]);
    const about = { scope: 'sender', onlyFor: '' } as const;
    const is = () => isSuperseded(store.database, sender.id, about, { ...faulty, source: 'answer' });
    expect(await is()).toBe(false);
    await insertAttempt(older.sendId, {
      senderId: sender.id,
      number: 2,
      startedAt: new Date(faulty.startedAt.getTime() + 10),
    });
    expect(await is()).toBe(true);
  });

  it('compares only messages of the senders in the scope, in the language or to the country', async () => {
    const [sender, twin] = [
      await buildSender(store.database, { businessAccountId: '11' }),
      await buildSender(store.database, { businessAccountId: '11' }),
    ];
    const faulty = await accepted(sender, 0);
    await store.sql(`update attempts set outcome = 'config' where send_id = $1`, [faulty.sendId]);
    await accepted(await buildSender(store.database), 10);
    const is = (about: Partial<Parameters<typeof isSuperseded>[2]>) =>
      isSuperseded(
        store.database,
        sender.id,
        { scope: 'business', onlyFor: '', ...about },
        { ...faulty, source: 'answer' },
      );
    expect(await is({ scope: 'business' })).toBe(false);
    await accepted(twin, 10);
    const [{ locale, country }] = (await store.sql<{ locale: string; country: string }>(
      'select locale, country from sends',
    )) as [never];
    expect(await is({ scope: 'business' })).toBe(true);
    expect(await is({ scope: 'sender' })).toBe(false);
    for (const [onlyFor, expected] of [
      [locale, true],
      [country, true],
      ['en', locale === 'en'],
      ['US', false],
    ] as const)
      expect([onlyFor, await is({ onlyFor })]).toEqual([onlyFor, expected]);
  });
});

describe('reencryptTokens', () => {
  const KEYS = new Map([1, 2].map((version) => [version, randomBytes(32)]));
  const OLD: Keyring = { current: 1, keys: new Map([[1, KEYS.get(1)!]]) };
  const BOTH: Keyring = { current: 2, keys: KEYS };

  beforeEach(() => store.sql('delete from senders'));

  const senderWith = async (secretKey: Keyring, token: string): Promise<string> =>
    (await buildSender(store.database, { secretKey, token })).id;
  const encryptedTokens = (): Promise<{ id: string; encrypted_token: Buffer }[]> =>
    store.sql('select id, encrypted_token from senders order by id');

  it('skips a token without its key, reports it, and continues with the next', async () => {
    const lost = await senderWith({ current: 3, keys: new Map([[3, randomBytes(32)]]) }, 'lost');
    const impostor = await senderWith({ current: 2, keys: new Map([[2, randomBytes(32)]]) }, 'lost too');
    const good = await senderWith(OLD, 'token');
    const before = await encryptedTokens();
    expect(await reencryptTokens(store.database, TEST_ACTOR, BOTH)).toMatchObject([
      { senderId: lost, token: 'unreadable' },
      { senderId: impostor, token: 'unreadable' },
      { senderId: good, token: 'reencrypted' },
    ]);
    expect((await encryptedTokens()).slice(0, 2)).toEqual(before.slice(0, 2));
  });

  it('does not overwrite a token that is set concurrently', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await senderWith(OLD, 'old');
      await Promise.all([
        reencryptTokens(store.database, TEST_ACTOR, BOTH),
        editSender(store.database, TEST_ACTOR, id, { secrets: { keyring: OLD, token: 'set meanwhile' } }),
      ]);
      const encrypted = (await encryptedTokens()).find((row) => row.id === id)!.encrypted_token;
      expect(decrypt(BOTH, id, encrypted)).toBe('set meanwhile');
    }
  });
});

describe('permits', () => {
  const HORIZON_MS = 1000;

  beforeEach(() => store.sql('truncate senders, sender_blocks, sends cascade'));

  const requests = (count: number): PermitRequest[] =>
    Array.from({ length: count }, (_, n) => ({
      recipient: `+55119${String(n).padStart(8, '0')}`,
      country: 'BR',
    }));
  const take = (count: number) => takePermits(store.database, requests(count), HORIZON_MS);

  /** Returns the permits of one call, in milliseconds of the database's clock. */
  async function permitsOf(some: readonly PermitRequest[]): Promise<number[]> {
    const permits = await takePermits(store.database, some, HORIZON_MS);
    return permits.flatMap((permit) => permit?.atMs ?? []);
  }

  /** Moves all permits into the past by this much. */
  const passes = (ms: number) =>
    store.sql('update sender_permits set free_at = free_at - make_interval(secs => $1::float8 / 1000)', [ms]);

  /** Returns the highest count in any period of this length, including its ends. */
  function mostWithin(ms: number, times: readonly number[]): number {
    const sorted = times.toSorted((a, b) => a - b);
    let first = 0;
    return sorted.reduce((most, time, last) => {
      while (time - (sorted[first] as number) > ms) first += 1;
      return Math.max(most, last - first + 1);
    }, 0);
  }

  /** Any sequence of events: a number of concurrent requests, and the time until the next ones. */
  const course = fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 120 }),
      pauseMs: fc.constantFrom(0, 1, 7, 90, 400, 999, 5000),
    }),
    { minLength: 1, maxLength: 8 },
  );

  async function permitsOfCourse(rounds: readonly { count: number; pauseMs: number }[]): Promise<number[]> {
    const times: number[] = [];
    let passed = 0;
    for (const { count, pauseMs } of rounds) {
      for (const at of await permitsOf(requests(count))) times.push(at + passed);
      await passes(pauseMs);
      passed += pauseMs;
    }
    return times;
  }

  describe('a sender', () => {
    it('never gets more permits per second than its throughput, for any arrival of requests', async () => {
      const { id } = await buildSender(store.database);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), course, async (throughput, rounds) => {
          await store.sql('delete from sender_permits');
          await store.sql('update senders set throughput = $2 where id = $1', [id, throughput]);
          expect(mostWithin(1000, await permitsOfCourse(rounds))).toBeLessThanOrEqual(throughput);
        }),
        { numRuns: isLong ? 30 : 10 },
      );
    });

    it.each([1, 2, 10, 80, 1000])(
      'gets nine tenths of its %i messages per second in every second',
      async (throughput) => {
        await buildSender(store.database, { throughput });
        for (const _ of [1, 2, 3]) {
          const permits = await permitsOf(requests(Math.ceil(throughput * 1.2)));
          expect(permits.length).toBeGreaterThanOrEqual(Math.floor(throughput * 0.9));
          await passes(HORIZON_MS);
        }
      },
    );

    it('gets a tenth of its throughput as a burst after idling, and then a steady rate', async () => {
      await buildSender(store.database, { throughput: 80 });
      const permits = await take(10);
      const waits = permits.map((permit) => permit?.waitMs);
      expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 14, 28]);
    });

    it('gives each permit once to concurrent callers', async () => {
      await buildSender(store.database, { throughput: 1000 });
      const [begin = 0] = await permitsOf(requests(100));
      const calls = Array.from({ length: 40 }, (_, n) =>
        permitsOf(requests(20).map((request) => ({ ...request, recipient: `${request.recipient}${n}` }))),
      );
      // Several permits of one call may be at the same time, but not those of two calls.
      const times = (await Promise.all(calls)).map((permits) => new Set(permits));
      const all = times.flatMap((permits) => [...permits]).filter((time) => time > begin);
      expect(all.length).toBeGreaterThanOrEqual(calls.length);
      expect(new Set(all).size).toBe(all.length);
    });

    it('gets permits after a crash that emptied the table of permits', async () => {
      const { id } = await buildSender(store.database);
      await take(80);
      await store.sql('truncate sender_permits');
      expect(await take(1)).toMatchObject([{ senderId: id, waitMs: 0 }]);
    });
  });

  describe('several senders', () => {
    const shares = (
      senders: readonly Sender[],
      permits: readonly ({ senderId: string } | null)[],
    ): number[] => senders.map(({ id }) => permits.filter((permit) => permit?.senderId === id).length);

    it('share the load in proportion to their throughput', async () => {
      const senders = [];
      for (const throughput of [100, 200, 400])
        senders.push(await buildSender(store.database, { throughput }));
      const permits = await take(690);
      for (const [nth, share] of shares(senders, permits).entries())
        expect(Math.abs(share - [100, 200, 400][nth]!)).toBeLessThanOrEqual(10);
    });

    it('are all used when idle', async () => {
      const senders = [await buildSender(store.database), await buildSender(store.database)];
      const permits = [];
      for (let round = 0; round < 60; round++) {
        permits.push(...(await take(1)));
        await passes(1000);
      }
      // By chance, a sender has fewer than 10 once in millions of runs.
      expect(Math.min(...shares(senders, permits))).toBeGreaterThanOrEqual(10);
    });

    it('are skipped only for requests in a language in which they are blocked', async () => {
      const { id } = await buildSender(store.database);
      await store.sql(
        `insert into sender_blocks (cause, scope, subject, only_for, source, reason)
         values ('provider', 'sender', $1, 'en', 'provider', 'paused')`,
        [id],
      );
      const wants = (['en', 'pt-BR', 'en'] as const).map((locale, n) => ({
        recipient: `+55119876510${10 + n}`,
        country: 'BR',
        locale,
      }));
      const permits = await takePermits(store.database, wants, HORIZON_MS);
      expect(permits.map((permit) => permit?.senderId)).toEqual([undefined, id, undefined]);
    });
  });
});
