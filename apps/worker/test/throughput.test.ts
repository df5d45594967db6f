import { changeAccount, type SenderPolicy } from '@onecode/store/accounts';
import { pauseSender, resumeSender, type Sender } from '@onecode/store/senders';
import { buildSend, buildSender, until, TEST_ACTOR, type TestCaller } from '@onecode/testing';
import { isNothingDue, enqueueAll, makeSends } from './manySends.js';
import { startWorker, type TestWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

const LEAVING_MS_MAX = 90_000;
/** The maximum position behind a flood on the shared senders. Permits are granted half a second ahead; the rest is for a busy machine. */
const AHEAD_MAX = 60;

let environment: WorkerEnvironment;
let workers: TestWorker[];
beforeEach(async () => {
  environment = await WorkerEnvironment.open();
  environment.simulator.changeSettings({ senderLimit: true });
  // Receipts would only add load.
  environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
  const env = { WHATSAPP_API_URL: environment.simulator.apiUrl, PROVIDER_TIMEOUT_MS: '30000' };
  workers = [await startWorker(environment, { env }), await startWorker(environment, { env })];
});
afterEach(async () => {
  for (const worker of workers) await worker.stop();
  await environment.close();
});
const requests = () => environment.simulator.requests();

describe('floods of accounts with their own senders and of accounts with shared senders', () => {
  let accounts = 0;
  /** Creates an account with `count` waiting sends, and twenty sends without jobs yet. `recipients` is the prefix of their numbers. */
  async function flood(
    count: number,
    senders: SenderPolicy,
  ): Promise<{ caller: TestCaller; recipients: string; jobs: string[] }> {
    const { database } = environment.db;
    accounts += 1;
    const caller = await environment.newCaller('live', { freeQuota: 100, credits: count });
    await changeAccount(database, TEST_ACTOR, caller.accountId, { senders });
    const recipientsFrom = 70_000_000 + accounts * 1_000_000;
    await makeSends(environment, count, { phase: 'waiting', recipientsFrom, caller });
    const jobs = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        buildSend(database, caller, { recipient: `+55119${recipientsFrom + 500_000 + n}` }),
      ),
    );
    return { caller, recipients: `+55119${70 + accounts}`, jobs };
  }
  const sender = (caller: TestCaller | null, throughput: number): Promise<Sender> =>
    buildSender(environment.db.database, {
      throughput,
      owner: caller === null ? 'shared' : { accountId: caller.accountId, applicationIds: [] },
    });

  it(
    'never use another account’s sender, do not wait for other accounts’ queues, and keep every limit',
    async () => {
      const { database } = environment.db;
      const mine = await flood(100, 'own');
      const other = await flood(40, 'own');
      const shared = await flood(220, 'shared');
      const quiet = await environment.newCaller();
      const pool = [await sender(null, 30), await sender(null, 30)];
      const allowed = new Map([
        [mine.recipients, [await sender(mine.caller, 30), await sender(mine.caller, 30)]],
        [other.recipients, [await sender(other.caller, 20)]],
        [shared.recipients, pool],
      ]);
      await enqueueAll(
        environment,
        [mine, other, shared].flatMap(({ jobs }) => jobs),
      );
      const byPool = () =>
        requests().filter(({ sender: id }) => pool.some(({ phoneNumberId }) => phoneNumberId === id));
      await until('some of the flood', () => byPool().length >= 20);

      // While the shared senders are paused, all sends of own senders are sent.
      for (const { id } of pool) await pauseSender(database, TEST_ACTOR, id);
      const ids = [
        await buildSend(database, quiet, { recipient: '+5521987654321' }),
        await buildSend(database, mine.caller, { recipient: `${mine.recipients}999999` }),
      ];
      for (const id of ids)
        if ((await environment.row(id)).phase !== 'waiting') await environment.enqueue('live', id);
      await until(
        'the end of the sends of own senders',
        () => requests().length - byPool().length === 121 + 60,
        LEAVING_MS_MAX,
      );
      const before = byPool().length;
      expect(before).toBeLessThan(240);
      for (const { id } of pool) await resumeSender(database, TEST_ACTOR, id);
      await until('the end of all sends', () => isNothingDue(environment), LEAVING_MS_MAX);

      expect(requests().filter(({ outcome }) => outcome !== 'dropped')).toEqual([]);
      expect(requests()).toHaveLength(120 + 60 + 240 + 2);
      expect(new Set(requests().map(({ to }) => to)).size).toBe(requests().length);
      for (const [recipients, senders] of allowed) {
        const own = requests().filter(({ to }) => to?.startsWith(recipients));
        expect(own.length).toBeGreaterThanOrEqual(60);
        const numbers = new Set(senders.map(({ phoneNumberId }) => phoneNumberId));
        expect(own.filter(({ sender: id }) => !numbers.has(id))).toEqual([]);
      }
      // An account with no other sends on the shared senders gets the next turn.
      const place = byPool().findIndex(({ to }) => to === '+5521987654321');
      expect(place).toBeGreaterThanOrEqual(0);
      expect(place).toBeLessThan(before + AHEAD_MAX);
    },
    LEAVING_MS_MAX,
  );
});
