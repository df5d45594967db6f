import { createTestDatabase, ProcessStack, startTcpProxy, until, type TcpProxy } from '@onecode/testing';
import { beginPost, type RawPost } from './rawPost.js';

const PHONE = '+5511987654321';
/** The time after its commit by which every request obeys a revocation. */
const HOLDS_MS = 1_000;

describe('while keys are revoked and accounts suspended', () => {
  let stack: ProcessStack;
  let proxy: TcpProxy;
  let accountId: string;
  beforeAll(async () => {
    const db = await createTestDatabase();
    proxy = await startTcpProxy(db.url);
    stack = await ProcessStack.start({ db, workers: 0, env: { DATABASE_URL: proxy.url } });
    accountId = String((await stack.onecode('account create --name A --free-quota 100'))['id']);
  });
  afterEach(() => proxy.open());
  afterAll(async () => {
    await stack.stop();
    await proxy.close();
  });

  interface Key {
    id: string;
    key: string;
  }
  async function makeKey(account = accountId): Promise<Key> {
    const { id: application } = await stack.onecode(
      `application create --account ${account} --name A --mode test`,
    );
    const made = await stack.onecode(`key create --application ${application}`);
    return { id: String(made['id']), key: String(made['key']) };
  }
  const revoke = ({ id }: Key): Promise<unknown> =>
    stack.db.sql('update api_keys set revoked_at = now() where id = $1', [id]);
  const passed = (ms: number): Promise<unknown> => {
    const begun = performance.now();
    return until(`the end of ${ms} ms`, () => performance.now() - begun > ms);
  };

  /** Begins a request and sends all of its body but the last byte. */
  function beginAll(path: string, { key }: Key, body: string): { request: RawPost; finish: () => void } {
    const request = beginPost(
      `${stack.apis[0]}${path}`,
      { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body.length,
    );
    request.write(body.slice(0, -1));
    return { request, finish: () => request.write(body.slice(-1)) };
  }

  describe('a request whose body ends after its key was revoked', () => {
    it('creates nothing', async () => {
      const key = await makeKey();
      const { request, finish } = beginAll('/v1/send', key, JSON.stringify({ to: PHONE }));
      await until(
        'the use of the key',
        async () => (await stack.request('GET', '/v1/send/x/status', { key: key.key })).status === 404,
      );
      await revoke(key);
      await passed(HOLDS_MS);
      finish();
      expect((await request.answered).status).toBe(401);
      const [{ count } = { count: -1 }] = await stack.db.sql<{ count: number }>(
        'select count(*)::integer as count from sends s join api_keys k using (application_id) where k.id = $1',
        [key.id],
      );
      expect(count).toBe(0);
    });

    it('verifies nothing, and answers that the account is suspended', async () => {
      const account = String((await stack.onecode('account create --name B --free-quota 100'))['id']);
      const key = await makeKey(account);
      const { id } = await stack.create(key.key, { to: PHONE });
      const { request, finish } = beginAll(`/v1/send/${id}/verify`, key, JSON.stringify({ code: '000000' }));
      await stack.status(key.key, id);
      await stack.onecode(`account suspend ${account} --reason unpaid`);
      await passed(HOLDS_MS);
      finish();
      const { status, body } = await request.answered;
      expect([status, body]).toEqual([
        401,
        expect.stringMatching(/"invalid_api_key".*"detail":"[^"]*suspended/),
      ]);
      const [send] = await stack.db.sql<{ verification: string }>(
        'select verification from sends where id = $1',
        [id],
      );
      expect(send!.verification).toBe('pending');
    });
  });

  describe('a revoked key', () => {
    it('is refused for every request a second later, however late the database answers', async () => {
      const key = await makeKey();
      const { id } = await stack.create(key.key, { to: PHONE });
      await Promise.all(Array.from({ length: 10 }, () => stack.status(key.key, id)));
      proxy.slow(1_500);
      const asked: { at: number; answer: Promise<number> }[] = [];
      const ask = setInterval(() => {
        const answer = stack.request('GET', `/v1/send/${id}/status`, { key: key.key });
        asked.push({ at: performance.now(), answer: answer.then(({ status }) => status) });
      }, 100);
      await passed(2_000);
      await revoke(key);
      const revokedAt = performance.now();
      await passed(6_000);
      clearInterval(ask);
      const late = asked.filter(({ at }) => at > revokedAt + HOLDS_MS);
      const answers = await Promise.all(
        late.map(async ({ at, answer }) => [Math.round(at - revokedAt), await answer]),
      );
      expect(answers.length).toBeGreaterThan(30);
      expect(answers.filter(([, status]) => status === 200)).toEqual([]);
    });

    it('is refused even after a fail-over that lost the last commit', async () => {
      const [lost, key] = [await makeKey(), await makeKey()];
      const state = (): Promise<object[]> => stack.db.sql('select to_jsonb(v) as row from callers_version v');
      const [before] = (await state()) as { row: object }[];
      await revoke(lost);
      const { id } = await stack.create(key.key, { to: PHONE });
      await passed(HOLDS_MS);
      await stack.status(key.key, id);
      // The state of the standby, and then its first change.
      await stack.db.sql('delete from callers_version');
      await stack.db.sql(
        'insert into callers_version select * from jsonb_populate_record(null::callers_version, $1)',
        [before!.row],
      );
      await revoke(key);
      await passed(HOLDS_MS);
      expect((await stack.request('GET', `/v1/send/${id}/status`, { key: key.key })).status).toBe(401);
    });
  });
});
