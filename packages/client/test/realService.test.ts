import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { ProcessStack, STACK_START_MS_MAX } from '@onecode/testing';
import {
  IndeterminateVerificationError,
  Onecode,
  ProblemError,
  type OnecodeOptions,
  type Send,
} from '../src/index.js';

/** What happens to a connection: it passes everything, or breaks it off before the request, after the answer, or within it. */
type Fate = 'passes' | 'breaks before' | 'breaks after' | 'breaks within';

interface BreakingProxy {
  url: string;
  /** The fates of the next connections; those after them pass. */
  script(...fates: Fate[]): void;
  /** How many connections had a fate that breaks. */
  broken(): number;
  close(): Promise<void>;
}

/** A network between client and service that breaks connections before or after the service's work. */
async function startBreakingProxy(target: string): Promise<BreakingProxy> {
  let fates: Fate[] = [];
  let broken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const fate = fates.shift() ?? 'passes';
    if (fate !== 'passes') broken += 1;
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    const end = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => (socket === client ? upstream.destroy() : client.end()));
    }
    client.on('data', (chunk) => (fate === 'breaks before' ? end() : upstream.write(chunk)));
    upstream.on('data', (chunk) => {
      if (fate === 'passes') return void client.write(chunk);
      // The service has done its work: this is its answer.
      if (fate === 'breaks after') return end();
      client.write(chunk.subarray(0, chunk.length - 20), end);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script(...next) {
      fates = next;
    },
    broken: () => broken,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

describe('with the service itself, a client', () => {
  let stack: ProcessStack;
  let proxy: BreakingProxy;
  let accountId: string;
  let keys: { test: string; live: string };
  beforeAll(async () => {
    stack = await ProcessStack.start();
    proxy = await startBreakingProxy(stack.apis[0]!);
    ({ id: accountId } = await stack.onecode<{ id: string }>(
      'account create --name A --free-quota 0 --credits 20',
    ));
    keys = { test: await stack.makeKey(accountId, 'test'), live: await stack.makeKey(accountId, 'live') };
    await stack.addSender();
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await proxy.close();
    await stack.stop();
  });

  /** A client with connections of its own: each test scripts the fates of new ones. */
  const client = (apiKey: string, options: Partial<OnecodeOptions> = {}): Onecode =>
    new Onecode({
      apiKey,
      baseUrl: proxy.url,
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, connection: 'close' } }),
      ...options,
    });
  const credits = async (): Promise<number> => {
    const [account] = await stack.db.sql<{ credits: number }>('select credits from accounts where id = $1', [
      accountId,
    ]);
    return account!.credits;
  };
  const sendsOf = async (to: string): Promise<number> =>
    (await stack.db.sql('select from sends where recipient = $1', [to])).length;

  it.each<[string, string, Fate[]]>([
    ['before the service’s work', '+5511981000001', ['breaks before']],
    ['after the service’s work', '+5511981000002', ['breaks after']],
    ['within the answer', '+5511981000003', ['breaks within']],
    ['in every way, one after another', '+5511981000004', ['breaks before', 'breaks after', 'breaks within']],
  ])('makes one send and uses one unit when answers are lost %s', async (_, to, fates) => {
    const before = [await credits(), proxy.broken()] as const;
    proxy.script(...fates);
    const send = await client(keys.live).send({ to });
    expect(send.mode).toBe('live');
    expect(proxy.broken()).toBe(before[1] + fates.length);
    expect(await sendsOf(to)).toBe(1);
    expect(await credits()).toBe(before[0] - 1);
  });

  it('goes on with the same send later, by the key in its error', async () => {
    const to = '+5511982000001';
    const onecode = client(keys.live, { maxRetries: 0 });
    const before = await credits();
    proxy.script('breaks after');
    const { idempotencyKey } = (await onecode.send({ to }).catch((error: unknown) => error)) as {
      idempotencyKey: string;
    };
    const send = await onecode.send({ to }, { idempotencyKey });
    expect(await sendsOf(to)).toBe(1);
    expect(await credits()).toBe(before - 1);
    const other = onecode.send({ to, locale: 'en' }, { idempotencyKey });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 409 });
    expect(send.status).not.toBe('failed');
  });

  it.each<Fate>(['breaks after', 'breaks within'])(
    'judges a code once when the connection %s',
    async (fate) => {
      const onecode = client(keys.test);
      const { id } = await onecode.send({ to: '+5511982000002', code: '004217' });
      proxy.script(fate);
      const lost = onecode.verify(id, '004217');
      await expect(lost).rejects.toThrow(IndeterminateVerificationError);
      await expect(onecode.status(id)).resolves.toMatchObject({ verification: 'verified' });
      // The right code, once more: this is why a client never does that by itself.
      await expect(onecode.verify(id, '004217')).resolves.toEqual({
        valid: false,
        verification: 'verified',
        attempts_left: 0,
      });
    },
  );

  it('uses up no guess when the request was lost, and leaves that open', async () => {
    const onecode = client(keys.test);
    const { id } = await onecode.send({ to: '+5511982000003' });
    proxy.script('breaks before');
    await expect(onecode.verify(id, '999999')).rejects.toThrow(IndeterminateVerificationError);
    await expect(onecode.verify(id, '999999')).resolves.toEqual({
      valid: false,
      verification: 'pending',
      attempts_left: 4,
    });
    await expect(onecode.verify(id, '000000')).resolves.toEqual({
      valid: true,
      verification: 'verified',
      attempts_left: 0,
    });
  });

  it('follows a live send until it is delivered', async () => {
    const onecode = client(keys.live);
    const { id } = await onecode.send({ to: '+5511982000004' });
    const updates: Send[] = [];
    const send = await onecode.waitFor(id, {
      until: 'delivered',
      onUpdate: (update) => void updates.push(update),
    });
    expect(['delivered', 'read']).toContain(send.status);
    expect(updates.at(-1)).toEqual(send);
  });

  it('reads the offer of new sign-ups', async () => {
    const { free_sends } = await client(keys.test).signupSettings();
    expect(free_sends).toBeGreaterThanOrEqual(0);
  });

  it('is told what is wrong in the words of the contract', async () => {
    const failures = [
      client(keys.test).send({ to: 'someone@example.com' }),
      client(keys.test).send({ to: '+1' }),
      client(keys.test).status('nothing/there'),
      client('ak_test_unknown').verify('x', '1'),
    ];
    const errors = await Promise.all(failures.map((failure) => failure.catch((error: unknown) => error)));
    for (const error of errors) expect(error).toBeInstanceOf(ProblemError);
    expect(errors).toMatchObject([
      { code: 'channel_unavailable', status: 422, requestId: expect.any(String) },
      { code: 'invalid_recipient', errors: { to: expect.any(String) } },
      { code: 'send_not_found', status: 404 },
      { code: 'invalid_api_key', status: 401 },
    ]);
  });
});
