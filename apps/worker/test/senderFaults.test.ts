import type { Send } from '@onecode/domain';
import type { Fault } from '@onecode/simulator';
import {
  changeAccount,
  createSend,
  listSenderDetails,
  listSenders,
  newId,
  noteMailSender,
  pauseSender,
  resumeSender,
  setEventWebhook,
  type Sender,
} from '@onecode/store';
import { buildSender, endStops, newSend, TEST_ACTOR, TEST_SECRET_KEY, until } from '@onecode/testing';
import { recordSenderFailure } from '../src/senderFaults.js';
import { startWorker, useWorker } from './testWorker.js';

const NUMBER_NOT_REGISTERED = 133010;
const TOKEN_EXPIRED = 190;
const COUNTRY_FORBIDDEN = 130497;
const TEMPLATE_PAUSED = 132015;

/** What stops a sender, or lets single messages try. */
const stopsOf = async ({ id }: Pick<Sender, 'id'>) =>
  (await listSenders(t.database)).find((sender) => sender.id === id)!.stops;
/** Until this resolves, no request reaches the provider. */
let held: Promise<void> | null = null;
const t = useWorker({
  senders: 0,
  answerInstead: async () => {
    await held;
    return null;
  },
  // With a single attempt, a send only goes on after a fault that used up none.
  env: { DELIVERY_ATTEMPTS: '1' },
});

