import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOnecode, type OnecodeServer } from '@onecode/client/testing';
import { closedPort } from '@onecode/testing';
import { guideBlocks, makeGuideFolder, scriptOf } from './guideBlocks.js';

/** Tests the code that the guides build on the sign-in, against the test double, and the code for account events. */
const PHONE = '+447700900123';

interface Session {
  pending?: { sendIds: string[]; askedAt: number };
  unfinished?: { askedAt: number };
}
type Reason = 'expired' | 'locked' | 'unknown';
interface Progress {
  kind: string;
  reason?: Reason;
  failureReason?: string;
}

let server: OnecodeServer;
let folder: string;
let signIn: {
  startSignIn: (session: Session, typed: string, pauseMs?: number) => Promise<void>;
  finishSignIn: (session: Session, code: string) => Promise<{ kind: string; reason?: Reason }>;
  progress: (session: Session) => Promise<Progress>;
};
let session: Session;
beforeAll(async () => {
  server = await startOnecode();
  folder = makeGuideFolder();
  process.env['ONECODE_URL'] = server.baseUrl;
  process.env['ONECODE_API_KEY'] = server.keys.live;
  signIn = (await import(write('signIn.ts', guideBlocks('sign-in', 'ts')[0]!))) as typeof signIn;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});
beforeEach(() => {
  session = {};
});

function write(name: string, code: string): string {
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
}

describe('the sign-in guide', () => {
  const start = (pauseMs?: number): Promise<void> => signIn.startSignIn(session, PHONE, pauseMs);
  const finish = async (code: string): Promise<string> => (await signIn.finishSignIn(session, code)).kind;
  const ended = (reason: Reason) => ({ kind: 'ask-for-a-new-code', reason });

  it.each([
    ['a minute', () => (session.unfinished!.askedAt -= 60_000)],
    ['the expiry of the code', () => server.advance(600)],
  ])('sends a new code after a lost response and %s', async (_, wait) => {
    server.script(PHONE, { answer: 'lost', afterWork: true, times: 2 });
    await expect(start()).rejects.toThrow();
    const before = server.sends.length;
    wait();
    await start();
    expect(server.sends.length).toBe(before + 1);
    expect(await finish(server.lastCode(PHONE))).toBe('signed-in');
  });

  it('sends nothing for a second click that loads a copy of the session', async () => {
    await start();
    const before = server.sends.length;
    session = JSON.parse(JSON.stringify(session)) as Session;
    await start();
    expect(server.sends.length).toBe(before);
  });

  it('accepts the latest two codes', async () => {
    const codes: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      await start(0);
      codes.push(server.lastCode(PHONE));
    }
    expect(await finish(codes[0]!)).toBe('wrong-code');
    expect(await finish(codes[1]!)).toBe('signed-in');
  });

  it('keeps the earlier code valid when a limit refuses another one', async () => {
    await start();
    // Longer than the deadline of a call.
    server.script(PHONE, { answer: 'rate_limited', retryAfterSeconds: 10 });
    await expect(signIn.startSignIn(session, '+44 (0)7700 900123', 0)).rejects.toThrow();
    expect(await finish(server.lastCode(PHONE))).toBe('signed-in');
  });

  it('returns the reason when no code can sign in', async () => {
    await start();
    server.advance(600);
    expect(await signIn.finishSignIn(session, '123456')).toEqual(ended('expired'));
    expect(await signIn.progress(session)).toEqual(ended('expired'));
    await start();
    for (let guess = 0; guess < 4; guess += 1) await finish('nonsense');
    expect(await signIn.finishSignIn(session, 'nonsense')).toEqual(ended('locked'));
    await start();
    server.script(PHONE, { answer: 'lost', on: 'verify', afterWork: true });
    expect(await signIn.finishSignIn(session, '123456')).toEqual(ended('unknown'));
  });

  it('returns the reason of a failed delivery', async () => {
    const failureReason = 'rejected_by_provider';
    server.script(PHONE, { status: 'failed', reason: failureReason });
    await start();
    expect(await signIn.progress(session)).toEqual({ kind: 'failed', phone: PHONE, failureReason });
    server.script(PHONE, { status: 'delivered' });
  });
});

