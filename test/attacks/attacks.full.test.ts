import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { allowCostly, allowCountries, changeSetting, grantCredits, suspendAccount } from '@onecode/store';
import {
  buildCaller,
  closedPort,
  createTestDatabase,
  ProcessStack,
  RawConnection,
  requestBytes,
  STACK_START_MS_MAX,
  startProcess,
  startTcpProxy,
  TEST_ACTOR,
  until,
  untilReady,
  type RawAnswer,
  type StartedProcess,
  type TcpProxy,
  type TestCaller,
} from '@onecode/testing';

const PHONE = '+5511987654321';
const ATTACK_MS_MAX = 120_000;

interface Body {
  id?: string;
  detail?: string;
}

/** One API and one console. Between the API and the database is a network. */
describe('under attack', () => {
  let stack: ProcessStack;
  let proxy: TcpProxy;
  let server: StartedProcess;
  let consoleUrl: string;
  beforeAll(async () => {
    const db = await createTestDatabase();
    proxy = await startTcpProxy(db.url);
    stack = await ProcessStack.start({ db, workers: 0, env: { DATABASE_URL: proxy.url } });
    const port = await closedPort();
    consoleUrl = `http://localhost:${port}`;
    server = startProcess('apps/console/dist/main.js', {
      ...stack.variables,
      DATABASE_URL: db.url,
      SECRET_KEY: stack.secrets.secretKey,
      SESSION_SECRET: randomBytes(32).toString('base64'),
      PORT: String(port),
      METRICS_PORT: '0',
      BASE_URL: String(stack.apis[0]),
      CONSOLE_URL: consoleUrl,
      // As behind a proxy, which names the address of each client.
      PROXY_HOPS: '1',
    });
    await untilReady(server);
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await server.stop();
    await stack.stop();
    await proxy.close();
  });

  /** A caller that no limit of its account stops. */
  const buildUnlimited = (): Promise<TestCaller> =>
    buildCaller(stack.db.database, 'live', { freeQuota: 5_000, ratePerMinute: 100_000 });
  const send = (key: string, body: object) => stack.request<Body>('POST', '/v1/send', { key, body });
  const tally = (words: readonly (string | number)[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
    return counts;
  };
  const passed = (ms: number): Promise<unknown> => {
    const begun = performance.now();
    return until(`the end of ${ms} ms`, () => performance.now() - begun > ms);
  };

  describe('a flood of webhooks from strangers', () => {
    const POST = Buffer.alloc(3 * 2 ** 20, 'x');
    const FORGED = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
    const PATH = '/webhooks/whatsapp';

    /** Begins a post of the largest size, with so many of its bytes. */
    async function begin(bytes: number, headers: Record<string, string> = FORGED): Promise<RawConnection> {
      const { port } = new URL(stack.apis[0]!);
      const all = { Host: 'x', Connection: 'close', ...headers, 'Content-Length': String(POST.length) };
      const connection = await RawConnection.open(Number(port));
      return connection.write(requestBytes('POST', PATH, Object.entries(all)), POST.subarray(0, bytes));
    }

    /** The API's memory in MiB. */
    async function memory(): Promise<number> {
      const status = await readFile(`/proc/${stack.apiPids[0]}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    }

    /**
     * Posts a webhook of the largest size that Meta uses: 1,000 statuses in nearly 3 MB. As Meta does, it posts again after a server
     * error, which a busy machine may answer with. @returns its last status
     */
    async function postReal(): Promise<number> {
      const statuses = Array.from({ length: 1_000 }, () => ({
        id: `wamid.${randomUUID()}`,
        status: 'delivered',
        timestamp: '1767225600',
        recipient_id: '5511987654321',
        conversation: { id: 'c'.repeat(2_900) },
      }));
      const value = { messaging_product: 'whatsapp', statuses };
      const entry = [{ id: '1', changes: [{ field: 'messages', value }] }];
      const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
      const signature = createHmac('sha256', stack.secrets.appSecret).update(body).digest('hex');
      const headers = { 'x-hub-signature-256': `sha256=${signature}`, connection: 'close' };
      for (let retries = 0; ; retries++) {
        const { status } = await fetch(stack.apis[0] + PATH, { method: 'POST', headers, body });
        if (status < 500 || retries === 3) return status;
      }
    }

    /** What the API has after its first real webhook, before any flood. */
    let mebibytesBefore: number;
    beforeAll(async () => {
      await postReal();
      mebibytesBefore = await memory();
    });

    /** Does it while three real webhooks are posted. @returns the most that the API's memory has grown by */
    async function growthWhile(flood: () => Promise<unknown>): Promise<number> {
      let most = 0;
      let isOver = false;
      const watched = until(
        'the end',
        async () => {
          most = Math.max(most, await memory());
          return isOver;
        },
        55_000,
      );
      await flood();
      const real = await Promise.all([1, 2, 3].map(postReal));
      isOver = true;
      await watched;
      expect(real).toEqual([200, 200, 200]);
      return most - mebibytesBefore;
    }

    it.each([150, 400])(
      '%i posts of 3 MB with a wrong signature take little memory, and real ones pass',
      async (count) => {
        let answers: Promise<RawAnswer>[] = [];
        const mebibytes = await growthWhile(async () => {
          const posts = await Promise.all(Array.from({ length: count }, () => begin(POST.length)));
          answers = posts.map((post) => post.answer('POST', 55_000));
        });
        const statuses = (await Promise.all(answers)).map(({ status }) => status);
        expect(statuses.filter((status) => ![401, 408, 503].includes(status))).toEqual([]);
        expect(mebibytes).toBeLessThan(120);
      },
      ATTACK_MS_MAX,
    );

    it.each<[string, number, number]>([
      ['stop before their last byte', 150, POST.length - 1],
      ['stop half-way', 150, POST.length / 2],
      ['hardly begin', 1_000, 1_000],
    ])(
      '%s: posts that do take little memory, and real ones pass',
      async (_, count, bytes) => {
        let posts: RawConnection[] = [];
        const mebibytes = await growthWhile(async () => {
          posts = await Promise.all(Array.from({ length: count }, () => begin(bytes)));
        });
        for (const post of posts) post.destroy();
        expect(mebibytes).toBeLessThan(120);
      },
      ATTACK_MS_MAX,
    );

    it('is refused unread without a signature', async () => {
      const { json } = await (await begin(1, {})).answer('POST');
      expect(json).toMatchObject({ status: 401, code: 'invalid_signature' });
    });
  });

  it.each([
    ['Brazil', '+5511987654323', '+551187654323'],
    ['Mexico', '+525512345678', '+5215512345678'],
    ['Argentina', '+5491123456789', '+541123456789'],
  ])(
    'guesses at as many codes as could be requested beforehand are judged a hundred times, in whichever form of the number: %s',
    async (_, one, other) => {
      const { key } = await buildUnlimited();
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, n) => send(key, { to: n % 2 ? one : other })),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 429]));
      let judged = 0;
      for (const { body } of answers.filter(({ status }) => status === 202))
        for (let left = 4; left >= 0; left--) {
          const answer = await stack.verify(key, body.id!, '9999999999');
          if ((answer as { attempts_left: number }).attempts_left === left) judged += 1;
        }
      expect(judged).toBe(100);
    },
  );

  it('while a transaction holds the row of one account, creations of others take no longer, and its own are answered when it ends', async () => {
    /** Longer than a request should wait for another account's lock, and shorter than the test holds the lock. */
    const slowestMsMax = 4_000;
    const [held, ...others] = await Promise.all(Array.from({ length: 6 }, buildUnlimited));
    const client = await stack.db.connect();
    let recipients = 0;
    const create = ({ key }: TestCaller) => send(key, { to: `+55119${80_000_000 + ++recipients}` });
    await client.query('begin');
    await client.query('select from accounts where id = $1 for update', [held!.accountId]);
    let slowestMs = 0;
    const own = [create(held!)];
    for (let n = 0; n < 40; n++) {
      // Each group of the others has one creation of the held account.
      if (n % 10 === 0) own.push(create(held!));
      const begun = performance.now();
      const answers = await Promise.all(others.map(create));
      slowestMs = Math.max(slowestMs, performance.now() - begun);
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 202));
    }
    await client.query('rollback');
    await client.end();
    expect(slowestMs).toBeLessThan(slowestMsMax);
    for (const { status } of await Promise.all(own)) expect([202, 500]).toContain(status);
    expect((await create(held!)).status).toBe(202);
  });

  describe('while keys are revoked and accounts suspended', () => {
    /** The time after its commit by which every request obeys a revocation. */
    const HOLDS_MS = 1_000;
    afterEach(() => proxy.open());

    const build = (): Promise<TestCaller> => buildCaller(stack.db.database, 'test');
    const revoke = ({ keyId }: TestCaller): Promise<unknown> =>
      stack.db.sql('update api_keys set revoked_at = now() where id = $1', [keyId]);

    /** Begins a request and sends all of its body but the last byte. @returns what sends that, and reads the answer */
    async function beginAll(
      path: string,
      { key }: TestCaller,
      body: string,
    ): Promise<() => Promise<RawAnswer>> {
      const connection = await RawConnection.open(Number(new URL(stack.apis[0]!).port));
      const headers = { Host: 'x', Authorization: `Bearer ${key}`, 'Content-Length': String(body.length) };
      connection.write(requestBytes('POST', path, Object.entries(headers)), body.slice(0, -1));
      return async () => {
        const answer = await connection.write(body.slice(-1)).answer('POST');
        connection.destroy();
        return answer;
      };
    }

    it('a request whose body ends after its key was revoked creates nothing', async () => {
      const caller = await build();
      const finish = await beginAll('/v1/send', caller, JSON.stringify({ to: PHONE }));
      await until(
        'the use of the key',
        async () => (await stack.request('GET', '/v1/send/x/status', { key: caller.key })).status === 404,
      );
      await revoke(caller);
      await passed(HOLDS_MS);
      expect((await finish()).status).toBe(401);
      const sends = await stack.db.sql('select from sends where application_id = $1', [caller.applicationId]);
      expect(sends).toEqual([]);
    });

    it('one whose account was suspended verifies nothing, and is told so', async () => {
      const caller = await build();
      const { id } = await stack.create(caller.key, { to: PHONE });
      const finish = await beginAll(`/v1/send/${id}/verify`, caller, JSON.stringify({ code: '000000' }));
      await stack.status(caller.key, id);
      await suspendAccount(stack.db.database, TEST_ACTOR, caller.accountId, 'unpaid');
      await passed(HOLDS_MS);
      expect((await finish()).json).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
        detail: expect.stringContaining('suspended'),
      });
      const [row] = await stack.db.sql('select verification from sends where id = $1', [id]);
      expect(row).toEqual({ verification: 'pending' });
    });

    it(
      'a revoked key is refused for every request a second later, however late the database answers',
      async () => {
        const caller = await build();
        const { id } = await stack.create(caller.key, { to: PHONE });
        await Promise.all(Array.from({ length: 10 }, () => stack.status(caller.key, id)));
        proxy.slow(1_500);
        const asked: { at: number; status: Promise<number> }[] = [];
        const ask = setInterval(() => {
          const answer = stack.request('GET', `/v1/send/${id}/status`, { key: caller.key });
          asked.push({ at: performance.now(), status: answer.then(({ status }) => status) });
        }, 100);
        await passed(2_000);
        await revoke(caller);
        const revokedAt = performance.now();
        await passed(6_000);
        clearInterval(ask);
        const late = asked.filter(({ at }) => at > revokedAt + HOLDS_MS);
        const statuses = await Promise.all(late.map(({ status }) => status));
        expect(statuses.length).toBeGreaterThan(30);
        expect(statuses).not.toContain(200);
      },
      ATTACK_MS_MAX,
    );

    it('a revoked key is refused even after a fail-over that lost the last commit', async () => {
      const [lost, caller] = [await build(), await build()];
      const [before] = await stack.db.sql('select to_jsonb(v) as row from callers_version v');
      await revoke(lost);
      const { id } = await stack.create(caller.key, { to: PHONE });
      await passed(HOLDS_MS);
      await stack.status(caller.key, id);
      // The state of the standby, and then its first change.
      await stack.db.sql('delete from callers_version');
      await stack.db.sql(
        'insert into callers_version select * from jsonb_populate_record(null::callers_version, $1)',
        [before!['row']],
      );
      await revoke(caller);
      await passed(HOLDS_MS);
      const { status } = await stack.request('GET', `/v1/send/${id}/status`, { key: caller.key });
      expect(status).toBe(401);
    });
  });

  describe('while connections to the database do not answer', () => {
    /** With reserve for a busy machine. Whoever waits for the silent connection itself waits for more than five seconds. */
    const HEDGED_MS_MAX = 3_500;
    let key: string;
    let path: string;
    beforeAll(async () => {
      ({ key } = await buildCaller(stack.db.database, 'test'));
      const { id } = await stack.create(key, { to: PHONE });
      path = `/v1/send/${id}/status`;
    });
    afterEach(() => proxy.open());

    interface Timed {
      status: number;
      ms: number;
    }
    async function look(at: string): Promise<Timed> {
      const begun = performance.now();
      const { status } = await stack.request('GET', at, { key });
      return { status, ms: performance.now() - begun };
    }
    /** Looks at this interval for a time, without waiting for earlier answers. */
    async function lookOften(everyMs: number, forMs: number, at = path): Promise<Timed[]> {
      const asked: Promise<Timed>[] = [];
      const timer = setInterval(() => asked.push(look(at)), everyMs);
      await passed(forMs);
      clearInterval(timer);
      return Promise.all(asked);
    }
    const failed = (answers: readonly Timed[], msMax = Infinity): Timed[] =>
      answers.filter(({ status, ms }) => status !== 200 || ms > msMax);

    it.each<[string, 'latest' | 'all', () => string]>([
      ['one falls silent, look-ups with a key', 'latest', () => path],
      ['one falls silent, look-ups without a key', 'latest', () => '/v1/signup-settings'],
      ['all fall silent at once, look-ups', 'all', () => path],
    ])('of which %s hardly wait', async (_, which, at) => {
      await Promise.all(Array.from({ length: 40 }, () => look(at())));
      proxy.abandon(which);
      expect(failed(await lookOften(25, 1_000, at()), HEDGED_MS_MAX)).toEqual([]);
    });

    it('look-ups are answered from a database that takes half a second for each query', async () => {
      await look(path);
      proxy.slow(250);
      const answers = await lookOften(200, 2_500);
      expect(failed(answers)).toEqual([]);
      expect(answers.length).toBeGreaterThan(8);
    });
  });

  describe('sign-ups', () => {
    const signUp = (address: string, email: string, password = 'correct horse battery'): Promise<Response> =>
      fetch(`${consoleUrl}/api/auth/sign-up/email`, {
        method: 'POST',
        headers: { origin: consoleUrl, 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ name: 'Somebody', email, password, language: 'en' }),
      });
    const codeOf = async (answer: Response): Promise<string> =>
      answer.status === 204 ? 'made' : ((await answer.json()) as { code: string }).code;
    const users = (email: string) => stack.db.sql('select from users where email like $1', [email]);

    it(
      '400 that fail, at once from one network, are limited, and everybody else is served meanwhile',
      async () => {
        let underWay = true;
        const attack = Promise.all(
          Array.from({ length: 400 }, (_, n) =>
            // A guessable password with many matches, which is slow to judge.
            signUp(`203.0.113.${n % 250}`, `a${n}@example.com`, 'p4ssw0rdp4ssw0rdp4ssw0rd'),
          ),
        ).finally(() => {
          underWay = false;
        });
        while (underWay) expect((await fetch(`${consoleUrl}/api/sign-up-offer`)).status).toBe(200);
        const answers = tally(await Promise.all((await attack).map(codeOf)));
        // While their passwords are judged, they use up the network's sign-ups of the day.
        const { invalid_input: judged = 0, too_many_sign_ups: full = 0, made = 0 } = answers;
        expect({ judged: judged + full, made }).toEqual({ judged: 30, made: 0 });
        expect(await users('%@example.com')).toEqual([]);
        // A person from another network signs up.
        expect(await codeOf(await signUp('198.51.100.7', 'ana@example.com'))).toBe('made');
      },
      ATTACK_MS_MAX,
    );

    /** Signs a person up, and creates an account and a live key. */
    async function signUpForKey(address: string): Promise<{ accountId: string; key: string }> {
      const headers: Record<string, string> = { origin: consoleUrl, 'content-type': 'application/json' };
      const ask = async (method: string, path: string, body?: object) => {
        const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
        const answer = await fetch(`${consoleUrl}/api${path}`, init);
        if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
        return (await answer.json()) as { id: string; key: string; csrfToken: string };
      };
      const word = (): string => randomBytes(6).toString('hex');
      const signedUp = await signUp(address, `${word()}@${word()}.example`);
      headers['cookie'] = signedUp.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      headers['x-csrf-token'] = (await ask('GET', '/session')).csrfToken;
      const account = await ask('POST', '/accounts', { name: 'Shop', language: 'en' });
      const applications = `/accounts/${account.id}/applications`;
      const application = await ask('POST', applications, { name: 'Shop', mode: 'live' });
      const { key } = await ask('POST', `${applications}/${application.id}/keys`, {});
      return { accountId: account.id, key };
    }

    it('again and again for free sends reach no satellite number, no premium number and no country beyond the listed ones, and share a ceiling until they have credits', async () => {
      const [ACCOUNTS, FREE_SENDS, CEILING] = [5, 10, 12];
      const people: { accountId: string; key: string }[] = [];
      for (let n = 0; n < ACCOUNTS; n++) people.push(await signUpForKey(`198.18.0.${n + 1}`));
      const all = (to: (n: number) => string) =>
        Promise.all(
          people.flatMap(({ key }, person) =>
            Array.from({ length: FREE_SENDS }, (_, n) => send(key, { to: to(person * FREE_SENDS + n) })),
          ),
        );
      const statusesOf = async (to: (n: number) => string) =>
        tally((await all(to)).map(({ status }) => status));
      const refused = { '422': ACCOUNTS * FREE_SENDS };
      expect(await statusesOf((n) => `+8816310${10_000 + n}`)).toEqual(refused);
      expect(await statusesOf((n) => `+55900${1_000_000 + n}`)).toEqual(refused);
      expect(await statusesOf((n) => `+4915112345${100 + n}`)).toEqual(refused);

      const { database } = stack.db;
      await changeSetting(database, TEST_ACTOR, 'trialSendsPerDay', CEILING);
      const ordinary = await all((n) => `+55119${80_000_000 + n}`);
      expect(tally(ordinary.map(({ status }) => status))).toEqual({
        '202': CEILING,
        '429': ACCOUNTS * FREE_SENDS - CEILING,
      });
      const limited = ordinary.find(({ status }) => status === 429)!;
      expect(limited.body.detail).toMatch(/share a daily number of live sends/);
      expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);

      const { accountId, key } = people[0]!;
      await grantCredits(database, TEST_ACTOR, accountId, 5, 'paid');
      const paid = await Promise.all(['+881631019999', '+4915112345999'].map((to) => send(key, { to })));
      expect(paid.map(({ status }) => status)).toEqual([422, 422]);
      // Credits end the trial; what protects a new account stays until its people open it.
      await allowCountries(database, TEST_ACTOR, accountId, null);
      await allowCostly(database, TEST_ACTOR, accountId, true);
      const opened = await Promise.all(['+881631019999', '+4915112345999'].map((to) => send(key, { to })));
      expect(opened.map(({ status }) => status)).toEqual([202, 202]);
    });
  });
});