describe('a fault of the sender', () => {
  it('reassigns the send to another sender at once, and the first one cools down', async () => {
    const senders = [await buildSender(t.database), await buildSender(t.database)];
    t.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 1 });
    const pausesBefore = await t.count('onecode_sender_pauses_total');
    const caller = await t.newCaller();
    const id = await t.send(caller);
    const row = await t.until(id, 'delivered');

    const attempts = await t.attempts(id);
    expect(attempts).toMatchObject([
      { outcome: 'sender', error_code: NUMBER_NOT_REGISTERED },
      { outcome: 'accepted' },
    ]);
    const [faulty, able] = attempts.map(({ sender_id }) => senders.find((sender) => sender.id === sender_id));
    expect(faulty).not.toBe(able);
    expect(row).toMatchObject({ attempts: 1, sender_id: able!.id, from_number: able!.number });
    expect(await t.stops(faulty!.id)).toMatchObject([
      { failures: 1, errorCode: NUMBER_NOT_REGISTERED, source: 'answer' },
    ]);
    expect(await t.stops(able!.id)).toEqual([]);
    expect((await t.count('onecode_sender_pauses_total')) - pausesBefore).toBe(1);
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('lengthens the cool-down each time, until the sender succeeds', async () => {
    const sender = await buildSender(t.database);
    t.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 2 });
    const id = await t.send(await t.newCaller());
    await until('a stop', async () => (await t.stops(sender.id)).length === 1);
    await endStops(t.database);
    await until('a longer one', async () => (await t.stops(sender.id))[0]?.failures === 2);
    const [stop] = await t.stops(sender.id);
    expect(stop!.until!.getTime() - stop!.since.getTime()).toBe(120_000);
    await endStops(t.database);
    await t.until(id, 'delivered');
    await until('a sender without faults', async () => (await stopsOf(sender)).length === 0);
  });

  it('leaves the send waiting without another sender, and it goes out once the sender is resumed', async () => {
    const sender = await buildSender(t.database);
    t.simulator.rules.add({ fault: { error: TOKEN_EXPIRED }, times: 1 });
    const caller = await t.newCaller();
    const id = await t.send(caller);
    expect(await t.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'sending',
      attempts: 0,
      failed_at: null,
    });
    await resumeSender(t.database, TEST_ACTOR, sender.id);
    await t.until(id, 'delivered');
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('that only a person can end is told to whoever the sender belongs to, once while it lasts', async () => {
    const caller = await t.newCaller('live', { credits: 5 });
    const { accountId } = caller;
    const user = (email: string, staff: string | null) =>
      t.database.prisma.user.create({ data: { id: newId(), name: 'Ana', email, staff } });
    await user('staff@example.com', 'on_call');
    const admin = await user('admin@example.com', null);
    await t.database.prisma.member.create({ data: { accountId, userId: admin.id, role: 'admin' } });
    await setEventWebhook(t.database, TEST_ACTOR, TEST_SECRET_KEY, accountId, 'https://127.0.0.1/');
    await noteMailSender(t.database, 'codes@onecode.example');
    const own = await buildSender(t.database, { owner: { accountId, applicationIds: [] } });
    await changeAccount(t.database, TEST_ACTOR, accountId, { senders: 'own' });
    const shared = await buildSender(t.database);
    t.simulator.rules.add({ fault: { error: TOKEN_EXPIRED }, times: 3 });
    const told = () =>
      t.sql(`select recipient, kind from outbox where kind ~ '^sender.stopped' order by recipient, kind`);
    const of = { account: { recipient: accountId, kind: 'sender.stopped' }, kind: 'sender_stopped' };
    const id = await t.send(caller);
    await until('a stop', async () => (await t.stops(own.id)).length === 1);
    await endStops(t.database);
    await until('a longer one', async () => (await t.stops(own.id))[0]?.failures === 2);
    const ofOwner = [of.account, { recipient: 'admin@example.com', kind: of.kind }];
    expect(await told()).toEqual(expect.arrayContaining(ofOwner));
    expect(await told()).toHaveLength(2);
    const [event] = await t.sql<{ facts: object }>('select facts from outbox where account_id = $1', [
      accountId,
    ]);
    expect(event!.facts).toMatchObject({
      type: 'sender.stopped',
      data: { account_id: accountId, sender_id: own.id, language: null, country: null },
    });
    expect(JSON.stringify(event!.facts)).not.toContain(own.number.slice(1));
    await t.send(await t.newCaller());
    await until('a stop of the shared one', async () => (await t.stops(shared.id)).length === 1);
    expect(await told()).toEqual(
      expect.arrayContaining([...ofOwner, { recipient: 'staff@example.com', kind: of.kind }]),
    );
    expect(await told()).toHaveLength(3);
    await noteMailSender(t.database, null);
    await endStops(t.database);
    await t.until(id, 'delivered');
  });

  it('that hits many sends of two workers at once raises one alert', async () => {
    const broken = await buildSender(t.database, { throughput: 1000 });
    t.simulator.rules.add({ sender: broken.phoneNumberId, fault: { error: TOKEN_EXPIRED } });
    const other = await startWorker(t.environment);
    // Whatever fails here: another worker would take what the tests after this one count.
    try {
      let release = (): void => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      const alerts = async (): Promise<number> => {
        const labels = { scope: 'token' };
        const counts = await Promise.all(
          [t, other].map((worker) => worker.count('onecode_configuration_faults_total', labels)),
        );
        return counts.reduce((sum, count) => sum + count);
      };
      const before = await alerts();
      const caller = await t.newCaller('live', { credits: 30 });
      const ids = await Promise.all(Array.from({ length: 30 }, () => t.send(caller)));
      await until('several calls that will meet the fault', () => t.tap.requests.length >= 10);
      release();
      held = null;
      for (const id of ids) await t.until(id, (row) => row.awaiting_sender);
      expect((await alerts()) - before).toBe(1);
      expect(await t.stops(broken.id)).toMatchObject([{ failures: 1, errorCode: TOKEN_EXPIRED }]);

      const able = await buildSender(t.database, { throughput: 1000 });
      for (const id of ids)
        expect(await t.until(id, 'delivered')).toMatchObject({ sender_id: able.id, attempts: 1 });
    } finally {
      await other.stop();
    }
  });

  it('for one country blocks the sender for that country only', async () => {
    const [one, other] = [await buildSender(t.database), await buildSender(t.database)];
    t.simulator.rules.add({ fault: { error: COUNTRY_FORBIDDEN }, times: 1 });
    const id = await t.send(await t.newCaller());
    await t.until(id, 'delivered');
    const [blockedId, ableId] = (await t.attempts(id)).map(({ sender_id }) => sender_id);
    expect(new Set([blockedId, ableId])).toEqual(new Set([one.id, other.id]));
    expect(await t.stops(blockedId!)).toMatchObject([{ onlyFor: 'BR', errorCode: COUNTRY_FORBIDDEN }]);

    // Without the other sender, a send to the blocked country waits, and one to another country does not.
    await pauseSender(t.database, TEST_ACTOR, ableId!);
    const waiting = await t.send(await t.newCaller(), { recipient: '+5511987650077' });
    await t.until(waiting, (row) => row.awaiting_sender);
    const abroad = await createSend(t.database, {
      ...newSend(await t.newCaller(), { recipient: '+12025550123' }),
      country: 'US',
    });
    if (abroad.outcome !== 'created') throw new Error(abroad.outcome);
    await t.enqueue('live', abroad.send.id);
    expect(await t.until(abroad.send.id, 'delivered')).toMatchObject({ sender_id: blockedId });
    expect(await t.row(waiting)).toMatchObject({ status: 'queued', attempts: 0 });

    await endStops(t.database);
    await t.until(waiting, 'delivered');
  });

  it('for a number of no country stops no message to a country, on any sender', async () => {
    const senders = [await buildSender(t.database), await buildSender(t.database)];
    const recipient = '+881612345678';
    t.simulator.rules.add({ recipient, fault: { error: COUNTRY_FORBIDDEN } });
    const nowhere = await createSend(t.database, {
      ...newSend(await t.newCaller(), { recipient }),
      country: null,
    });
    if (nowhere.outcome !== 'created') throw new Error(nowhere.outcome);
    await t.enqueue('live', nowhere.send.id);
    await t.until(nowhere.send.id, (row) => row.awaiting_sender);
    for (const { id } of senders)
      expect(await t.stops(id)).toMatchObject([{ onlyFor: 'ZZ', errorCode: COUNTRY_FORBIDDEN }]);
    expect(await t.until(await t.send(await t.newCaller()), 'delivered')).toMatchObject({ attempts: 1 });
    t.simulator.rules.clear();
  });

  it('of its template stops the sender for that language only, longer each time until a message goes out', async () => {
    const { id: senderId } = await buildSender(t.database);
    const caller = await t.newCaller('live', { credits: 9 });
    t.simulator.rules.add({ fault: { error: TEMPLATE_PAUSED }, times: 2 });

    const english = await t.send(caller, { locale: 'en', recipient: '+5511987650201' });
    await t.until(english, (row) => row.awaiting_sender);
    const first = { onlyFor: 'en', errorCode: TEMPLATE_PAUSED, source: 'answer', failures: 1 };
    expect(await t.stops(senderId)).toMatchObject([first]);

    await endStops(t.database);
    await until('a longer stop', async () => (await t.stops(senderId))[0]?.failures === 2);
    expect(await t.until(english, (row) => row.awaiting_sender)).toMatchObject({ attempts: 0 });
    const portuguese = await t.send(caller, { locale: 'pt-BR', recipient: '+5511987650202' });
    await t.until(portuguese, 'delivered');
    expect(await t.stops(senderId)).toMatchObject([{ failures: 2 }]);

    await endStops(t.database);
    await t.until(english, 'delivered');
    await until('no faults', async () => (await stopsOf({ id: senderId })).length === 0);
  });
});

