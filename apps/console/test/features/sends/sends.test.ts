import { newId } from '@onecode/store/client';
import { placeHold, releaseHold } from '@onecode/store/holds';
import { listAuditEntries } from '@onecode/store/operations';
import type { Sender } from '@onecode/store/senders';
import {
  applyTestReports,
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  type TestCaller,
} from '@onecode/testing';
import type {
  SendDetailsView,
  SendsView,
  SendView,
  StaffSendView,
} from '../../../src/features/sends/view.js';
import { useConsole } from '../../console.js';
import { attempt, report, type } from '../../delivery.js';
import { person, type TestPerson } from '../../people.js';

const server = useConsole();
const CODE = '734192';
const PHONE = '+5511912345678';
let live: TestCaller;
let test: TestCaller;
let foreign: TestCaller;
let sender: Sender;
let viewer: TestPerson;
/** The path of the account's sends, below `/api`. */
let path: string;
beforeAll(async () => {
  const { database } = server.db;
  live = await buildCaller(database, 'live', { freeQuota: 2, credits: 100 });
  test = await buildCaller(database, 'test', { id: live.accountId });
  foreign = await buildCaller(database, 'live', { credits: 10 });
  sender = await buildSender(database);
  viewer = await person(server, { accounts: { [live.accountId]: 'viewer' } });
  path = `/accounts/${live.accountId}/sends`;
});

async function read<View>(address: string): Promise<View> {
  const { status, body } = await viewer.get<View>(address);
  expect(status).toBe(200);
  return body;
}
const list = (query = ''): Promise<SendsView> => read(`${path}${query}`);
const details = (id: string): Promise<SendDetailsView> => read(`${path}/${id}`);
const build = (caller: TestCaller, wishes: Parameters<typeof buildSend>[2] = {}): Promise<string> =>
  buildSend(server.db.database, caller, { code: CODE, recipient: PHONE, ...wishes });
const idsOf = ({ sends }: SendsView): string[] => sends.map(({ id }) => id);

/** The kinds of events, receipts with their status. */
const kindsOf = ({ timeline }: Pick<SendDetailsView, 'timeline'>): string[] =>
  timeline.map((event) => ('status' in event ? `${event.kind} ${event.status}` : event.kind));

const MESSAGE = 'wamid.HBgMNTUxMTkxMjM0NTY3OA';

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
    expect(kindsOf(send)).toEqual([
      'created',
      'routed',
      'attempt',
      'attempt',
      'receipt delivered',
      'receipt read',
      'wrong_code',
      'verified',
    ]);
    expect(send.timeline[2]).toMatchObject({
      number: 1,
      sender: sender.number,
      outcome: 'retry',
      errorCode: 131000,
      explanation: { name: '131000' },
    });
    expect(send.timeline[3]).toMatchObject({ number: 2, outcome: 'accepted', explanation: null });
    expect(send.timeline[6]).toMatchObject({ left: 4 });
  });

  it('shows that its number may have changed hands, and that its recipient denied it', async () => {
    const { db } = server;
    const id = await build(live);
    const messageId = `${MESSAGE}-denied`;
    await attempt(db.database, id, sender, { kind: 'accepted', messageId });
    await applyTestReports(db.database, { denials: [{ messageId, occurredAt: new Date(0) }] });
    await db.sql(
      `insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed)
       select id, application_id, recipient_key, 'DF2lS5v2W6x=', true from sends where id = $1`,
      [id],
    );
    const { timeline } = await details(id);
    expect(kindsOf({ timeline })).toEqual(['created', 'routed', 'attempt', 'denied', 'identity_changed']);
    expect(JSON.stringify(timeline)).not.toContain('DF2lS5v2W6x');
  });

  it('shows that its message was lost because of its sender and was sent again', async () => {
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
    expect(kindsOf(send)).toEqual([
      'created',
      'routed',
      'attempt',
      'receipt failed',
      'attempt',
      'receipt delivered',
    ]);
    expect(send.timeline[2]).toMatchObject({ outcome: 'accepted', sender: sender.number });
    expect(send.timeline[3]).toMatchObject({
      errorCode: 131042,
      isSentAgain: true,
      explanation: { remedy: null },
    });
  });

  it('shows the error code, its remedy and the refunded unit after a failed receipt', async () => {
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
      next: { step: 'rejected', explanation: { remedy: expect.any(String) } },
    });
    expect(kindsOf(send)).toEqual(['created', 'routed', 'attempt', 'receipt failed', 'failed', 'returned']);
    expect(send.timeline[2]).toMatchObject({ outcome: 'accepted', errorCode: null });
    expect(send.timeline[3]).toMatchObject({ status: 'failed', errorCode: 131026 });
    expect(idsOf(await list('?status=failed'))).toEqual([id]);
  });

  it('waits for a sender if there is none, and for the release if it is on hold', async () => {
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

  it('shows that it is locked after the fifth wrong code', async () => {
    const { database } = server.db;
    const id = await build(live);
    for (let n = 0; n < 6; n++) await type(database, id, '111111');
    const { timeline, next, guessesLeft } = await details(id);
    expect(timeline.flatMap((event) => ('left' in event ? [event.left] : []))).toEqual([4, 3, 2, 1, 0]);
    expect([timeline.at(-1)?.kind, next.step, guessesLeft]).toEqual(['locked', 'locked', 0]);
  });
});

