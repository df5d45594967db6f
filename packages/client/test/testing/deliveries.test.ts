import { Onecode } from '@onecode/client';
import { startOnecode, type Delivery, type OnecodeServer, type Outcome } from '@onecode/client/testing';

let server: OnecodeServer;
let onecode: Onecode;
beforeEach(async () => {
  server = await startOnecode({ freeQuota: 1, credits: 1 });
  onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live });
});
afterEach(() => server.close());

const TO = '+5511987654321';
const sendTo = async (to = TO): Promise<string> => (await onecode.send({ to })).id;
const statusAfter = async (id: string, seconds: number): Promise<string> => {
  server.advance(seconds);
  return (await onecode.status(id)).status;
};

describe('a delivery', () => {
  it('without a script is delivered by the first look at it', async () => {
    const created = await onecode.send({ to: TO });
    expect(created.status).toBe('queued');
    const send = await onecode.status(created.id);
    expect(send).toMatchObject({ status: 'delivered', channel: 'whatsapp', read_at: null });
    expect(send.delivered_at).toBe(created.created_at);
  });

  it('of a test send ends in the sandbox, whatever was scripted', async () => {
    server.script(TO, { status: 'failed', reason: 'rejected_by_provider' });
    const sandbox = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.test });
    const { id } = await sandbox.send({ to: TO });
    expect(await sandbox.status(id)).toMatchObject({ status: 'read', channel: 'sandbox', from: null });
  });

  it('comes when it was scripted, by the clock that can be moved', async () => {
    server.script(
      TO,
      { status: 'sending' },
      { status: 'sent', afterMs: 10_000 },
      { status: 'delivered', afterMs: 20_000 },
      { status: 'read', afterMs: 60_000 },
    );
    const id = await sendTo();
    const seen = [await statusAfter(id, 0)];
    for (const seconds of [11, 10, 30, 20]) seen.push(await statusAfter(id, seconds));
    expect(seen).toEqual(['sending', 'sent', 'delivered', 'delivered', 'read']);
    const { created_at, sent_at, read_at } = await onecode.status(id);
    expect(Date.parse(sent_at ?? '') - Date.parse(created_at)).toBe(10_000);
    expect(Date.parse(read_at ?? '') - Date.parse(created_at)).toBe(60_000);
  });

  it.each(['expired_before_delivery', 'attempts_exhausted', 'rejected_by_provider'] as const)(
    'fails with %s, and the unit goes back once to where it came from',
    async (reason) => {
      const { account } = server;
      await sendTo('+5511900000001');
      server.script(TO, { status: 'failed', reason, afterMs: 5_000 });
      const id = await sendTo();
      expect(account).toMatchObject({ freeQuota: 0, credits: 0 });
      expect(await statusAfter(id, 4)).toBe('queued');
      expect(account.credits).toBe(0);
      expect(await statusAfter(id, 2)).toBe('failed');
      expect(await onecode.status(id)).toMatchObject({ failure_reason: reason, delivered_at: null });
      server.advance(3_600);
      expect(account).toMatchObject({ freeQuota: 0, credits: 1 });
    },
  );

  it.each<[string, Delivery]>([
    ['stays queued', { status: 'queued' }],
    ['hangs while it is sent', { status: 'sending' }],
    ['is scripted to expire', { status: 'failed', reason: 'expired_before_delivery' }],
  ])('that %s fails at the deadline with expired_before_delivery', async (_name, outcome) => {
    server.script(TO, outcome);
    const id = await sendTo();
    const before = await statusAfter(id, 599);
    expect(before).toBe(outcome.status === 'sending' ? 'sending' : 'queued');
    expect(await statusAfter(id, 1)).toBe('failed');
    const send = await onecode.status(id);
    expect(send).toMatchObject({ failure_reason: 'expired_before_delivery', failed_at: send.expires_at });
    expect(server.account.freeQuota).toBe(1);
  });

  it('never moves back, and does not fail once it was confirmed', async () => {
    const id = await sendTo();
    for (const outcome of [{ status: 'sent' }, { status: 'failed', reason: 'attempts_exhausted' }] as const) {
      server.script(TO, outcome);
      expect(await statusAfter(id, 0)).toBe('delivered');
    }
    server.script(TO, { status: 'read' });
    expect(await statusAfter(id, 0)).toBe('read');
  });

  it('under way follows a new script, counted from then on, and other numbers do not', async () => {
    server.script(TO, { status: 'queued' });
    const [id, other] = [await sendTo(), await sendTo('+5511900000001')];
    expect(await statusAfter(id, 100)).toBe('queued');
    server.script('+55 (11) 98765-4321', { status: 'delivered', afterMs: 2_000 });
    expect(await statusAfter(id, 1)).toBe('queued');
    expect(await statusAfter(id, 1)).toBe('delivered');
    expect(await statusAfter(other, 0)).toBe('delivered');
  });

  it('is shown to a client that waits for it, and fails before its eyes', async () => {
    server.script(
      TO,
      { status: 'sent' },
      { status: 'failed', reason: 'attempts_exhausted', afterMs: 30_000 },
    );
    const id = await sendTo();
    const seen: string[] = [];
    const send = await onecode.waitFor(id, {
      until: 'delivered',
      onUpdate: ({ status }) => {
        seen.push(status);
        server.advance(31);
      },
    });
    expect(send).toMatchObject({ status: 'failed', failure_reason: 'attempts_exhausted' });
    expect(seen).toEqual(['sent', 'failed']);
  });
});

describe('a code', () => {
  it.each(['expired', 'locked', 'verified'] as const)(
    'that was scripted as %s is pending in the answer to its creation, and then refused',
    async (verification) => {
      server.script(TO, { verification });
      const created = await onecode.send({ to: TO, code: '004217' });
      expect(created.verification).toBe('pending');
      expect(await onecode.verify(created.id, '004217')).toEqual({
        valid: false,
        verification,
        attempts_left: 0,
      });
      expect((await onecode.status(created.id)).verification).toBe(verification);
    },
  );

  it('expires when the clock has moved to its deadline, and a client that waits returns', async () => {
    server.script(TO, { status: 'sent' });
    const id = await sendTo();
    server.advance(599);
    expect(await onecode.verify(id, 'wrong')).toMatchObject({ verification: 'pending', attempts_left: 4 });
    server.advance(1);
    expect(await onecode.verify(id, server.lastCode(TO))).toMatchObject({
      valid: false,
      verification: 'expired',
    });
    expect(await onecode.waitFor(id, { until: 'read' })).toMatchObject({ verification: 'expired' });
  });

  it('made after the clock was moved is as long for the client as for the server', async () => {
    server.advance(86_400);
    server.script(TO, { status: 'sent' });
    const id = await sendTo();
    const seen: string[] = [];
    const send = await onecode.waitFor(id, {
      until: 'delivered',
      onUpdate: ({ verification }) => {
        seen.push(verification);
        if (verification === 'pending') server.advance(600);
      },
    });
    expect(send.verification).toBe('expired');
    expect(seen).toEqual(['pending', 'expired']);
  });
});

it.each<[string, Outcome]>([
  ['x', { status: 'sent' }],
  ['5511987654321', { answer: 'lost' }],
])('no script is taken for %s, which is no number', (to, outcome) => {
  expect(() => server.script(to, outcome)).toThrow(RangeError);
});