type Row = [what: string, fault: Fault];

/** An error for each scope and action; the tests of `packages/whatsapp` go through the whole table. */
const ALERTED: [...Row, scope: string][] = [
  ['299, a missing permission', { error: 299, http: 403 }, 'token'],
  ['HTTP 401 without a code', { wrongBody: 'html', http: 401 }, 'token'],
  ['131031', { error: 131031 }, 'business'],
  ['132001', { error: 132001 }, 'template'],
  ['131030', { error: 131030 }, 'app'],
  ['130497', { error: 130497 }, 'country'],
];
const REQUEST: Row[] = [['131009', { error: 131009 }]];

describe('the provider’s error', () => {
  beforeEach(async () => {
    for (const _ of [1, 2]) await buildSender(t.database);
  });

  const coolingDown = async (): Promise<number> =>
    (
      await t.sql(
        `select from stops where cause = 'fault' and scope = 'sender' and only_for = '' and failures > 0`,
      )
    ).length;

  it.each(ALERTED)(
    '%s raises one alert for an operator, and another sender takes the send',
    async (_, fault, scope) => {
      const alertsBefore = await t.count('onecode_configuration_faults_total', { scope });
      t.simulator.rules.add({ fault, times: 1 });
      const id = await t.send(await t.newCaller());
      expect(await t.until(id, 'delivered')).toMatchObject({ attempts: 1 });
      expect(await t.attempts(id)).toMatchObject([
        { outcome: 'config', error_code: fault.error ?? null },
        { outcome: 'accepted' },
      ]);
      expect(await coolingDown()).toBe(scope === 'country' || scope === 'template' ? 0 : 1);
      const alerts = await t.count('onecode_configuration_faults_total', { scope });
      expect(alerts - alertsBefore).toBe(1);
    },
  );

  it('131026 is final for this recipient, and the refund is immediate', async () => {
    t.simulator.rules.add({ fault: { error: 131026 } });
    const caller = await t.newCaller('live', { freeQuota: 0, credits: 1 });
    const id = await t.send(caller);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
      due_at: null,
    });
    expect(await t.attempts(id)).toMatchObject([{ outcome: 'recipient', error_code: 131026 }]);
    expect(await t.units(caller.accountId)).toEqual({
      free_quota: 0,
      credits: 1,
      returned: ['credit'],
    });
    expect(await coolingDown()).toBe(0);
  });

  it.each(REQUEST)('%s fails this send with an alert, and blocks no other send', async (_, fault) => {
    const alertsBefore = await t.count('onecode_configuration_faults_total', { scope: 'request' });
    t.simulator.rules.add({ fault, times: 1 });
    const caller = await t.newCaller('live', { credits: 1 });
    const id = await t.send(caller);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
    });
    expect(await t.attempts(id)).toMatchObject([{ outcome: 'config', error_code: fault.error ?? null }]);
    expect(await t.units(caller.accountId)).toMatchObject({ returned: ['free_quota'] });
    expect(await coolingDown()).toBe(0);
    await t.until(await t.send(caller, { recipient: '+5511987650003' }), 'delivered');
    const alerts = await t.count('onecode_configuration_faults_total', { scope: 'request' });
    expect(alerts - alertsBefore).toBe(1);
  });
});

