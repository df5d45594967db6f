import { createTestDatabase, ProcessStack, until, type SendView } from '@onecode/testing';
import { expectUnitsToAddUp } from './unitBalance.js';
import { buildPreviousRelease, migrate, missingHistory, type PreviousRelease } from './previousRelease.js';

const START_MS_MAX = 240_000;
const UNITS = 5_000;
const CLIENTS = 3;
/** Sends that go their whole way in each cell of the matrix. */
const SENDS_IN_EACH_STEP = 6;
const APIS = 2;

const reason = missingHistory();
const describeUpgrade = reason === null ? describe : describe.skip;

/** The matrix of docs/upgrading.md, in the order in which a deploy walks it and is taken back. */
describeUpgrade('an upgrade under load, and the way back', () => {
  let previous: PreviousRelease;
  let stack: ProcessStack;
  let accountId: string;
  let key: string;
  let isOver = false;
  let clients: Promise<void>[] = [];
  /** Sends that were created, delivered and verified. */
  const done: { id: string; to: string }[] = [];
  const faults: string[] = [];

  beforeAll(async () => {
    previous = await buildPreviousRelease();
    const db = await createTestDatabase();
    await db.sql('drop schema public cascade');
    await db.sql('create schema public');
    await migrate(previous.folder, db.url);
    stack = await ProcessStack.start({ db, release: previous.folder, apis: APIS, workers: 2 });
    accountId = String(
      (await stack.onecode(`account create --name Load --credits ${UNITS} --rate-per-minute 100000`))['id'],
    );
    key = await stack.makeKey(accountId, 'live');
    await Promise.all([1, 2].map((digit) => stack.addSender(digit)));
    clients = Array.from({ length: CLIENTS }, (_, client) => runClient(client));
  }, START_MS_MAX);
  afterAll(async () => {
    isOver = true;
    await Promise.all(clients);
    await stack.stop();
    await previous.remove();
  });

  /** Somebody who signs people in, one after the other, until the end. */
  async function runClient(client: number): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const to = `+55119${client}${String(n).padStart(7, '0')}`;
      try {
        await signIn(to, n % APIS);
      } catch (error) {
        faults.push(`${to}: ${String(error)}`);
      }
    }
  }

  async function signIn(to: string, api: number): Promise<void> {
    const headers = { 'idempotency-key': to };
    const { id } = await anywhere(api, (at) => stack.create(key, { to }, { headers, api: at }));
    await until('a message', async () => (await stack.simulator.messages(to)).length > 0);
    const { code } = await stack.simulator.message(to);
    const wrong = code === '000000' ? '000001' : '000000';
    const guess = (at: number, typed: string) => anywhere(at, (on) => stack.verify(key, id, typed, on));
    expect(await guess(api, wrong)).toEqual({ valid: false, verification: 'pending', attempts_left: 4 });
    expect(await guess(1 - api, code)).toMatchObject({ valid: true });
    expect(await guess(api, code)).toMatchObject({ valid: false, verification: 'verified' });
    done.push({ id, to });
  }

  /** A request at one API, or at the other while that one is being replaced. An answer that is no success is not repeated. */
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

  /** Waits until so many sends that began after now went their whole way. */
  async function underLoad(): Promise<void> {
    const enough = done.length + SENDS_IN_EACH_STEP + CLIENTS;
    await until('the load of this step', () => done.length >= enough || faults.length > 0, START_MS_MAX);
    expect(faults).toEqual([]);
  }

  async function replace(index: number, release: string): Promise<void> {
    stack.release = release;
    await stack.replaceApi(index);
    await stack.stopWorker(index);
    await stack.restartWorker(index);
  }

  it.each<[string, () => Promise<void>]>([
    ['N−1 alone, before the migration', async () => {}],
    ['N−1 alone on the schema of N', () => migrate('', stack.db.url)],
    ['N−1 beside N', () => replace(0, '')],
    ['N alone', () => replace(1, '')],
    ['N beside N−1, on the way back', () => replace(0, previous.folder)],
    ['N−1 alone on the schema of N, on the way back', () => replace(1, previous.folder)],
    [
      'N again',
      async () => {
        await migrate('', stack.db.url);
        await replace(0, '');
        await replace(1, '');
      },
    ],
  ])(
    '%s: every code is sent once, and verified at the other API',
    async (_, step) => {
      await step();
      await underLoad();
    },
    START_MS_MAX,
  );

  it(
    'lost no send, sent none twice, and was no error to any process',
    async () => {
      isOver = true;
      await Promise.all(clients);
      expect(faults).toEqual([]);
      await until('the last receipts', async () => {
        const left = await stack.db.sql("select from sends where status not in ('delivered', 'read')");
        return left.length === 0;
      });
      expect(await stack.db.sql('select id from sends')).toHaveLength(done.length);
      for (const { id, to } of done) {
        expect(await stack.simulator.messages(to)).toHaveLength(1);
        const view: SendView = await stack.status(key, id);
        expect(view).toMatchObject({ verification: 'verified' });
      }
      await expectUnitsToAddUp(stack.db, accountId);
      expect(stack.output().match(/^.*"level":"(error|fatal)".*$/gm) ?? []).toEqual([]);
    },
    START_MS_MAX,
  );
});
