import { createTestDatabase, ProcessStack, until, type SendView } from '@onecode/testing';
import { expectUnitsToAddUp } from './unitBalance.js';
import { buildPreviousRelease, migrate, missingHistory, type PreviousRelease } from './previousRelease.js';

/** Building a release and starting every process, on a machine that has other work. */
const START_MS_MAX = 120_000;
const NEVER_MS = 86_400_000;
/** Which API and worker of the two are replaced by new ones; the provider's webhooks go to the first API. */
const NEW = 0;
const OLD = 1;
const SENDERS = ['106540352242921', '106540352242922'];
const UNITS = 300;
const SENDS = 40;

const reason = missingHistory();
const describeDeploy = reason === null ? describe : describe.skip;
// Jest shows no names of a file that is skipped as a whole.
if (reason !== null) process.stderr.write(`${reason}\n`);

describeDeploy('a deploy beside the previous release', () => {
  let previous: PreviousRelease;
  let stack: ProcessStack;
  let accountId: string;
  let liveKey: string;
  let testKey: string;
  /** Sends of the time before the migration: one to be verified, one that was never delivered. */
  let delivered: SendView;
  let waiting: SendView;

  beforeAll(async () => {
    previous = await buildPreviousRelease();
    const db = await createTestDatabase();
    await db.sql('drop schema public cascade');
    await db.sql('create schema public');
    await migrate(previous.folder, db.url);
    stack = await ProcessStack.start({ db, release: previous.folder, apis: 2, workers: 2 });

    accountId = String((await stack.onecode(`account create --name Deploy --credits ${UNITS}`))['id']);
    [liveKey, testKey] = await Promise.all([
      stack.makeKey(accountId, 'live'),
      stack.makeKey(accountId, 'test'),
      ...SENDERS.map((id, index) =>
        stack.onecode(`sender add --phone-number-id ${id} --number +1555078388${index} --token a-token`),
      ),
    ]);
    delivered = await deliverOne(OLD, '+5511987000001');
    await pauseSenders();
    waiting = await stack.create(liveKey, { to: '+5511987000002' });
    await stack.untilWaiting(waiting.id);

    // The deploy: first the schema, under the feet of what runs, then the new processes beside the old ones.
    await migrate('', stack.db.url);
  }, START_MS_MAX);
  afterAll(async () => {
    await stack.stop();
    await previous.remove();
  });
  // A test that fails while senders are paused fails no other.
  afterEach(async () => {
    await resumeSenders();
  });

  // In SQL: the command line of this release cannot before the migration, and the other's takes a process each time.
  async function pauseSenders(): Promise<void> {
    await stack.db.sql(
      "update senders set paused_at = now(), paused_until = null, pause_reason = 'by a test'",
    );
    await until('the end of the second for which a worker remembers its senders', async () => {
      const early = await stack.db.sql(
        "select from senders where paused_at > now() - interval '1.5 seconds'",
      );
      return early.length === 0;
    });
  }
  const resumeSenders = (): Promise<unknown> =>
    stack.db.sql(
      'update senders set paused_at = null, paused_until = null, pause_reason = null, consecutive_failures = 0',
    );

  /** Creates a send at one API, and waits until both show it as delivered. */
  async function deliverOne(api: number, to: string): Promise<SendView> {
    const { id } = await stack.create(liveKey, { to }, { api });
    return untilStatus(id, 'delivered');
  }

  /** Waits until both APIs show a send with this status, and alike in the rest. */
  async function untilStatus(id: string, status: string): Promise<SendView> {
    const [view, other] = await Promise.all(
      stack.apis.map((_, api) =>
        until(`a send that is ${status}`, async () => {
          const seen = await stack.status(liveKey, id, api);
          return seen.status === status && seen;
        }),
      ),
    );
    // A receipt that is late may still fill its own time between the two looks.
    const { sent_at: _sentAt, ...settled } = view!;
    expect(other).toMatchObject(settled);
    return view!;
  }

  /** Looks into the database: so many waits at the APIs would be a load of their own. */
  async function untilDelivered(ids: string[]): Promise<void> {
    await until('the delivery of all', async () => {
      const left = await stack.db.sql("select from sends where id = any ($1) and status <> 'delivered'", [
        ids,
      ]);
      return left.length === 0;
    });
  }

  const codeOf = async (to: string): Promise<string> => (await stack.simulator.message(to)).code;

  describe('while only the previous release runs on the new schema', () => {
    it('takes, repeats, delivers and verifies on the connections that it had before', async () => {
      const to = '+5511987000003';
      const headers = { 'idempotency-key': 'before-the-new-ones' };
      const created = await stack.create(liveKey, { to }, { headers });
      expect((await stack.create(liveKey, { to }, { headers })).id).toBe(created.id);
      await stack.untilWaiting(created.id);
      await resumeSenders();
      await untilStatus(created.id, 'delivered');
      expect(await stack.verify(liveKey, created.id, await codeOf(to))).toMatchObject({ valid: true });
    });

    it('delivers what waited while the schema changed, and verifies what was delivered before', async () => {
      await untilStatus(waiting.id, 'delivered');
      expect(await stack.verify(liveKey, delivered.id, await codeOf('+5511987000001'))).toMatchObject({
        valid: true,
      });
    });
  });

  describe('while both releases run', () => {
    beforeAll(async () => {
      stack.release = '';
      await stack.replaceApi(NEW);
      await stack.stopWorker(NEW);
      await stack.restartWorker(NEW);
    }, START_MS_MAX);

    it(
      'each send is taken once, repeated at either API, delivered once and verified at the other API',
      async () => {
        await stack.simulator.addRule({ fault: { duplicates: 1, disorder: true }, times: SENDS });
        const sends = Array.from({ length: SENDS }, (_, n) => ({ to: `+551198710${1000 + n}`, api: n % 2 }));
        const ids = await Promise.all(
          sends.map(async ({ to }) => {
            const headers = { 'idempotency-key': `both-${to}` };
            const both = await Promise.all(
              [OLD, NEW].map((api) => stack.create(liveKey, { to }, { headers, api })),
            );
            expect(both[0]!.id).toBe(both[1]!.id);
            return both[0]!.id;
          }),
        );
        expect(new Set(ids).size).toBe(sends.length);
        await untilDelivered(ids);
        for (const [index, { to, api }] of sends.entries()) {
          await untilStatus(ids[index]!, 'delivered');
          expect(await stack.simulator.messages(to)).toHaveLength(1);
          expect(await stack.verify(liveKey, ids[index]!, await codeOf(to), api)).toMatchObject({
            valid: true,
          });
          expect(await stack.verify(liveKey, ids[index]!, await codeOf(to), 1 - api)).toMatchObject({
            valid: false,
            verification: 'verified',
          });
        }
        await expectUnitsToAddUp(stack.db, accountId);
      },
      START_MS_MAX,
    );

    it('a key that was used with another body is refused by the other release', async () => {
      for (const api of [OLD, NEW]) {
        const headers = { 'idempotency-key': `another-body-${api}` };
        await stack.create(testKey, { to: '+5511987200001' }, { headers, api });
        const body = { to: '+5511987200002' };
        const answer = await stack.request('POST', '/v1/send', { key: testKey, headers, body, api: 1 - api });
        expect(answer).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
      }
    });

    it('wrong guesses at both APIs are counted together, until the code is locked', async () => {
      const { id } = await stack.create(testKey, { to: '+5511987200003', code: '135790' });
      const left: unknown[] = [];
      for (const api of [OLD, NEW, OLD, NEW, OLD])
        left.push(
          ((await stack.verify(testKey, id, '000000', api)) as { attempts_left: number }).attempts_left,
        );
      expect(left).toEqual([4, 3, 2, 1, 0]);
      for (const api of [OLD, NEW])
        expect(await stack.verify(testKey, id, '135790', api)).toEqual({
          valid: false,
          verification: 'locked',
          attempts_left: 0,
        });
    });

    it.each([
      ['refused at once', { error: 131026 }],
      ['refused after it was accepted', { lateFailure: 131026 }],
    ])('a send that is %s gives its unit back once, whoever took it', async (_, fault) => {
      for (const api of [OLD, NEW]) {
        const to = `+551198730000${'error' in fault ? api : api + 2}`;
        await stack.simulator.addRule({ recipient: to, fault });
        const { id } = await stack.create(liveKey, { to }, { api });
        expect(await untilStatus(id, 'failed')).toMatchObject({ failure_reason: 'rejected_by_provider' });
      }
      await expectUnitsToAddUp(stack.db, accountId);
    });

    it.each([
      ['previous', OLD, NEW],
      ['new', NEW, OLD],
    ])('the %s release’s worker does the jobs of the other’s API, tries included', async (_, worker, api) => {
      stack.release = worker === OLD ? '' : previous.folder;
      await stack.stopWorker(1 - worker);
      const to = `+551198740000${worker}`;
      await stack.simulator.addRule({ recipient: to, fault: { error: 131000 }, times: 2 });
      const { id } = await deliverOne(api, to);
      expect(await stack.verify(liveKey, id, await codeOf(to), worker)).toMatchObject({ valid: true });
      expect(await stack.db.sql('select from attempts where send_id = $1', [id])).toHaveLength(3);
      const sandboxed = await stack.create(testKey, { to }, { api });
      await until(
        'a simulated send',
        async () => (await stack.status(testKey, sandboxed.id, api)).status === 'read',
      );
      await stack.restartWorker(1 - worker);
    });

    it('both workers keep off a sender that cools down after a fault which one of them met', async () => {
      await stack.simulator.addRule({ sender: SENDERS[0]!, fault: { error: 131048 } });
      const sends = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          stack.create(liveKey, { to: `+55119875${1000 + n}` }, { api: n % 2 }),
        ),
      );
      await untilDelivered(sends.map(({ id }) => id));
      const views = await Promise.all(sends.map(({ id }) => untilStatus(id, 'delivered')));
      expect(new Set(views.map(({ from }) => from))).toEqual(new Set(['+15550783881']));
      const rows = await stack.db.sql('select consecutive_failures from senders where phone_number_id = $1', [
        SENDERS[0],
      ]);
      expect(rows).toEqual([{ consecutive_failures: 1 }]);
    });
  });

  describe('when the deploy is taken back', () => {
    it(
      'the previous release alone delivers, retries and verifies what the new one left',
      async () => {
        await stack.simulator.changeSettings({ deliveredMs: NEVER_MS });
        const pending = await stack.create(liveKey, { to: '+5511987600001' }, { api: NEW });
        await stack.untilStatus(liveKey, pending.id, 'sent');
        const guessed = await stack.create(testKey, { to: '+5511987600002', code: '135790' }, { api: NEW });
        await stack.verify(testKey, guessed.id, '000000', NEW);
        await pauseSenders();
        const held = await stack.create(liveKey, { to: '+5511987600003' }, { api: NEW });
        await stack.untilWaiting(held.id);

        stack.release = previous.folder;
        await stack.replaceApi(NEW);
        await stack.stopWorker(NEW);
        await stack.restartWorker(NEW);
        await resumeSenders();
        await untilStatus(held.id, 'sent');
        const message = await stack.simulator.message('+5511987600001');
        await stack.simulator.postReceipt({ messageId: message.id, status: 'delivered' });
        await untilStatus(pending.id, 'delivered');
        expect(await stack.verify(liveKey, pending.id, message.code)).toMatchObject({ valid: true });
        expect(await stack.verify(testKey, guessed.id, '000001')).toMatchObject({ attempts_left: 3 });
        expect(await stack.verify(testKey, guessed.id, '135790')).toMatchObject({ valid: true });
        await expectUnitsToAddUp(stack.db, accountId);
      },
      START_MS_MAX,
    );

    it('migrating again with the previous release leaves the newer schema as it is', async () => {
      const journal = 'select migration_name from _prisma_migrations order by 1';
      const before = await stack.db.sql(journal);
      await migrate(previous.folder, stack.db.url);
      expect(await stack.db.sql(journal)).toEqual(before);
    });

    it('and was no error to any process', () => {
      expect(stack.output().match(/^.*"level":"(error|fatal)".*$/gm) ?? []).toEqual([]);
    });
  });
});
