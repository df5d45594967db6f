import { migrate } from '@onecode/store/migrations';
import { bodyOf, buildCaller, connectTestDatabase, ProcessStack, request, until } from '@onecode/testing';
import type { Answer, SendView } from '@onecode/testing';
import { Services } from '../faults/cluster/services.js';
import { Router, sha256, signatureOf, type Home } from './router.js';

const START_MS_MAX = 180_000;
const WALK_MS_MAX = 300_000;
const STEP_MS_MAX = 60_000;
const CODE = '135790';
/** Sends of each home in each step. */
const SOME = 20;
const PRELOAD = `--import ${new URL('homeIds.mjs', import.meta.url).href}`;

/** A home with one account and one number. */
interface Settled extends Home {
  services: Services;
  stack: ProcessStack;
  key: string;
  phoneNumberId: string;
}

/** Sets up a home. The simulator of the first stands for the one provider of both. */
async function settle(digit: 'a' | 'b', webhookUrl: string, first?: Settled): Promise<Settled> {
  const services = await Services.start();
  await migrate(services.postgresUrl);
  const stack = await ProcessStack.start({
    db: connectTestDatabase(services.postgresUrl),
    env: { REDIS_URL: services.redisUrl, NODE_OPTIONS: PRELOAD, HOME_DIGIT: digit },
    simulatorEnv: { WEBHOOK_URL: webhookUrl },
    ...(first && { provider: async () => first.stack.simulator.url }),
  });
  const number = digit === 'a' ? 1 : 2;
  await stack.addSender(number);
  const { key } = await buildCaller(stack.db.database, 'live', { credits: 1_000 });
  const { appSecret } = stack.secrets;
  return {
    digit,
    url: stack.apis[0]!,
    appSecret,
    services,
    stack,
    key,
    phoneNumberId: `10654035224292${number}`,
  };
}

describe('two homes behind one address', () => {
  const router = new Router();
  let url: string;
  let a: Settled;
  let b: Settled;
  let recipients = 5_511_987_000_000;

  beforeAll(async () => {
    url = await router.listen();
    a = await settle('a', `${url}/webhooks/whatsapp`);
    b = await settle('b', `${url}/webhooks/whatsapp`, a);
    router.appSecret = a.appSecret;
    router.homes.push(a, b);
    for (const home of [a, b]) {
      router.homesOfKeys.set(sha256(home.key), home);
      router.homesOfNumbers.set(home.phoneNumberId, home);
    }
  }, START_MS_MAX);
  afterAll(async () => {
    for (const { stack, services } of [b, a]) {
      await stack.stop();
      await services.close();
    }
    router.close();
  }, START_MS_MAX);

  const post = ({ key }: Settled): Promise<Answer<SendView>> =>
    request(`${url}/v1/send`, 'POST', { key, body: { to: `+${(recipients += 1)}`, code: CODE } });
  /** @returns the ids of delivered sends */
  async function send(home: Settled): Promise<[string, string, ...string[]]> {
    const answers = await Promise.all(Array.from({ length: SOME }, () => post(home)));
    const ids = answers.map((answer) => bodyOf(answer, 202).id);
    await untilAll(home, 'delivered', ...ids);
    return ids as [string, string, ...string[]];
  }
  const untilAll = ({ key }: Settled, wanted: string, ...ids: string[]): Promise<unknown> =>
    until(
      `sends that are ${wanted}`,
      async () => {
        const statuses = ids.map((id) => request<SendView>(`${url}/v1/send/${id}/status`, 'GET', { key }));
        return (await Promise.all(statuses)).every(({ body }) => body.status === wanted);
      },
      STEP_MS_MAX,
    );
  const verify = (key: string, id: string): Promise<Answer> =>
    request(`${url}/v1/send/${id}/verify`, 'POST', { key, body: { code: CODE } });
  const stored = async ({ stack }: Settled): Promise<string[]> =>
    (await stack.db.sql<{ id: string }>('select id from sends order by id')).map(({ id }) => id);
  const untilApplied = ({ stack }: Settled): Promise<unknown> =>
    until(
      'receipts that are all applied',
      async () => (await stack.db.sql('select from receipts')).length === 0,
    );

  /** Posts one webhook of the provider: that these were read. @returns the status of the answer */
  async function read(...sends: { id: string; of: Settled }[]): Promise<number> {
    const messages = await a.stack.simulator.messages();
    const changes = sends.map(({ id, of }) => {
      const status = {
        id: messages.find(({ opaque }) => opaque === `${id}.1`)!.id,
        biz_opaque_callback_data: `${id}.1`,
        status: 'read',
        timestamp: String(Math.floor(Date.now() / 1000)),
        recipient_id: '5511987000000',
      };
      return {
        field: 'messages',
        value: { metadata: { phone_number_id: of.phoneNumberId }, statuses: [status] },
      };
    });
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '102290129340398', changes }],
    });
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': signatureOf(body, router.appSecret),
    };
    return (await request(`${url}/webhooks/whatsapp`, 'POST', { headers, body })).status;
  }

  it(
    'have sends of their own, which are created, delivered and verified through it',
    async () => {
      const [ofA, ofB] = await Promise.all([send(a), send(b)]);
      expect(await Promise.all([stored(a), stored(b)])).toEqual([ofA.toSorted(), ofB.toSorted()]);
      for (const id of ofA) expect((await verify(a.key, id)).body).toMatchObject({ valid: true });
      for (const id of ofB) expect((await verify(b.key, id)).body).toMatchObject({ valid: true });
      expect((await verify(a.key, ofB[0])).status).toBe(404);
      expect((await verify('ak_live_nobody', ofA[0])).status).toBe(401);

      expect(await read({ id: ofA[0], of: a }, { id: ofB[0], of: b })).toBe(200);
      // Its number has moved since.
      expect(await read({ id: ofA[1], of: b })).toBe(200);
      await Promise.all([untilAll(a, 'read', ofA[0], ofA[1]), untilAll(b, 'read', ofB[0])]);
      await Promise.all([untilApplied(a), untilApplied(b)]);
    },
    WALK_MS_MAX,
  );

  it(
    'stop nobody of the other while they are down, and miss no receipt',
    async () => {
      const [ofA, ofB] = await Promise.all([send(a), send(b)]);
      await b.services.killPostgres();
      expect((await post(b)).status).toBeGreaterThanOrEqual(500);
      const reads = [
        { id: ofA[0], of: a },
        { id: ofB[0], of: b },
      ];
      expect(await read(...reads)).toBeGreaterThanOrEqual(500);
      await untilAll(a, 'read', ofA[0]);
      for (const id of await send(a)) expect((await verify(a.key, id)).body).toMatchObject({ valid: true });

      await b.services.startPostgres();
      await until(
        'a home that is back',
        async () => (await verify(b.key, ofB[1])).status === 200,
        STEP_MS_MAX,
      );
      // The provider repeats what was not answered with 200.
      expect(await read(...reads)).toBe(200);
      await untilAll(b, 'read', ofB[0]);
      await send(b);
      await Promise.all([untilApplied(a), untilApplied(b)]);
      expect((await stored(a)).every((id) => id.endsWith('a'))).toBe(true);
      expect((await stored(b)).every((id) => id.endsWith('b'))).toBe(true);
    },
    WALK_MS_MAX,
  );
});
