import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createTestDatabase, describeIf, ProcessStack, startProcess, until } from '@onecode/testing';
import { buildCommit, commitOf } from '../../scripts/build-commit.mjs';

/** The release that runs while this one is deployed. */
const PREVIOUS = JSON.parse(readFileSync(new URL('previous-release.json', import.meta.url), 'utf8')) as {
  version: string;
  commit: string;
};
/** Time limit for building a release and starting every process on a busy machine. */
const START_MS_MAX = 240_000;
/** Which API and worker of the two are replaced first; the provider's webhooks go to the first API. */
const NEW = 0;
const OLD = 1;
const UNITS = 5_000;
const CLIENTS = 3;
/** Sends that are created, delivered and verified in each combination. */
const SENDS_IN_EACH_STEP = 6;
const CODE = '135790';
const SENDERS = ['106540352242921', '106540352242922'];

interface Receiver {
  id: string;
  to: string;
}

/** The unfinished work that one combination leaves to the next one. */
interface Left {
  /** Creates a live send and waits for its code on the phone. */
  delivered: Receiver;
  /** A live send under a hold. */
  waiting: Receiver;
  /** A test send with one wrong guess. */
  guessed: string;
}

const isInHistory = commitOf(PREVIOUS.commit) !== null;
// Jest shows no names of a file that is skipped as a whole.
if (!isInHistory)
  process.stderr.write(
    `test/rolling/upgrade.full.test.ts is skipped: release ${PREVIOUS.version} (${PREVIOUS.commit.slice(0, 7)}) is not in this copy's git history\n`,
  );