describe('secret data of a send', () => {
  it('is in no response: the whole number, the code, its hash, a message id', async () => {
    const id = await build(live);
    const messageId = `${MESSAGE}-secret`;
    await attempt(server.db.database, id, sender, { kind: 'accepted', messageId });
    const [row] = await server.db.sql<{ hash: string }>(
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

describe('the list of sends', () => {
  let ids: string[];
  beforeAll(async () => {
    ids = [];
    for (let n = 0; n < 3; n++)
      ids.unshift(await build(n % 2 === 0 ? test : live, { recipient: `+551198888000${n}` }));
  });

  it('is newest first, with the fields of a row and a masked number', async () => {
    const { sends } = await list();
    expect(sends.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const times = sends.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(sends.find(({ id }) => id === ids[0])).toEqual({
      id: ids[0],
      application: { id: test.applicationId, name: 'Test test' },
      mode: 'test',
      status: 'queued',
      verification: 'pending',
      recipient: '+55 ••••• 0002',
      country: 'BR',
      locale: 'pt-BR',
      channel: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      failureReason: null,
      chargedFrom: null,
    } satisfies Record<keyof SendView, unknown>);
  });

  it('applies each of its filters together with the application', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { id: live.accountId });
    const refused = await build(caller, { recipient: '+5511900001234' });
    await attempt(database, refused, sender, { kind: 'recipient', errorCode: 131026, reason: '' });
    const arrived = await build(caller, { recipient: '+351912341234', locale: 'en' });
    const messageId = 'wamid.x';
    const sent = await attempt(database, arrived, sender, { kind: 'accepted', messageId });
    await report(database, sent, { messageId, status: 'read', failure: null });
    expect(await type(database, arrived, CODE)).toBe(true);
    await server.db.sql(`update sends set country = 'PT' where id = $1`, [arrived]);
    const { createdAt } = await details(arrived);
    for (const [query, expected] of [
      ['mode=live', [arrived, refused]],
      ['mode=test', []],
      ['status=failed&country=BR', [refused]],
      ['status=arrived', [arrived]],
      ['reason=rejected_by_provider', [refused]],
      ['reason=attempts_exhausted', []],
      ['verification=verified', [arrived]],
      ['country=PT', [arrived]],
      ['locale=en', [arrived]],
      [`from=${createdAt}`, [arrived]],
      [`to=${createdAt}`, [refused]],
    ] as const)
      expect([query, idsOf(await list(`?application=${caller.applicationId}&${query}`))]).toEqual([
        query,
        expected,
      ]);
    await build(foreign);
    expect((await list(`?application=${foreign.applicationId}`)).sends).toEqual([]);
    const ending = (recipient: string) => viewer.post<SendsView>(`${path}/search`, { recipient });
    expect(idsOf((await ending('1234')).body)).toEqual([arrived, refused]);
    expect(idsOf((await ending('4321')).body)).toEqual([]);
  });

  it.each([
    ['?status=lost', 'status'],
    ['?application=1', 'application'],
    ['?from=yesterday', 'from'],
    ['?before=x', 'before'],
    [`?recipient=${encodeURIComponent(PHONE)}`, 'body'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await viewer.get(`${path}${query}`);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });
});

describe('the search by phone number', () => {
  it('finds every send to it, in every spelling, and no sends of other accounts', async () => {
    const recipient = '+5521955554444';
    const [one, other] = [await build(live, { recipient }), await build(test, { recipient })];
    await build(foreign, { recipient });
    await build(live, { recipient: '+5521955554445' });

    for (const written of [recipient, '\u202a+55\u00a021 95555\u20114444\u202c']) {
      const { status, body } = await viewer.post<SendsView>(`${path}/search`, { recipient: written });
      expect([status, idsOf(body)]).toEqual([200, [other, one]]);
    }
  });

  it.each(['', '444', '44445', '21955554444', 'ana@example.com', '+55'])('refuses %j', async (recipient) => {
    const { status, body } = await viewer.post(`${path}/search`, { recipient });
    expect([status, body.errors]).toEqual([422, { recipient: 'phone' }]);
  });
});

let onCall: TestPerson;
beforeAll(async () => {
  onCall = await person(server, { staff: 'on_call' });
});

describe('an account’s data', () => {
  it('can be read by staff too, with an audit entry per reader and hour', async () => {
    const caller = await buildCaller(server.db.database, 'live', { credits: 3 });
    const id = await buildSend(server.db.database, caller, { recipient: '+5511912345678' });
    const member = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const to = Date.now();
    const span = `from=${new Date(to - 3_600_000).toISOString()}&to=${new Date(to + 3_600_000).toISOString()}`;
    const answers = async (who: TestPerson, account: string) => {
      const overview = `/overview?${span}&bucket=hour&timeZone=UTC`;
      const paths = ['/sends', '/ledger', '/ledger.csv', '/balance', '/applications', overview];
      const read = paths.map((one) => who.get<unknown>(`${account}${one}`));
      const searched = who.post<unknown>(`${account}/sends/search`, { recipient: '5678' });
      return (await Promise.all([...read, searched])).map(({ status, body }) => ({ status, body }));
    };
    const seen = await answers(member, `/accounts/${caller.accountId}`);
    expect(seen[0]).toMatchObject({ status: 200, body: { sends: [{ id, recipient: '+55 ••••• 5678' }] } });
    expect(await answers(onCall, `/staff/accounts/${caller.accountId}`)).toEqual(seen);
    const reads = await listAuditEntries(server.db.database, {
      accountId: caller.accountId,
      actionPrefix: 'account.read',
      limit: 9,
    });
    expect(reads).toMatchObject([{ actor: { id: onCall.id }, subject: caller.accountId, details: {} }]);
  });
});

describe('a send that an on-call engineer opens by its id', () => {
  it('can belong to any account, and is shown with the account and the timeline, without the recipient', async () => {
    const caller = await buildCaller(server.db.database, 'live', { name: 'Loja Azul', credits: 1 });
    const requestId = newId();
    const id = await build(caller, { requestId });

    const { body } = await onCall.get<StaffSendView>(`/staff/sends/${id}`);
    expect(body).toMatchObject({
      id,
      requestId,
      account: { id: caller.accountId, name: 'Loja Azul' },
      application: { id: caller.applicationId, name: 'Test live' },
      status: 'queued',
      timeline: [{ kind: 'created' }],
      waiting: [{ kind: 'worker' }, { kind: 'code' }],
      isOpen: true,
    });
    expect(Object.keys(body)).not.toContain('recipient');
    expect(JSON.stringify(body)).not.toMatch(/5678|734192/);
  });

  it('is in the audit log once an hour for each reader, although the page polls', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { credits: 1 });
    const id = await buildSend(database, caller);
    const operator = await person(server, { staff: 'operator' });
    const reads = () =>
      listAuditEntries(database, { accountId: caller.accountId, actionPrefix: 'send.', limit: 9 });

    await Promise.all(Array.from({ length: 12 }, () => onCall.get(`/staff/sends/${id}`)));
    expect(await reads()).toMatchObject([
      { action: 'send.read', actor: { id: onCall.id, name: onCall.email }, subject: id, details: {} },
    ]);
    await operator.get(`/staff/sends/${id}`);
    expect((await reads()).map(({ actor }) => actor.id)).toEqual([operator.id, onCall.id]);

    await server.db.sql("update counted_tries set ends_at = ends_at - interval '61 minutes'");
    await onCall.get(`/staff/sends/${id}`);
    expect((await reads()).map(({ actor }) => actor.id)).toEqual([onCall.id, operator.id, onCall.id]);
  });

  it('is not shown if the read cannot be logged', async () => {
    const caller = await buildCaller(server.db.database, 'live', { credits: 1 });
    const id = await buildSend(server.db.database, caller);
    await server.db.sql(
      "alter table audit_entries add constraint full_up check (action <> 'send.read') not valid",
    );
    const refused = await onCall.get(`/staff/sends/${id}`);
    await server.db.sql('alter table audit_entries drop constraint full_up');
    expect(refused).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(JSON.stringify(refused.body)).not.toContain(caller.accountId);
    // No entry was written.
    expect((await onCall.get(`/staff/sends/${id}`)).status).toBe(200);
    expect(await listAuditEntries(server.db.database, { actionPrefix: 'send.', limit: 1 })).toMatchObject([
      { subject: id },
    ]);
  });

  it('leaves no audit entry if it does not exist, or if its own team reads it', async () => {
    const caller = await buildCaller(server.db.database, 'live', { credits: 1 });
    const id = await buildSend(server.db.database, caller);
    const member = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const [before] = await listAuditEntries(server.db.database, { limit: 1 });
    expect((await member.get(`/accounts/${caller.accountId}/sends/${id}`)).status).toBe(200);
    expect((await onCall.get(`/staff/sends/${newId()}`)).status).toBe(404);
    expect((await listAuditEntries(server.db.database, { limit: 1 }))[0]).toEqual(before);
  });
});
