import { placeHold, releaseHold, storeDenials } from '@onecode/store';
import { TEST_ACTOR } from '@onecode/testing';
import { useConsole } from '../../console.js';
import { attempt, report, type } from '../../delivery.js';
import { CODE, PHONE, idsOf, createSendsEnvironment, type SendsEnvironment } from './environment.js';

const MESSAGE = 'wamid.HBgMNTUxMTkxMjM0NTY3OA';

const server = useConsole();
let live: SendsEnvironment['live'];
let sender: SendsEnvironment['sender'];
let viewer: SendsEnvironment['viewer'];
let path: SendsEnvironment['path'];
let list: SendsEnvironment['list'];
let details: SendsEnvironment['details'];
let build: SendsEnvironment['build'];
beforeAll(async () => {
  ({ live, sender, viewer, path, list, details, build } = await createSendsEnvironment(server));
});

describe('a send', () => {
  it('has its whole history, oldest event first', async () => {
    const { database } = server.db;
    const id = await build(live);
    await attempt(database, id, sender, {
      kind: 'retry',
      errorCode: 131000,
      reason: '',
      throttled: 'none',
      retryAfterSeconds: null,
    });
    const accepted = await attempt(database, id, sender, { kind: 'accepted', messageId: MESSAGE });
    for (const status of ['sent', 'delivered', 'delivered', 'read'] as const)
      await report(database, accepted, { messageId: MESSAGE, status, failure: null });
    await type(database, id, '000000');
    expect(await type(database, id, CODE)).toBe(true);

    const send = await details(id);
    expect(send).toMatchObject({
      status: 'read',
      verification: 'verified',
      channel: 'whatsapp',
      from: sender.number,
      guessesLeft: 0,
      waiting: [],
      next: { step: 'verified' },
      isOpen: false,
    });
    expect(send.timeline.map((event) => [event.kind, 'status' in event ? event.status : null])).toEqual([
      ['created', null],
      ['routed', null],
      ['attempt', null],
      ['attempt', null],
      ['receipt', 'sent'],
      ['receipt', 'delivered'],
      ['receipt', 'read'],
      ['wrong_code', null],
      ['verified', null],
    ]);
    expect(send.timeline[2]).toMatchObject({
      number: 1,
      sender: sender.number,
      outcome: 'retry',
      errorCode: 131000,
      explanation: { owner: 'provider', meaning: { english: 'WhatsApp had an internal error.' } },
    });
    expect(send.timeline[3]).toMatchObject({ number: 2, outcome: 'accepted', explanation: null });
    expect(send.timeline[7]).toMatchObject({ left: 4 });
  });

  it('to a number that has changed hands says so', async () => {
    const { db } = server;
    const id = await build(live);
    await attempt(db.database, id, sender, { kind: 'accepted', messageId: `${MESSAGE}-changed` });
    await db.sql(
      `insert into send_identities (send_id, application_id, canonical_recipient, identity_hash, has_changed)
       select id, application_id, canonical_recipient, 'DF2lS5v2W6x=', true from sends where id = $1`,
      [id],
    );
    const { timeline } = await details(id);
    expect(timeline.map(({ kind }) => kind)).toEqual(['created', 'routed', 'attempt', 'identity_changed']);
    expect(JSON.stringify(timeline)).not.toContain('DF2lS5v2W6x');
  });

  it('that its recipient denies says so', async () => {
    const { database } = server.db;
    const id = await build(live);
    const messageId = `${MESSAGE}-denied`;
    await attempt(database, id, sender, { kind: 'accepted', messageId });
    await storeDenials(database, [{ messageId, occurredAt: new Date(0) }]);
    const { timeline } = await details(id);
    expect(timeline.map(({ kind }) => kind)).toEqual(['created', 'routed', 'attempt', 'denied']);
    expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
  });

  it('whose message was lost to a fault of its sender tells so, and that it went out again', async () => {
    const { database } = server.db;
    const id = await build(live, { recipient: '+5511900002222' });
    const messageIds = [`${MESSAGE}3`, `${MESSAGE}4`] as const;
    const lost = await attempt(database, id, sender, { kind: 'accepted', messageId: messageIds[0] });
    const failure = { kind: 'config', scope: 'business', errorCode: 131042, reason: '' } as const;
    await report(database, lost, { messageId: messageIds[0], status: 'sent', failure: null });
    await report(database, lost, { messageId: messageIds[0], status: 'failed', failure });
    expect(await details(id)).toMatchObject({ status: 'sent', next: { step: 'retrying' } });

    const next = await attempt(database, id, sender, { kind: 'accepted', messageId: messageIds[1] });
    await report(database, next, { messageId: messageIds[1], status: 'delivered', failure: null });
    const send = await details(id);
    expect(send.status).toBe('delivered');
    expect(send.timeline.map((event) => [event.kind, 'status' in event ? event.status : null])).toEqual([
      ['created', null],
      ['routed', null],
      ['attempt', null],
      ['receipt', 'sent'],
      ['receipt', 'failed'],
      ['attempt', null],
      ['receipt', 'delivered'],
    ]);
    expect(send.timeline[2]).toMatchObject({ outcome: 'accepted', sender: sender.number });
    expect(send.timeline[4]).toMatchObject({
      errorCode: 131042,
      isSentAgain: true,
      explanation: { owner: 'us' },
    });
  });

  it('that a receipt reports as failed names the code where it came from, and the unit that came back', async () => {
    const { database } = server.db;
    const id = await build(live, { recipient: '+5511900001111' });
    const accepted = await attempt(database, id, sender, { kind: 'accepted', messageId: `${MESSAGE}2` });
    await report(database, accepted, {
      messageId: `${MESSAGE}2`,
      status: 'failed',
      failure: { kind: 'recipient', errorCode: 131026, reason: '' },
    });

    const send = await details(id);
    expect(send).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
      next: { step: 'rejected', explanation: { owner: 'recipient' } },
    });
    expect(send.timeline.map(({ kind }) => kind)).toEqual([
      'created',
      'routed',
      'attempt',
      'receipt',
      'failed',
      'returned',
    ]);
    expect(send.timeline[2]).toMatchObject({ outcome: 'accepted', errorCode: null });
    expect(send.timeline[3]).toMatchObject({ status: 'failed', errorCode: 131026 });
    expect(idsOf(await list('?status=failed'))).toEqual([id]);
  });

  it('without a sender waits for one, and on hold for its release', async () => {
    const { database } = server.db;
    const id = await build(live);
    await attempt(database, id, null, { kind: 'accepted', messageId: '' });
    const { expiresAt } = await details(id);
    const code = { kind: 'code', until: expiresAt };
    expect(await details(id)).toMatchObject({
      next: { step: 'no_sender' },
      waiting: [{ kind: 'sender', until: expiresAt }, code],
      isOpen: true,
    });

    const what = { kind: 'country', target: 'BR' } as const;
    await placeHold(database, TEST_ACTOR, { ...what, reason: 'a secret reason' });
    const answer = await viewer.get(`${path}/${id}`);
    await releaseHold(database, TEST_ACTOR, what);
    expect(answer.body).toMatchObject({
      next: { step: 'held' },
      waiting: [{ kind: 'release', until: expiresAt }, code],
    });
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  it('that was locked says so after the fifth wrong code', async () => {
    const { database } = server.db;
    const id = await build(live);
    for (let n = 0; n < 6; n++) await type(database, id, '111111');
    const { timeline, next, guessesLeft } = await details(id);
    expect(timeline.flatMap((event) => ('left' in event ? [event.left] : []))).toEqual([4, 3, 2, 1, 0]);
    expect([timeline.at(-1)?.kind, next.step, guessesLeft]).toEqual(['locked', 'locked', 0]);
  });

  it('whose receipts have been deleted still tells when it was delivered and read', async () => {
    const { db } = server;
    const { database } = db;
    const id = await build(live);
    const accepted = await attempt(database, id, sender, { kind: 'accepted', messageId: `${MESSAGE}3` });
    await report(database, accepted, { messageId: `${MESSAGE}3`, status: 'read', failure: null });
    await db.sql(`delete from receipts where message_id = $1`, [`${MESSAGE}3`]);
    await db.sql(`update sends set delivered_at = read_at where id = $1`, [id]);

    expect(
      (await details(id)).timeline.flatMap((event) => ('status' in event ? [event.status] : [])),
    ).toEqual(['delivered', 'read']);
  });
});

describe('what must never leave', () => {
  it('is in no answer: the whole number, the code, its hash, a message id', async () => {
    const { db } = server;
    const { database } = db;
    const id = await build(live);
    const accepted = await attempt(database, id, sender, { kind: 'accepted', messageId: `${MESSAGE}4` });
    await report(database, accepted, { messageId: `${MESSAGE}4`, status: 'delivered', failure: null });
    const [row] = await db.sql<{ hash: string }>(
      `select encode(code_hash, 'hex') as hash from sends where id = $1`,
      [id],
    );

    const answers = [
      await viewer.get(path),
      await viewer.get(`${path}/${id}`),
      await viewer.post(`${path}/search`, { recipient: PHONE }),
    ];
    for (const { status, body } of answers) {
      const text = JSON.stringify(body);
      expect(status).toBe(200);
      expect(text).toContain(id);
      for (const secret of [PHONE, PHONE.slice(4), CODE, MESSAGE, row?.hash])
        expect(text).not.toContain(secret);
    }
  });
});