/** The combinations of docs/upgrading.md, in the order of a deployment and its rollback. */
describeIf(isInHistory)('an upgrade under load, and its rollback', () => {
  /** The previous release's build; ends with a slash. */
  let previous: string;
  let stack: ProcessStack;
  let accountId: string;
  let liveKey: string;
  let testKey: string;
  let isOver = false;
  let clients: Promise<void>[] = [];
  /** Live sends that were created, delivered and verified. */
  const done: Receiver[] = [];
  const faults: string[] = [];
  let left: Left | null = null;
  let recipients = 0;

  beforeAll(async () => {
    previous = `${await buildCommit(PREVIOUS.commit, tmpdir())}/`;
    const db = await createTestDatabase();
    await db.sql('drop schema public cascade');
    await db.sql('create schema public');
    await migrate(previous, db.url);
    stack = await ProcessStack.start({ db, release: previous, apis: 2, workers: 2 });
    const account = await stack.onecode(
      `account create --name Load --credits ${UNITS} --rate-per-minute 100000`,
    );
    accountId = String(account['id']);
    liveKey = await stack.makeKey(accountId, 'live');
    testKey = await stack.makeKey(accountId, 'test');
    await Promise.all([1, 2].map((digit) => stack.addSender(digit)));
    await stack.simulator.addRule({ fault: { duplicates: 1, disorder: true } });
    clients = Array.from({ length: CLIENTS }, () => runClient());
  }, START_MS_MAX);
  afterAll(async () => {
    isOver = true;
    await Promise.all(clients);
    await stack.stop();
    await rm(previous, { recursive: true });
  });

  /** Migrates as `npm run migrate` does in a release's folder; '' is this release. @throws when it fails */
  async function migrate(folder: string, url = stack.db.url): Promise<void> {
    const migration = startProcess(`${folder}packages/store/dist/migrate.js`, { DATABASE_URL: url });
    const { code } = await migration.exited;
    if (code !== 0) throw new Error(migration.output());
  }

  async function replace(index: number, release: string): Promise<void> {
    stack.release = release;
    await stack.replaceApi(index);
    await stack.stopWorker(index);
    await stack.restartWorker(index);
  }

  const nextRecipient = (): string => `+55119${String(80_000_000 + recipients++)}`;

  /** A client that signs users in, one after the other, until the end. */
  async function runClient(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const to = nextRecipient();
      try {
        await signIn(to, n % 2);
      } catch (error) {
        faults.push(`${to}: ${String(error)}`);
      }
    }
  }

  /** Sends each API the same creation concurrently, a wrong guess, and the right code. */
  async function signIn(to: string, api: number): Promise<void> {
    const headers = { 'idempotency-key': to };
    const both = await Promise.all(
      [api, 1 - api].map((first) =>
        anywhere(first, (at) => stack.create(liveKey, { to }, { headers, api: at })),
      ),
    );
    const { id } = both[0]!;
    expect(both[1]!.id).toBe(id);
    const { code } = await stack.simulator.message(to);
    const guess = (at: number, typed: string) => anywhere(at, (on) => stack.verify(liveKey, id, typed, on));
    expect(await guess(api, wrong(code))).toEqual({
      valid: false,
      verification: 'pending',
      attempts_left: 4,
    });
    expect(await guess(1 - api, code)).toMatchObject({ valid: true });
    expect(await guess(api, code)).toMatchObject({ valid: false, verification: 'verified' });
    done.push({ id, to });
  }

  const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

  /** Makes a request to one API, or to the other while the first is being replaced. Failed answers are not repeated. */
  async function anywhere<Result>(api: number, send: (api: number) => Promise<Result>): Promise<Result> {
    let at = api;
    return until('an API that can be reached', async () => {
      at = 1 - at;
      try {
        return await send(1 - at);
      } catch (error) {
        if ((error as Error).message !== 'fetch failed') throw error;
        return false;
      }
    }) as Promise<Result>;
  }

  /** Waits until this many sends that start after the call are created, delivered and verified. */
  async function underLoad(): Promise<void> {
    const enough = done.length + SENDS_IN_EACH_STEP + CLIENTS;
    await until('the load of this step', () => done.length >= enough || faults.length > 0, START_MS_MAX);
    expect(faults).toEqual([]);
  }

  /** Waits for a status, and checks that both APIs show the same send. */
  async function untilStatus(id: string, status: string): Promise<void> {
    const view = await stack.untilStatus(liveKey, id, status);
    // A late receipt may still set its own time between the two reads.
    const { sent_at: _sentAt, ...settled } = view;
    expect(await stack.status(liveKey, id, 1)).toMatchObject(settled);
  }

  async function verifyAt(api: number, { id, to }: Receiver): Promise<void> {
    const { code } = await stack.simulator.message(to);
    expect(await stack.verify(liveKey, id, code, api)).toMatchObject({ valid: true });
    done.push({ id, to });
  }

  /** Checks that the running processes continue the work of the earlier ones. */
  async function finishWhatWasLeft(): Promise<void> {
    if (left === null) return;
    const { delivered, waiting, guessed } = left;
    await stack.simulator.markRead((await stack.simulator.message(delivered.to)).id);
    await untilStatus(delivered.id, 'read');
    await verifyAt(OLD, delivered);
    expect(await stack.verify(testKey, guessed, wrong(CODE), NEW)).toMatchObject({ attempts_left: 3 });
    expect(await stack.verify(testKey, guessed, CODE, OLD)).toMatchObject({ valid: true });
    await stack.db.sql('delete from holds');
    await untilStatus(waiting.id, 'delivered');
    await verifyAt(NEW, waiting);
  }

  async function leaveSomething(): Promise<Left> {
    await stack.db.sql(
      `insert into holds (kind, target, reason, set_by) values ('country', 'AR', 'a test', 'a test')`,
    );
    const [delivered, waiting] = [nextRecipient(), `+54911${String(23_000_000 + recipients++)}`];
    const [one, held] = await Promise.all([
      stack.create(liveKey, { to: delivered }, { api: NEW }),
      stack.create(liveKey, { to: waiting }, { api: OLD }),
    ]);
    const guessed = await stack.create(testKey, { to: nextRecipient(), code: CODE });
    await stack.verify(testKey, guessed.id, wrong(CODE), OLD);
    await untilStatus(one.id, 'delivered');
    await stack.untilWaiting(held.id);
    return {
      delivered: { id: one.id, to: delivered },
      waiting: { id: held.id, to: waiting },
      guessed: guessed.id,
    };
  }

  /** At either API, a key that was used with another body is refused, and five wrong guesses lock. */
  async function judgeAlike(): Promise<void> {
    const headers = { 'idempotency-key': `another-body-${recipients}` };
    const { id } = await stack.create(testKey, { to: nextRecipient(), code: CODE }, { headers, api: NEW });
    const parts = { key: testKey, headers, body: { to: nextRecipient() }, api: OLD };
    expect(await stack.request('POST', '/v1/send', parts)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused' },
    });
    for (const [guesses, api] of [OLD, NEW, OLD, NEW, OLD].entries())
      expect(await stack.verify(testKey, id, wrong(CODE), api)).toMatchObject({ attempts_left: 4 - guesses });
    for (const api of [OLD, NEW])
      expect(await stack.verify(testKey, id, CODE, api)).toMatchObject({
        valid: false,
        verification: 'locked',
      });
  }

  /** Sends that fail immediately or after their acceptance: the final balance shows whether each unit was refunded once. */
  async function refuseTwo(): Promise<void> {
    for (const fault of [{ error: 131026 }, { lateFailure: 131026 }]) {
      const to = nextRecipient();
      await stack.simulator.addRule({ recipient: to, fault });
      const { id } = await stack.create(liveKey, { to }, { api: recipients % 2 });
      await untilStatus(id, 'failed');
      expect(await stack.status(liveKey, id)).toMatchObject({ failure_reason: 'rejected_by_provider' });
    }
  }

  it.each<[string, () => Promise<void>]>([
    ['N−1 alone, before the migration', async () => {}],
    ['N−1 alone on the schema of N', () => migrate('')],
    ['N−1 next to N', () => replace(NEW, '')],
    ['N alone', () => replace(OLD, '')],
    ['N next to N−1, in the rollback', () => replace(NEW, previous)],
    ['N−1 alone on the schema of N, in the rollback', () => replace(OLD, previous)],
    [
      'N again',
      async () => {
        const journal = 'select migration_name from _prisma_migrations order by 1';
        const before = await stack.db.sql(journal);
        await migrate(previous);
        expect(await stack.db.sql(journal)).toEqual(before);
        await migrate('');
        await replace(NEW, '');
        await replace(OLD, '');
      },
    ],
  ])(
    'sends every code once, verifies it at either API, and continues earlier work: %s',
    async (_, step) => {
      await step();
      await finishWhatWasLeft();
      await Promise.all([underLoad(), judgeAlike(), refuseTwo()]);
      left = await leaveSomething();
    },
    START_MS_MAX,
  );

  it(
    'loses and repeats no send of the load, and charges the right units',
    async () => {
      isOver = true;
      await Promise.all(clients);
      expect(faults).toEqual([]);
      await finishWhatWasLeft();
      const [count] = await stack.db.sql<{ live: number }>(
        `select count(*)::integer as live from sends where mode = 'live' and status <> 'failed'`,
      );
      expect(count).toEqual({ live: done.length });
      for (const { id, to } of done) {
        expect(await stack.simulator.messages(to)).toHaveLength(1);
        expect(await stack.status(liveKey, id)).toMatchObject({ verification: 'verified' });
      }
      await expectUnitsToAddUp();
    },
    START_MS_MAX,
  );

  /** Checks that granted units equal units left plus units of sends that did not fail, and that the ledger agrees. */
  async function expectUnitsToAddUp(): Promise<void> {
    const [units] = await stack.db.sql<Record<'used' | 'reserved' | 'returned' | 'live' | 'failed', number>>(
      `select l.granted - a.free_quota - a.credits as used, l.reserved, l.returned, s.live, s.failed
       from accounts a,
         (select count(*)::integer as live, count(*) filter (where status = 'failed')::integer as failed
            from sends where account_id = $1 and mode = 'live') s,
         (select sum(units) filter (where kind = 'granted')::integer as granted,
            count(*) filter (where kind = 'reserved')::integer as reserved,
            count(*) filter (where kind = 'returned')::integer as returned
            from ledger_entries where account_id = $1) l
       where a.id = $1`,
      [accountId],
    );
    const { used, reserved, returned, live, failed } = units!;
    expect({ used, reserved, returned }).toEqual({ used: live - failed, reserved: live, returned: failed });
  }

  describe('while both releases run', () => {
    beforeAll(() => replace(OLD, previous), START_MS_MAX);

    it.each([
      ['previous', OLD, NEW],
      ['new', NEW, OLD],
    ])(
      'handles jobs of the other release’s API, including retries, in the worker of the %s release',
      async (_, worker, api) => {
        stack.release = worker === OLD ? '' : previous;
        await stack.stopWorker(1 - worker);
        const to = nextRecipient();
        await stack.simulator.addRule({ recipient: to, fault: { error: 131000 }, times: 2 });
        const { id } = await stack.create(liveKey, { to }, { api });
        await untilStatus(id, 'delivered');
        await verifyAt(worker, { id, to });
        expect(await stack.db.sql('select from attempts where send_id = $1', [id])).toHaveLength(3);
        const sandboxed = await stack.create(testKey, { to }, { api });
        await stack.untilStatus(testKey, sandboxed.id, 'read');
        await stack.restartWorker(1 - worker);
      },
    );

    it('avoids in both workers a sender that is blocked after a fault seen by one of them', async () => {
      await stack.simulator.addRule({ sender: SENDERS[0]!, fault: { error: 131048 } });
      const sends = await Promise.all(
        Array.from({ length: 20 }, (_, n) => stack.create(liveKey, { to: nextRecipient() }, { api: n % 2 })),
      );
      for (const { id } of sends) {
        await untilStatus(id, 'delivered');
        expect(await stack.status(liveKey, id)).toMatchObject({ from: '+15550783882' });
      }
      const rows = await stack.db.sql(
        `select t.failures from senders r join sender_blocks t on t.subject = r.id::text and t.cause = 'fault' and t.scope = 'sender'
         where r.phone_number_id = $1`,
        [SENDERS[0]],
      );
      expect(rows).toEqual([{ failures: 1 }]);
    });
  });

  it('logs no error, and the units add up', async () => {
    await expectUnitsToAddUp();
    expect(stack.output().match(/^.*"level":"(error|fatal)".*$/gm) ?? []).toEqual([]);
  });
});
