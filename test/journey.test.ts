import { ProcessStack, STACK_START_MS_MAX } from '@onecode/testing';

const NEVER_MS = 86_400_000;
const ANY_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

describe('from the first command to a verified code', () => {
  let stack: ProcessStack;
  let accountId: string;
  let senderId: string;
  let liveKey: string;
  let testKey: string;
  beforeAll(async () => {
    stack = await ProcessStack.start();
    const account = await stack.onecode('account create --name Journey --free-quota 10');
    accountId = String(account['id']);
    [liveKey, testKey] = await Promise.all([
      stack.makeKey(accountId, 'live'),
      stack.makeKey(accountId, 'test'),
    ]);
    senderId = await stack.addSender();
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  /** The account as the operator sees it. */
  const freeQuota = async (): Promise<unknown> =>
    (await stack.onecode(`account show ${accountId}`))['free_quota'];
  /** The same from the database, without the start of a command. */
  const storedQuota = async (): Promise<number> => {
    const [account] = await stack.db.sql<{ free_quota: number }>(
      'select free_quota from accounts where id = $1',
      [accountId],
    );
    return account!.free_quota;
  };

  it.each([
    ['pt-BR', 'pt_BR'],
    ['en', 'en'],
  ])(
    'a live send in %s arrives on the phone, is followed to read, and its code verifies once',
    async (locale, language) => {
      await stack.simulator.changeSettings({ sentMs: NEVER_MS, deliveredMs: NEVER_MS });
      const to = locale === 'en' ? '+12025550123' : '+5511987654321';
      const created = await stack.create(liveKey, { to, locale });
      expect(created).toMatchObject({ status: 'queued', verification: 'pending', mode: 'live', from: null });
      const { id } = created;

      const sent = await stack.untilStatus(liveKey, id, 'sent');
      expect(sent).toMatchObject({
        channel: 'whatsapp',
        from: '+15550783881',
        sent_at: ANY_TIME,
        delivered_at: null,
        read_at: null,
      });
      const message = await stack.simulator.message(to);
      expect(message).toMatchObject({ language, sender: '106540352242921' });
      expect(message.code).toMatch(/^\d{6}$/);
      expect(message.text).toContain(`*${message.code}*`);

      await stack.simulator.postReceipt({ messageId: message.id, status: 'delivered' });
      const delivered = await stack.untilStatus(liveKey, id, 'delivered');
      expect(delivered).toMatchObject({ delivered_at: ANY_TIME, read_at: null });
      await stack.simulator.markRead(message.id);
      const read = await stack.untilStatus(liveKey, id, 'read');
      expect(read).toMatchObject({ read_at: ANY_TIME, verification: 'pending', failed_at: null });
      const times = [read.created_at, read.sent_at, read.delivered_at, read.read_at];
      expect(times).toEqual(times.toSorted((a, b) => Date.parse(String(a)) - Date.parse(String(b))));

      const wrong = message.code === '111111' ? '222222' : '111111';
      expect(await stack.verify(liveKey, id, wrong)).toEqual({
        valid: false,
        verification: 'pending',
        attempts_left: 4,
      });
      expect(await stack.verify(liveKey, id, message.code)).toEqual({
        valid: true,
        verification: 'verified',
        attempts_left: 0,
      });
      expect(await stack.verify(liveKey, id, message.code)).toEqual({
        valid: false,
        verification: 'verified',
        attempts_left: 0,
      });
      expect(await stack.status(liveKey, id)).toMatchObject({ verification: 'verified', status: 'read' });
    },
  );

  it('a test send is read at once, costs nothing, reaches no phone, and is verified with 000000', async () => {
    const before = await storedQuota();
    const { id } = await stack.create(testKey, { to: '+5511987650001' });
    expect(await stack.untilStatus(testKey, id, 'read')).toMatchObject({
      mode: 'test',
      channel: 'sandbox',
      from: null,
      sent_at: ANY_TIME,
      delivered_at: ANY_TIME,
      read_at: ANY_TIME,
    });
    expect(await stack.verify(testKey, id, '000000')).toMatchObject({ valid: true });
    expect(await stack.simulator.messages('+5511987650001')).toEqual([]);
    expect(await freeQuota()).toBe(before);
  });

  it('a send that the provider refuses fails, and its unit is refunded', async () => {
    const to = '+5511987650002';
    await stack.simulator.addRule({ recipient: to, fault: { error: 131026 } });
    const before = await storedQuota();
    const { id } = await stack.create(liveKey, { to });
    expect(await stack.untilStatus(liveKey, id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      failed_at: ANY_TIME,
      sent_at: null,
    });
    expect(await freeQuota()).toBe(before);
    expect(await stack.simulator.messages(to)).toEqual([]);
  });

  it('the unit of a send that fails late is refunded too', async () => {
    const to = '+5511987650003';
    await stack.simulator.changeSettings({ sentMs: 0 });
    await stack.simulator.addRule({
      recipient: to,
      fault: { lateFailure: 131026, receiptsBeforeAnswer: true },
    });
    const before = await storedQuota();
    const { id } = await stack.create(liveKey, { to });
    expect(await stack.untilStatus(liveKey, id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
    });
    expect(await freeQuota()).toBe(before);
  });

  it('a send without an available sender waits, and goes out once an operator resumes one', async () => {
    await stack.simulator.changeSettings({ sentMs: 0, deliveredMs: 0 });
    const to = '+5511987650004';
    await stack.onecode(`sender pause ${senderId}`);
    const before = await storedQuota();
    const { id } = await stack.create(liveKey, { to });
    await stack.untilWaiting(id);
    expect(await stack.status(liveKey, id)).toMatchObject({ status: 'queued', channel: null, from: null });
    expect(await storedQuota()).toBe(before - 1);
    await stack.onecode(`sender resume ${senderId}`);
    const view = await stack.untilStatus(liveKey, id, 'delivered');
    expect(view.from).toBe('+15550783881');
    expect(await stack.simulator.messages(to)).toHaveLength(1);
    expect(await freeQuota()).toBe(before - 1);
  });
});