describe('an accepted message that a receipt reports as lost', () => {
  let first: Sender;
  let second: Sender;
  beforeEach(async () => {
    first = await buildSender(t.database);
    second = await buildSender(t.database);
  });

  const failsLate = (code: number, sender = first) =>
    t.simulator.rules.add({ fault: { lateFailure: code }, sender: sender.phoneNumberId });
  const only = async (sender: Sender): Promise<void> => {
    const other = sender === first ? second : first;
    await pauseSender(t.database, TEST_ACTOR, other.id);
  };
  /** A receipt for a message of another test may come late, and wait for minutes. */
  const receiptsEnd = (sendId: string) =>
    until('an end of the receipts', async () => {
      const left = 'select from receipts join attempts a using (message_id) where a.send_id = $1';
      return (await t.sql(left, [sendId])).length === 0;
    });
  const stops = () =>
    t.sql<{ id: string; source: string }>(
      `select r.id, t.source from senders r join stops t on t.subject = stop_subject(t.scope, r.id, r.business_account_id)
       where t.cause = 'fault' and t.scope = 'sender' and t.until > now() and t.failures > 0 order by r.id`,
    );

  it.each([
    ['131042', 131042, 'business', 'config'],
    ['131048', 131048, null, 'sender'],
  ] as const)(
    '%s: goes out by another sender, and the faulty one stops, by its receipt',
    async (_, code, scope, kind) => {
      failsLate(code);
      await only(first);
      const before = await t.count('onecode_configuration_faults_total', { scope: scope ?? '' });
      const caller = await t.newCaller();
      const id = await t.send(caller);
      const lost = await t.until(id, ({ lost_at }) => lost_at !== null);
      expect(lost).toMatchObject({ status: 'sent', from_number: first.number, failed_at: null });
      await resumeSender(t.database, TEST_ACTOR, second.id);

      const row = await t.until(id, 'delivered');
      expect(row).toMatchObject({
        from_number: second.number,
        attempts: 1,
        lost_at: null,
        sealed_code: null,
      });
      expect(row.sent_at!.getTime()).toBeGreaterThanOrEqual(lost.lost_at!.getTime());
      expect(await t.attempts(id)).toMatchObject([
        { outcome: kind, error_code: code, sender_id: first.id },
        { outcome: 'accepted', sender_id: second.id },
      ]);
      const calls = t.calls(id);
      expect(calls).toHaveLength(2);
      expect(await stops()).toMatchObject([{ id: first.id, source: 'receipt' }]);
      if (scope !== null)
        expect(await t.count('onecode_configuration_faults_total', { scope })).toBe(before + 1);
      expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    },
  );

  it('stops no sender where it names another number, recipient or message', async () => {
    await only(first);
    let nth = 0;
    const report = async (change: { phoneNumberId?: string; recipient?: string; messageId?: string }) => {
      // One of its own: a message that was lost goes out again, and would use up the rule of the next.
      const recipient = `+551198765031${nth++}`;
      t.simulator.rules.add({ recipient, fault: { acceptThenDrop: true } });
      const id = await t.send(await t.newCaller(), { recipient });
      await t.until(id, 'sent');
      const [send] = await t.sql<{ recipient: string }>('select recipient from sends where id = $1', [id]);
      const status = {
        id: change.messageId ?? (await t.messageId(id)),
        status: 'failed',
        timestamp: String(Math.floor(Date.now() / 1000)),
        recipient_id: change.recipient ?? send!.recipient.slice(1),
        errors: [{ code: 131042 }],
        biz_opaque_callback_data: `${id}.1`,
      };
      const metadata = { phone_number_id: change.phoneNumberId ?? first.phoneNumberId };
      const entry = [{ id: '1', changes: [{ field: 'messages', value: { metadata, statuses: [status] } }] }];
      expect(await t.simulator.postWebhook({ object: 'whatsapp_business_account', entry })).toBe(200);
      await until('a try', async () => (await t.sql('select from receipts where tries = 0')).length === 0);
    };
    await report({ phoneNumberId: '7' });
    await report({ recipient: '5511900000000' });
    await report({ messageId: 'wamid.another' });
    expect(await stops()).toEqual([]);
    await report({});
    expect(await stops()).toMatchObject([{ id: first.id }]);
    await t.sql('truncate receipts, stops');
  });

  it('to a fault of the business account stops all of its senders, and no other', async () => {
    await t.sql('update senders set business_account_id = $1', ['11']);
    const third = await buildSender(t.database);
    await t.sql('update senders set business_account_id = $2 where id = $1', [third.id, '22']);
    failsLate(131042);
    failsLate(131042, second);
    const ids: string[] = [];
    const caller = await t.newCaller('live', { credits: 20 });
    for (let nth = 0; nth < 20; nth++) ids.push(await t.send(caller));
    for (const id of ids) expect(await t.until(id, 'delivered')).toMatchObject({ from_number: third.number });
    // The first to meet it stops both: the other one may have sent nothing.
    const stopped = await t.sql<{ subject: string }>(
      `select subject from stops where cause = 'fault' and scope = 'business' and until > now()`,
    );
    expect(stopped).toEqual([{ subject: '11' }]);
  });

  it('of an account’s own sender stops that sender alone: the account may have signed it', async () => {
    const caller = await t.newCaller();
    const owner = { accountId: caller.accountId, applicationIds: [] };
    const own = await buildSender(t.database, { owner });
    await changeAccount(t.database, TEST_ACTOR, caller.accountId, { senders: 'own' });
    await t.sql('update senders set business_account_id = $1', ['11']);
    failsLate(131042, own);
    await t.send(caller);
    const begun = await until('a stop', async () => {
      const found = await t.sql(
        `select scope, subject from stops where cause = 'fault' and until > now() and failures > 0`,
      );
      return found.length > 0 && found;
    });
    expect(begun).toEqual([{ scope: 'sender', subject: own.id }]);
  });

  it('waits for a sender while none can serve, and fails when its code expires, with its unit', async () => {
    failsLate(131042);
    await only(first);
    const caller = await t.newCaller();
    const id = await t.send(caller);
    const row = await t.until(id, ({ lost_at, awaiting_sender }) => lost_at !== null && awaiting_sender);
    expect(row).toMatchObject({ status: 'sent', due_at: row.expires_at });
    await t.age(id, 600);
    await t.sql('update sends set lost_at = created_at where id = $1', [id]);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      lost_at: null,
      sealed_code: null,
    });
    expect(await t.units(caller.accountId)).toMatchObject({ returned: ['free_quota'] });
  });

  it('does not stop a sender again for a message that was begun before it was stopped and resumed', async () => {
    failsLate(131042);
    await only(first);
    const caller = await t.newCaller('live', { credits: 2 });
    const one = await t.send(caller);
    await t.until(one, ({ lost_at }) => lost_at !== null);
    const [attempt] = await t.attempts(one);
    await resumeSender(t.database, TEST_ACTOR, first.id);
    await recordSenderFailure(
      t.context,
      { senderId: first.id, startedAt: attempt!.started_at, source: 'receipt' },
      {} as never,
      { kind: 'sender', errorCode: 131048, reason: 'limited' },
    );
    expect(await stops()).toEqual([]);
  });

  it('stops nobody where a message that was begun later was delivered, or the message itself', async () => {
    await only(first);
    const caller = await t.newCaller('live', { credits: 20 });
    t.simulator.rules.add({ recipient: '+5511987650300', fault: { acceptThenDrop: true }, times: 1 });
    const lost = await t.send(caller, { recipient: '+5511987650300' });
    await t.until(lost, 'sent');
    const delivered = await t.send(caller, { recipient: '+5511987650301' });
    await t.until(delivered, 'delivered');
    for (const id of [lost, delivered]) {
      const messageId = await t.messageId(id);
      await t.simulator.postReceipt({ messageId, status: 'failed', code: 131042 });
      await receiptsEnd(id);
      expect((await stopsOf(first)).filter(({ scope }) => scope === 'sender')).toEqual([]);
    }
    // The message was lost all the same, and goes out again.
    await t.until(lost, 'delivered');
  });

  it('is not proved over by a receipt for a message that was begun before', async () => {
    await only(first);
    const caller = await t.newCaller('live', { credits: 5 });
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const before = await t.send(caller, { recipient: '+5511987650302' });
    await t.until(before, 'sent');
    failsLate(131042);
    await t.send(caller);
    const isStopped = async () =>
      (await stopsOf(first)).some(({ scope, cause }) => scope === 'sender' && cause === 'fault');
    await until('a stop', isStopped);
    await endStops(t.database);
    await t.simulator.postReceipt({ messageId: await t.messageId(before), status: 'read' });
    await t.until(before, 'read');
    await receiptsEnd(before);
    expect(await isStopped()).toBe(true);
  });

  it('a sender that a receipt stopped sends single messages until a receipt proves it healthy', async () => {
    failsLate(131048);
    await only(first);
    const caller = await t.newCaller('live', { credits: 5 });
    const id = await t.send(caller);
    await t.until(id, ({ awaiting_sender }) => awaiting_sender);
    t.simulator.rules.clear();
    await endStops(t.database);
    await t.until(id, 'delivered');
    await until('a recovered sender', async () => (await stopsOf(first)).length === 0);
  });
});

describe('the sender pool', () => {
  it('answers every send, also while a fault makes it forget a sender', async () => {
    const { context, database } = t;
    const faulty = await buildSender(database);
    await buildSender(database);
    for (let round = 0; round < 20; round++) {
      const sender = (await listSenderDetails(database)).find(({ id }) => id === faulty.id)!;
      const fault = { kind: 'sender', errorCode: 131048, reason: 'limited' } as const;
      const asked = Array.from({ length: 20 }, async (_, n) => {
        // Staggered, so that some ask at every moment of the fault.
        for (let turn = 0; turn < n; turn++) await Promise.resolve();
        return context.senders.open(faulty.id);
      });
      await expect(
        Promise.all([
          ...asked,
          recordSenderFailure(
            context,
            { senderId: sender.id, startedAt: new Date(), source: 'answer' },
            { country: 'BR' } as Send,
            fault,
          ),
        ]),
      ).resolves.toBeDefined();
      await resumeSender(database, TEST_ACTOR, faulty.id);
    }
  });
});
