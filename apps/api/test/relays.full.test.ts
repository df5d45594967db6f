import { createHmac, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buildCaller, type TestCaller } from '@onecode/testing';
import { guideBlocks, makeGuideFolder } from './guideBlocks.js';
import { startApi, type TestApi } from './testApi.js';

/**
 * Tests the code of the guides "Supabase Auth" and "Zitadel" with the payloads, headers and signatures of these products' sources.
 */
let api: TestApi;
let caller: TestCaller;
let folder: string;
beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test');
  folder = makeGuideFolder();
  process.env['ONECODE_API_KEY'] = caller.key;
  process.env['ONECODE_URL'] = api.url;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

/** Runs a code block of a guide as a module. @returns its exports */
async function load<Exports>(page: string, file: string): Promise<Exports> {
  const [code = ''] = guideBlocks(`integrate/${page}`, 'ts');
  writeFileSync(join(folder, file), code);
  return (await import(join(folder, file))) as Exports;
}

/** Returns the ids of all sends, oldest first. */
const sendIds = async (): Promise<string[]> =>
  (await api.db.sql<{ id: string }>('select id from sends order by created_at')).map(({ id }) => id);

/** Returns the sends that are created while `handOver` runs. */
async function sendsOf(handOver: () => Promise<unknown>): Promise<string[]> {
  const before = new Set(await sendIds());
  await handOver();
  return (await sendIds()).filter((id) => !before.has(id));
}

const verify = async (id: string, code: string): Promise<unknown> =>
  (await api.verify(caller, id, code).expect(200)).body;
const VERIFIED = { valid: true, verification: 'verified', attempts_left: 0 };

const sha256 = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