describe('inTurn of the sign-in guide', () => {
  let inTurn: <T>(id: string, call: () => Promise<T>) => Promise<T>;
  beforeAll(async () => {
    ({ inTurn } = (await import(write('inTurn.ts', guideBlocks('sign-in', 'ts')[1]!))) as {
      inTurn: typeof inTurn;
    });
  });

  /** A request that loads its own copy of the session and stores it at the end. */
  const request = async (store: Map<string, string>): Promise<void> => {
    const own = JSON.parse(store.get('a') ?? '{}') as Session;
    await signIn.startSignIn(own, PHONE).finally(() => store.set('a', JSON.stringify(own)));
  };

  it('sends one message for two requests at the same time that load their own copies of the session', async () => {
    const before = server.sends.length;
    const store = new Map<string, string>();
    await Promise.all([inTurn('a', () => request(store)), inTurn('a', () => request(store))]);
    expect(server.sends.length).toBe(before + 1);
  });

  it('continues with the key of a request that failed', async () => {
    const before = server.sends.length;
    const store = new Map<string, string>();
    server.script(PHONE, { answer: 'lost', afterWork: true, times: 2 });
    const calls = [inTurn('a', () => request(store)), inTurn('a', () => request(store))];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(server.sends.length).toBe(before + 1);
  });

  it('lets other sessions run', async () => {
    let finish = (): void => undefined;
    const first = inTurn('a', () => new Promise<void>((resolve) => (finish = resolve)));
    expect(await inTurn('b', async () => 'done')).toBe('done');
    finish();
    await first;
  });
});

describe('resend', () => {
  let resend: (session: Session) => Promise<number>;
  beforeAll(async () => {
    const code = guideBlocks('resend', 'ts').find((block) => block.includes('PAUSE_MS'))!;
    ({ resend } = (await import(write('resend.ts', code))) as { resend: typeof resend });
  });
  const sendCount = (): number => server.sends.length;

  it('returns the remaining pause while a code can sign in, and sends a code after it', async () => {
    await signIn.startSignIn(session, PHONE);
    const before = sendCount();
    expect(await resend(session)).toBe(30);
    session.pending!.askedAt -= 30_000;
    expect(await resend(session)).toBe(0);
    expect(sendCount()).toBe(before + 1);
  });

  it('sends a code without a pause after a verification without a response', async () => {
    await signIn.startSignIn(session, PHONE);
    const before = sendCount();
    server.script(PHONE, { answer: 'lost', on: 'verify', afterWork: true });
    const outcome = await signIn.finishSignIn(session, server.lastCode(PHONE));
    expect(outcome).toEqual({ kind: 'ask-for-a-new-code', reason: 'unknown' });
    expect(await resend(session)).toBe(0);
    expect(sendCount()).toBe(before + 1);
  });

  it('sends nothing for a session without a number', async () => {
    const before = sendCount();
    expect(await resend(session)).toBe(0);
    expect(sendCount()).toBe(before);
  });
});

describe('the guide for account events', () => {
  const [EVENTS = '', SIGN = ''] = guideBlocks('events', 'ts');
  const ONECODE_WEBHOOK_SECRET = `whsec_${randomBytes(24).toString('base64')}`;

  /** Runs the program that signs an event, as a reader would. */
  const signEvent = async (program: string): Promise<string> => {
    write('events.js', scriptOf(EVENTS));
    const env = { ...process.env, ONECODE_WEBHOOK_SECRET, PORT: String(await closedPort()) };
    const file = write('signEvent.mjs', scriptOf(program));
    return spawnSync(process.execPath, [file], { env, encoding: 'utf8' }).stdout;
  };

  it('accepts a signed event with Express', async () => {
    expect(await signEvent(SIGN)).toBe('99\n204\n');
  });

  it('refuses a changed body, and a request without a body', async () => {
    const changed = SIGN.replace('headers, body }', "headers, body: body + ' ' }");
    expect(await signEvent(changed)).toBe('401\n');
    expect(await signEvent(SIGN.replace('headers, body }', 'headers }'))).toBe('401\n');
  });

  it('verifies a fetch request as the guide describes', async () => {
    const program = SIGN.replace('console.log((await fetch(', 'const request = new Request(').replace(
      ')).status);',
      ');\nconsole.log(webhook.verify(await request.text(), Object.fromEntries(request.headers)).type);',
    );
    expect(await signEvent(program)).toBe('balance.low\n');
  });
});
