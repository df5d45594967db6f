import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOnecode, type OnecodeServer } from '@onecode/client/testing';
import { guideBlocks, makeGuideFolder } from './guideBlocks.js';

/** Tests the code of the guides "App-store review" and "Amazon Cognito" against the test double. */
let server: OnecodeServer;
let folder: string;
beforeAll(async () => {
  server = await startOnecode();
  folder = makeGuideFolder();
  process.env['ONECODE_URL'] = server.baseUrl;
  process.env['ONECODE_API_KEY'] = server.keys.live;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

/** Writes the first code block of a guide to a file. @returns the file */
function write(page: string, name: string): string {
  const file = join(folder, name);
  writeFileSync(file, guideBlocks(page, 'ts')[0] ?? '');
  return file;
}

describe('the guide for app-store review', () => {
  const HOUR_MS = 3_600_000;
  const DAY_MS = 24 * HOUR_MS;
  const [PHONE, CODE, OTHER_PHONE] = ['+12025550147', '048213', '+447700900123'];
  const realNow = Date.now;
  /** How far the clock of the backend is ahead. It only moves forward, because wrong codes of earlier tests must expire. */
  let aheadMs = 0;

  interface Session {
    isReview?: boolean;
    pending?: object;
    signedInAs?: string;
  }
  interface Review {
    startSignInOrReview: (session: Session, typed: string) => Promise<void>;
    finishSignInOrReview: (session: Session, typed: string) => Promise<{ kind: string }>;
    progressOrReview: (session: Session) => Promise<{ kind: string }>;
  }
  let review: Review;
  let session: Session;
  beforeAll(async () => {
    write('sign-in', 'signIn.ts');
    review = (await import(write('app-review', 'review.ts'))) as Review;
    Date.now = () => realNow() + aheadMs;
  });
  afterAll(() => {
    Date.now = realNow;
  });
  beforeEach(() => {
    aheadMs += 2 * HOUR_MS;
    session = {};
    setReview();
  });

  function setReview({ phone = PHONE, code = CODE, until = inMs(DAY_MS) } = {}): void {
    process.env['REVIEW_PHONE'] = phone;
    process.env['REVIEW_CODE'] = code;
    process.env['REVIEW_UNTIL'] = until;
  }
  const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
  const start = (phone = PHONE) => review.startSignInOrReview(session, phone);
  const finish = async (code = CODE) => (await review.finishSignInOrReview(session, code)).kind;
  const sendCount = () => server.sends.length;

  it.each([PHONE, '+1 (202) 555-0147', '+1 202-555-0147'])(
    'opens the demo account for the review number %s and its code, and sends nothing',
    async (typed) => {
      const before = sendCount();
      await start(typed);
      expect((await review.progressOrReview(session)).kind).toBe('delivered');
      expect(await finish(' 048 213')).toBe('signed-in');
      expect(session.signedInAs).toBe(PHONE);
      expect(sendCount()).toBe(before);
    },
  );

  it('sends codes of the service to other numbers, and does not accept the review code for them', async () => {
    await start(OTHER_PHONE);
    expect(await finish()).toBe('wrong-code');
    expect(await finish(server.lastCode(OTHER_PHONE))).toBe('signed-in');
    expect(session.signedInAs).toBe(OTHER_PHONE);
  });

  it.each<[string, Parameters<typeof setReview>[0]]>([
    ['without a number', { phone: '' }],
    ['without a code', { code: '' }],
    ['without an end', { until: '' }],
    ['with an end that is not a date', { until: 'soon' }],
    ['after the end', { until: '2026-01-01T00:00:00Z' }],
    ['with an end in more than 30 days', { until: new Date(realNow() + 100 * DAY_MS).toISOString() }],
    ['with a code of five digits', { code: '48213' }],
    ['with letters in the code', { code: '48213a' }],
  ])('treats the review number like any other number with a review %s', async (_, settings) => {
    setReview(settings);
    const before = sendCount();
    await start();
    expect(sendCount()).toBe(before + 1);
    expect(await finish(settings?.code || CODE)).toBe('wrong-code');
    expect(session.signedInAs).toBeUndefined();
  });

  it('refuses the right code after the end of the review', async () => {
    await start();
    setReview({ until: inMs(-1000) });
    expect(await finish()).toBe('ask-for-a-new-code');
    expect(session.signedInAs).toBeUndefined();
  });

  it('refuses every code in all sessions for an hour after five wrong codes', async () => {
    const outcomes: string[] = [];
    for (let count = 0; count < 5; count++) {
      session = {};
      await start();
      outcomes.push(await finish('111111'));
    }
    expect(outcomes).toEqual(Array(5).fill('wrong-code'));
    session = {};
    await start();
    expect(await finish()).toBe('ask-for-a-new-code');
    aheadMs += HOUR_MS;
    expect(await finish()).toBe('signed-in');
  });

  it('returns how many attempts are left after a wrong code', async () => {
    await start();
    expect(await review.finishSignInOrReview(session, 'nonsense')).toEqual({
      kind: 'wrong-code',
      attemptsLeft: 4,
    });
  });

  it('does not accept the review code after the session asked for another number', async () => {
    await start();
    await start(OTHER_PHONE);
    expect(await finish()).toBe('wrong-code');
    expect(session.signedInAs).toBeUndefined();
  });
});

describe('the function of the guide for Amazon Cognito', () => {
  const PHONE = '+447700900131';
  type Handler = (event: object) => Promise<void>;
  let handler: Handler;
  beforeAll(async () => {
    const { createHandler } = (await import(write('integrate/cognito', 'customSmsSender.ts'))) as {
      createHandler: (decrypt: (encrypted: Uint8Array) => Promise<string>) => Handler;
    };
    handler = createHandler(async (encrypted) => Buffer.from(encrypted).toString().split(':')[1] ?? '');
  });

  /** Encrypts as Cognito does: the same text gives a different result each time. */
  const encrypt = (text: string): string =>
    Buffer.from(`${randomBytes(16).toString('hex')}:${text}`).toString('base64');

  /** Returns an event in the form that AWS documents. */
  const eventOf = (code: string | null, attributes: Record<string, string> = {}) => ({
    version: '1',
    triggerSource: 'CustomSMSSender_Authentication',
    region: 'sa-east-1',
    userPoolId: 'sa-east-1_AbCdEfGhI',
    userName: randomUUID(),
    callerContext: { awsSdkVersion: 'aws-sdk-unknown-unknown', clientId: '1example23456789' },
    request: {
      type: 'customSMSSenderRequestV1',
      code: code === null ? null : encrypt(code),
      clientMetadata: null,
      userAttributes: {
        sub: randomUUID(),
        'cognito:user_status': 'CONFIRMED',
        phone_number_verified: 'true',
        phone_number: PHONE,
        ...attributes,
      },
    },
  });
  const sendsOf = async (work: () => Promise<unknown>) => {
    const before = server.sends.length;
    await work();
    return server.sends.slice(before);
  };

  it('sends the decrypted code to the user’s number', async () => {
    const sends = await sendsOf(() => handler(eventOf('048213')));
    expect(sends).toMatchObject([{ to: PHONE, code: '048213', locale: null }]);
  });

  it('creates one send for an event and its retries', async () => {
    const event = eventOf('048214');
    expect(
      await sendsOf(async () => {
        for (let tries = 0; tries < 3; tries++) await handler(event);
      }),
    ).toHaveLength(1);
  });

  it('creates separate sends for two events with the same code', async () => {
    const twice = async () => [await handler(eventOf('048215')), await handler(eventOf('048215'))];
    expect(await sendsOf(twice)).toHaveLength(2);
  });

  it.each([
    ['pt_BR', 'pt-BR'],
    ['pt', 'pt-BR'],
    ['en-US', 'en'],
    ['de', null],
  ])('sends a message for the locale %s in %s', async (locale, language) => {
    const sends = await sendsOf(() => handler(eventOf('048216', { locale })));
    expect(sends).toMatchObject([{ locale: language }]);
  });

  it('sends nothing for a message without a code', async () => {
    expect(await sendsOf(() => handler(eventOf(null)))).toEqual([]);
  });

  it.each([
    ['a temporary password', eventOf('Xk3!vq9Z'), 'Onecode delivers digits only.'],
    ['a user without a number', eventOf('048217', { phone_number: '' }), 'the user has no phone number.'],
  ])('throws for %s, without the secret, and sends nothing', async (_, event, message) => {
    const sends = await sendsOf(async () => {
      await expect(handler(event)).rejects.toThrow(`CustomSMSSender_Authentication: ${message}`);
    });
    expect(sends).toEqual([]);
  });

  it('throws for a refusal, so that Lambda retries, and then sends once', async () => {
    server.script(PHONE, { answer: 'rate_limited', retryAfterSeconds: 60 });
    const event = eventOf('048218');
    const sends = await sendsOf(async () => {
      await expect(handler(event)).rejects.toThrow('rate_limited');
      await handler(event);
    });
    expect(sends).toMatchObject([{ code: '048218' }]);
  });
});