describe('the hook of the guide for Supabase Auth', () => {
  const KEY = Buffer.from('a key of a hook, of thirty-two b');
  const OTHER_KEY = Buffer.from('another key');
  let sendSms: (request: Request) => Promise<Response>;
  beforeAll(async () => {
    process.env['SEND_SMS_HOOK_SECRET'] = `v1,whsec_${KEY.toString('base64')}`;
    ({ sendSms } = await load<{ sendSms: typeof sendSms }>('supabase', 'sendSms.ts'));
  });

  const bodyOf = (otp: string, number: { phone?: string; smsPhone?: string | null } = {}): string =>
    JSON.stringify({
      metadata: { uuid: randomUUID(), time: new Date().toISOString(), name: 'send-sms', ip_address: '::1' },
      user: {
        id: '6481a5c1-3d37-4a56-9f6a-bee08c554965',
        aud: 'authenticated',
        role: 'authenticated',
        email: '',
        // Supabase stores numbers without a plus.
        phone: number.phone ?? '447700900111',
        app_metadata: { provider: 'phone', providers: ['phone'] },
        user_metadata: {},
        identities: [],
        created_at: '2026-11-24T10:00:00.000000Z',
        updated_at: '2026-11-24T10:00:00.000000Z',
        is_anonymous: false,
      },
      sms: {
        otp,
        sms_type: 'otp',
        ...(number.smsPhone !== null && { phone: number.smsPhone ?? '447700900111' }),
      },
    });

  /** Returns a call as Supabase makes it. Each try has a new id. */
  function call(body: string, key = KEY): Request {
    const [id, seconds] = [randomUUID(), nowSeconds()];
    const signature = sha256(key, `${id}.${seconds}.${body}`).toString('base64');
    return new Request('http://hooks.test/send-sms', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
  }

  it('sends the code of a signed call to the user’s number', async () => {
    const [id = '', ...more] = await sendsOf(async () => {
      const response = await sendSms(call(bodyOf('048213')));
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toEqual({});
    });
    expect(more).toEqual([]);
    expect(await verify(id, '048213')).toEqual(VERIFIED);
  });

  it('creates one send for a call and its repeats', async () => {
    const body = bodyOf('048215');
    const sends = await sendsOf(async () => {
      for (let tries = 0; tries < 3; tries++) expect((await sendSms(call(body))).status).toBe(200);
    });
    expect(sends).toHaveLength(1);
    // An unrelated call with, by chance, the same code.
    expect(await sendsOf(() => sendSms(call(bodyOf('048215'))))).toHaveLength(1);
  });

  it('refuses a call that another key signed, and sends nothing', async () => {
    const sends = await sendsOf(async () => {
      expect((await sendSms(call(bodyOf('048216'), OTHER_KEY))).status).toBe(401);
    });
    expect(sends).toEqual([]);
  });

  it('sends to the new number when a user changes it', async () => {
    const invalid = await sendSms(call(bodyOf('048217', { smsPhone: '44770' })));
    expect(await invalid.json()).toEqual({
      error: { http_code: 422, message: 'This number cannot receive codes.' },
    });
    expect(
      await sendsOf(() => sendSms(call(bodyOf('048217', { phone: '44770', smsPhone: '447700900112' })))),
    ).toHaveLength(1);
  });

  it.each([
    ['without a number', bodyOf('561168', { smsPhone: null }), 500, /2\.180/],
    ['with letters in the code', bodyOf('5A1168'), 422, /^The code must have 4 to 10 digits\.$/],
  ])('refuses a call %s, and sends nothing', async (_, body, http_code, message) => {
    const sends = await sendsOf(async () => {
      expect(await (await sendSms(call(body))).json()).toEqual({
        error: { http_code, message: expect.stringMatching(message) as string },
      });
    });
    expect(sends).toEqual([]);
  });
});

describe('the relay of the guide for Zitadel', () => {
  const KEY = 'a signing key';
  let relay: Server;
  beforeAll(async () => {
    process.env['ZITADEL_SIGNING_KEY'] = KEY;
    delete process.env['PORT'];
    ({ relay } = await load<{ relay: Server }>('zitadel', 'relay.ts'));
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => relay.close(resolve)));

  const bodyOf = (args: object, eventType = 'user.human.otp.sms.code.added'): string =>
    JSON.stringify({
      contextInfo: {
        eventType,
        provider: { id: '285181292935381355', description: 'Onecode' },
        recipientPhoneNumber: '+447700900121',
      },
      templateData: { title: '', text: 'is your one-time password.', url: '' },
      args: { displayName: 'Ana', preferredLoginName: 'ana', verifiedPhone: '+447700900121', ...args },
    });

  interface Signing {
    keys?: string[];
    seconds?: number;
    signed?: string;
  }

  const post = (body: string, { keys = [KEY], seconds = nowSeconds(), signed = body }: Signing = {}) => {
    const signatures = keys.map((key) => `v1=${sha256(key, `${seconds}.${signed}`).toString('hex')}`);
    return fetch(`http://127.0.0.1:${(relay.address() as AddressInfo).port}/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'zitadel-signature': [`t=${seconds}`, ...signatures].join(','),
      },
      body,
    });
  };

  it.each([
    ['a login', bodyOf({ oTP: '40718253', code: '' }), '40718253'],
    ['a number’s verification', bodyOf({ code: '071825' }, 'user.human.phone.code.added'), '071825'],
  ])('sends the code of %s', async (_, body, code) => {
    const [id = '', ...more] = await sendsOf(async () => expect((await post(body)).status).toBe(204));
    expect(more).toEqual([]);
    expect(await verify(id, code)).toEqual(VERIFIED);
  });

  it('creates one send for a message and its repeats', async () => {
    const body = bodyOf({ oTP: '40718254' });
    const sends = await sendsOf(async () => {
      for (let tries = 0; tries < 3; tries++) expect((await post(body)).status).toBe(204);
    });
    expect(sends).toHaveLength(1);
  });

  it('sends nothing for a message without a code', async () => {
    const body = bodyOf({}, 'user.human.password.changed');
    expect(await sendsOf(async () => expect((await post(body)).status).toBe(204))).toEqual([]);
  });

  it.each<[string, Signing]>([
    ['another key', { keys: ['another key'] }],
    ['no signature', { keys: [] }],
    ['the signature of another body', { signed: bodyOf({ oTP: '1' }) }],
    ['an old timestamp', { seconds: nowSeconds() - 301 }],
  ])('refuses a message with %s, and sends nothing', async (_, signing) => {
    const body = bodyOf({ oTP: '40718255' });
    expect(await sendsOf(async () => expect((await post(body, signing)).status).toBe(401))).toEqual([]);
  });

  it('accepts a message that is also signed with a retired key', async () => {
    const body = bodyOf({ oTP: '40718256' });
    expect(await sendsOf(() => post(body, { keys: ['a retired key', KEY] }))).toHaveLength(1);
  });

  it('answers a refused message with 502, so that Zitadel retries it', async () => {
    const body = bodyOf({ oTP: 'letters' });
    expect(await sendsOf(async () => expect((await post(body)).status).toBe(502))).toEqual([]);
  });
});
