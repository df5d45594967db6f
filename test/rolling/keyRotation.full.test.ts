import { createHmac, randomBytes } from 'node:crypto';
import { pauseSender, resumeSender } from '@onecode/store/senders';
import { buildAccount, buildCaller, ProcessStack, TEST_ACTOR, until } from '@onecode/testing';

/** Time limit for replacing all processes one after another on a busy machine. */
const ROLL_MS_MAX = 120_000;
const APIS = [0, 1];
const WORKERS = [0, 1];
/** Enough for one verification of each batch at each API after each replacement of an API: twice in each of three rotations. */
const CODES_OF_A_BATCH = APIS.length * 2 * 3;
const CODE = '135790';

interface KeyPair {
  old: string;
  new: string;
}
const withNew = (old: string): KeyPair => ({ old, new: randomBytes(32).toString('base64') });

describe('a rotation of secrets, process by process', () => {
  let stack: ProcessStack;
  let pepper: KeyPair;
  let secretKey: KeyPair;
  let senderId: string;
  let liveKey: string;
  let testKey: string;
  /** Ids of sends with a pending code, grouped by API and time between two replacements. */
  const batches: string[][] = [];
  /** Ids of live sends that wait for a sender with their encrypted code. */
  let waiting: string[] = [];
  let recipients = 0;

  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: APIS.length, workers: WORKERS.length });
    pepper = withNew(stack.secrets.pepper);
    secretKey = withNew(stack.secrets.secretKey);
    senderId = await stack.addSender();
    const id = await buildAccount(stack.db.database, { credits: 1_000, ratePerMinute: 100_000 });
    ({ key: liveKey } = await buildCaller(stack.db.database, 'live', { id }));
    ({ key: testKey } = await buildCaller(stack.db.database, 'test', { id }));
    await pauseSender(stack.db.database, TEST_ACTOR, senderId);
    await createAtEachApi();
  }, ROLL_MS_MAX);
  afterAll(() => stack.stop());

  const newRecipient = (): string => `+5511987${String(600_000 + recipients++)}`;

  async function createAtEachApi(): Promise<void> {
    for (const api of APIS) {
      const pending = Array.from({ length: CODES_OF_A_BATCH }, () =>
        stack.create(testKey, { to: newRecipient(), code: CODE }, { api }),
      );
      batches.push((await Promise.all(pending)).map(({ id }) => id));
      waiting.push((await stack.create(liveKey, { to: newRecipient() }, { api })).id);
    }
  }

  async function expectEachBatchToVerifyAtEachApi(): Promise<void> {
    for (const batch of batches)
      for (const api of APIS)
        expect(await stack.verify(testKey, batch.pop()!, CODE, api)).toMatchObject({ valid: true });
  }

  /** Each waiting send must be sent with its first attempt: an encrypted code or token that cannot be decrypted uses one. */
  async function expectAllToBeDelivered(): Promise<void> {
    await resumeSender(stack.db.database, TEST_ACTOR, senderId);
    await until('the delivery of all that waited', async () => {
      const rows = await stack.db.sql<{ status: string; attempts: number }>(
        'select status, attempts from sends where id = any ($1)',
        [waiting],
      );
      expect(rows.filter(({ attempts }) => attempts > 1)).toEqual([]);
      return rows.every(({ status }) => status === 'delivered');
    });
    await pauseSender(stack.db.database, TEST_ACTOR, senderId);
    waiting = [];
  }

  /** Replaces every process by one with these secrets, and tests all pending codes at each step. */
  async function roll(secrets: { pepper: string; secretKey: string }): Promise<void> {
    Object.assign(stack.secrets, secrets);
    for (const api of APIS) {
      await stack.replaceApi(api);
      await createAtEachApi();
      await expectEachBatchToVerifyAtEachApi();
    }
    for (const worker of WORKERS) {
      await stack.stopWorker(worker);
      // Only the other worker is running: first one with the old secrets, then one with the new ones.
      await expectAllToBeDelivered();
      await stack.restartWorker(worker);
      await createAtEachApi();
    }
  }

  const keyrings = (keyringOf: (keys: KeyPair) => string): { pepper: string; secretKey: string } => ({
    pepper: keyringOf(pepper),
    secretKey: keyringOf(secretKey),
  });

  it(
    'loses nothing while all processes start to accept the new keys',
    () => roll(keyrings((keys) => `1:${keys.old},2:${keys.new}`)),
    ROLL_MS_MAX,
  );

  it(
    'loses nothing while all processes start to use the new keys for new values',
    async () => {
      await roll(keyrings((keys) => `2:${keys.new},1:${keys.old}`));
      const versions = await stack.db.sql<{ hash: number; encrypted: number }>(
        'select get_byte(code_hash, 0) as hash, get_byte(encrypted_code, 0) as encrypted from sends where id = any ($1)',
        [waiting],
      );
      expect(new Set(versions.map(({ hash, encrypted }) => `${hash} ${encrypted}`))).toEqual(
        new Set(['2 2']),
      );
    },
    ROLL_MS_MAX,
  );

  it(
    'loses nothing while the old keys are removed, after tokens are reencrypted and old codes have expired',
    async () => {
      expect(await stack.onecode<{ token: string }[]>('sender reencrypt')).toEqual([
        expect.objectContaining({ id: senderId, token: 'reencrypted' }),
      ]);
      const old = await stack.db.sql<{ id: string }>(
        `update sends set created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
         where get_byte(code_hash, 0) = 1 and verification = 'pending' and mode = 'test' returning id`,
      );
      const isOld = new Set(old.map(({ id }) => id));
      const expired = batches.filter((batch) => isOld.has(batch[0]!));
      const alive = batches.filter((batch) => !isOld.has(batch[0]!));
      expect([expired.length, alive.length]).not.toContain(0);
      batches.splice(0, batches.length, ...alive);

      await roll(keyrings((keys) => `2:${keys.new}`));
      for (const api of APIS)
        expect(await stack.verify(testKey, expired[0]!.pop()!, CODE, api)).toEqual({
          valid: false,
          verification: 'expired',
          attempts_left: 0,
        });
    },
    ROLL_MS_MAX,
  );

  it(
    'accepts webhooks signed with the old or the new app secret until the old one is removed',
    async () => {
      const [old, next] = [stack.secrets.appSecret, 'the-new-app-secret'];
      const statusOf = async (secret: string, api: number): Promise<number> => {
        const body = '{"object":"whatsapp_business_account","entry":[]}';
        const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
        const headers = { 'x-hub-signature-256': signature };
        return (await stack.request('POST', '/webhooks/whatsapp', { body, headers, api })).status;
      };
      const answers = async (api: number): Promise<number[]> => [
        await statusOf(old, api),
        await statusOf(next, api),
      ];
      for (const [secrets, expected] of [
        [`${next},${old}`, [200, 200]],
        [next, [401, 200]],
      ] as const)
        for (const api of APIS) {
          stack.secrets.appSecret = secrets;
          await stack.replaceApi(api);
          expect(await answers(api)).toEqual(expected);
        }
    },
    ROLL_MS_MAX,
  );

  it('logs no error', () => {
    expect(stack.output().match(/^.*"level":"(error|fatal)".*$/gm)).toBeNull();
  });
});
