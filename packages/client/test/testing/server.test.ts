import { request as httpRequest } from 'node:http';
import { Onecode, ProblemError } from '@onecode/client';
import { startOnecode, type RecordedSend } from '@onecode/client/testing';
import { validatorAt } from '@onecode/testing/contract';

const TO = '+5511987654321';

it('several servers run side by side and share nothing', async () => {
  const [one, two, three] = await Promise.all([startOnecode(), startOnecode(), startOnecode()]);
  const servers = [one, two, three];
  expect(new Set(servers.map(({ baseUrl }) => baseUrl)).size).toBe(3);
  await new Onecode({ baseUrl: one.baseUrl, apiKey: one.keys.live }).send({ to: TO });
  expect([one.sends.length, two.sends.length]).toEqual([1, 0]);
  const astray = new Onecode({ baseUrl: two.baseUrl, apiKey: one.keys.live });
  await expect(astray.send({ to: TO })).rejects.toMatchObject({ code: 'invalid_api_key' });
  two.advance(60);
  expect(two.now().getTime() - one.now().getTime()).toBeGreaterThan(59_000);
  await Promise.all(servers.map((server) => server.close()));
});

it('a closed server has let go of its port and of connections that were kept alive or under way', async () => {
  const server = await startOnecode();
  const { port } = new URL(server.baseUrl);
  const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.test });
  await onecode.signupSettings();
  const unfinished = httpRequest(`${server.baseUrl}/v1/send`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.keys.test}`, 'Content-Length': '10' },
  });
  const broken = new Promise((resolve) => unfinished.once('error', resolve));
  await new Promise<void>((resolve) => {
    unfinished.once('socket', (socket) => socket.once('connect', () => resolve()));
    unfinished.flushHeaders();
  });
  await server.close();
  await broken;
  const again = await startOnecode({ port: Number(port) });
  expect(again.baseUrl).toBe(server.baseUrl);
  await again.close();
  await again.close();
});

it('a port that is taken is an error, and leaves nothing open', async () => {
  const server = await startOnecode();
  await expect(startOnecode({ port: Number(new URL(server.baseUrl).port) })).rejects.toThrow('EADDRINUSE');
  await server.close();
});

describe('what a test sees', () => {
  it('are the sends with the contract’s fields, and number, code, locale and key besides', async () => {
    const server = await startOnecode();
    const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live });
    await onecode.send({ to: '+55 (11) 98765-4321', code: '004217', locale: 'en' }, { idempotencyKey: 'k' });
    await onecode.send({ to: '+5511900000001' });
    const [first, second] = server.sends;
    const { to, code, locale, idempotencyKey, ...send } = first as RecordedSend;
    expect({ to, code, locale, idempotencyKey }).toEqual({
      to: TO,
      code: '004217',
      locale: 'en',
      idempotencyKey: 'k',
    });
    expect(validatorAt('/components/schemas/Send')(send)).toBe(true);
    expect(send).toEqual(await onecode.status(send.id));
    expect(second).toMatchObject({ to: '+5511900000001', locale: null });
    expect(server.lastCode('+55 11 98765 4321')).toBe('004217');
    expect(server.lastCode('+5511900000001')).toBe(second?.code);
    await onecode.send({ to: TO, code: '7777' });
    expect(server.lastCode(TO)).toBe('7777');
    await server.close();
  });

  it('is an error where no code was sent, and for a clock that would go back', async () => {
    const server = await startOnecode();
    expect(() => server.lastCode(TO)).toThrow('Nothing was sent');
    for (const seconds of [-1, Number.NaN]) expect(() => server.advance(seconds)).toThrow(RangeError);
    expect(() => server.revokeKey('ak_test_unknown')).toThrow('no such key');
    await server.close();
  });
});

it('the options say lifetime of codes, units, limits and sign-up settings', async () => {
  const server = await startOnecode({
    codeValiditySeconds: 90,
    freeSends: 3,
    credits: 0,
    perRecipientHour: 1,
    delivery: [{ status: 'sent' }, { status: 'delivered', afterMs: 1_000 }],
  });
  const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live });
  expect(await onecode.signupSettings()).toEqual({ free_sends: 3 });
  const send = await onecode.send({ to: TO });
  expect(Date.parse(send.expires_at) - Date.parse(send.created_at)).toBe(90_000);
  expect(server.account).toMatchObject({ freeQuota: 2, credits: 0 });
  expect((await onecode.status(send.id)).status).toBe('sent');
  server.advance(1);
  expect((await onecode.status(send.id)).status).toBe('delivered');
  await expect(onecode.send({ to: TO })).rejects.toBeInstanceOf(ProblemError);
  await server.close();
});

it('a key of another account knows nothing of a send, and one that was revoked nothing at all', async () => {
  const server = await startOnecode();
  const key = server.addKey(server.applications.live);
  const stranger = server.addKey(server.addApplication('live'));
  const as = (apiKey: string): Onecode => new Onecode({ baseUrl: server.baseUrl, apiKey });
  const { id } = await as(key).send({ to: TO });
  expect((await as(server.keys.test).status(id)).id).toBe(id);
  await expect(as(stranger).status(id)).rejects.toMatchObject({ code: 'send_not_found' });
  server.revokeKey(key);
  await expect(as(key).status(id)).rejects.toMatchObject({ code: 'invalid_api_key' });
  await server.close();
});
