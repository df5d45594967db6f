import type { Send } from '@onecode/domain';
import type { Fault } from '@onecode/simulator';
import { changeAccount } from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { noteMailSender, queueSenderBlockedAlerts, setEventWebhook } from '@onecode/store/mails';
import { editSender, listSenders, pauseSender, resumeSender, type Sender } from '@onecode/store/senders';
import { createSend } from '@onecode/store/sends';
import { buildSender, newSend, TEST_ACTOR, TEST_SECRET_KEY, until } from '@onecode/testing';
import { recordSenderFailure, recordSenderSuccess } from '../src/senders.js';
import { useWorker } from './testWorker.js';

const NUMBER_NOT_REGISTERED = 133010;
const TOKEN_EXPIRED = 190;
const COUNTRY_FORBIDDEN = 130497;
const TEMPLATE_PAUSED = 132015;

/** Returns the blocks of a sender, including those that allow single trial messages. */
const blocksOf = async ({ id }: Pick<Sender, 'id'>) =>
  (await listSenders(t.database)).find((sender) => sender.id === id)!.blocks;
// With an attempt limit of one, a send continues only after a fault that used no attempt.
const t = useWorker({ senders: 0, env: { DELIVERY_ATTEMPTS: '1' } });

describe('a fault of the sender', () => {
  it('moves the send to another sender, and blocks the first one', async () => {
    const senders = [await buildSender(t.database), await buildSender(t.database)];
    t.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 1 });
    const pausesBefore = await t.count('onecode_sender_failures_total', { scope: 'sender' });
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
    expect(await t.blocks(faulty!.id)).toMatchObject([
      { failures: 1, errorCode: NUMBER_NOT_REGISTERED, source: 'answer' },
    ]);
    expect(await t.blocks(able!.id)).toEqual([]);
    expect((await t.count('onecode_sender_failures_total', { scope: 'sender' })) - pausesBefore).toBe(1);
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('ends with a new token, which every worker then uses', async () => {
    const sender = await buildSender(t.database);
    t.simulator.business.changeToken('test-token', { valid: false });
    const id = await t.send(await t.newCaller());
    await t.until(id, ({ phase }) => phase === 'waiting');
    // Sends of other senders keep the former token in the cache.
    await t.context.openSender(sender.id);
    const secrets = { keyring: TEST_SECRET_KEY, token: 'EAAGnew' };
    await editSender(t.database, TEST_ACTOR, sender.id, { secrets });
    await t.until(id, 'delivered');
    expect(await t.attempts(id)).toMatchObject([
      { outcome: 'config', error_code: TOKEN_EXPIRED },
      { outcome: 'accepted' },
    ]);
  });

  it('begins again if a sender fails right after its resumption, which the cache does not show yet', async () => {
    const { id } = await buildSender(t.database);
    const send = { id: newId(), locale: 'en', country: 'BR' } as Send;
    const fault = { kind: 'config', scope: 'token', errorCode: TOKEN_EXPIRED, reason: 'expired' } as const;
    const fail = (context: typeof t.context) =>
      recordSenderFailure(context, { senderId: id, startedAt: new Date(), source: 'answer' }, send, fault);
    await fail(t.context);
    const blocked = await until('the block in the cache', async () => {
      const sender = await t.context.openSender(id);
      return sender.blocks.length > 0 && sender;
    });
    await resumeSender(t.database, TEST_ACTOR, id);
    expect(await t.blocks(id)).toEqual([]);
    await fail({ ...t.context, openSender: async () => blocked });
    expect(await t.blocks(id)).toMatchObject([{ errorCode: TOKEN_EXPIRED }]);
  });

  it('lets the send wait until the sender is resumed if there is no other sender', async () => {
    const sender = await buildSender(t.database);
    t.simulator.rules.add({ fault: { error: TOKEN_EXPIRED }, times: 1 });
    const caller = await t.newCaller();
    const id = await t.send(caller);
    expect(await t.until(id, (row) => row.phase === 'waiting')).toMatchObject({
      status: 'sending',
      attempts: 0,
      failed_at: null,
    });
    await resumeSender(t.database, TEST_ACTOR, sender.id);
    await t.until(id, 'delivered');
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('that needs an operator is reported to the owner of the sender, at most once in six hours', async () => {
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
    const mailRecipients = async () => {
      await Promise.all([queueSenderBlockedAlerts(t.database), queueSenderBlockedAlerts(t.database)]);
      return (
        await t.sql<{ recipient: string }>(`select recipient from outbox where kind ~ '^sender.blocked'`)
      ).map(({ recipient }) => recipient);
    };
    const id = await t.send(caller);
    await until('a block', async () => (await t.blocks(own.id)).length === 1);
    const ofOwner = [accountId, 'admin@example.com'];
    expect((await mailRecipients()).toSorted()).toEqual(ofOwner.toSorted());
    await t.endBlocks();
    await until('a longer one', async () => (await t.blocks(own.id))[0]?.failures === 2);
    expect((await mailRecipients()).toSorted()).toEqual(ofOwner.toSorted());
    await t.sql(`update outbox set created_at = created_at - interval '6 hours'`);
    expect((await mailRecipients()).toSorted()).toEqual([...ofOwner, ...ofOwner].toSorted());
    expect((await mailRecipients()).toSorted()).toEqual([...ofOwner, ...ofOwner].toSorted());
    const [event] = await t.sql<{ facts: object }>('select facts from outbox where account_id = $1', [
      accountId,
    ]);
    expect(event!.facts).toMatchObject({
      type: 'sender.blocked',
      data: { account_id: accountId, sender_id: own.id, language: null, country: null },
    });
    expect(JSON.stringify(event!.facts)).not.toContain(own.number.slice(1));
    await t.send(await t.newCaller());
    await until('a block of the shared one', async () => (await t.blocks(shared.id)).length === 1);
    expect(await mailRecipients()).toContain('staff@example.com');
    await noteMailSender(t.database, null);
    await t.endBlocks();
    await t.until(id, 'delivered');
  });

  it.each([
    [
      'a state that Meta reports',
      `cause = 'provider', source = 'provider', is_configuration = false, until = null`,
      1,
    ],
    ['a limit', `cause = 'limit', is_configuration = false`, 0],
    ['a fault that may end without an operator', `is_configuration = false`, 0],
    ['a fault that has ended', `failures = 0`, 0],
    ['a fault of the portfolio', `scope = 'portfolio'`, 0],
    ['a fault that started two hours ago', `since = since - interval '2 hours'`, 0],
  ])("is mailed to the account's administrators only if it needs them: %s", async (_, change, mails) => {
    await noteMailSender(t.database, 'codes@onecode.example');
    const { accountId } = await t.newCaller();
    const userId = newId();
    const email = `${userId}@example.com`;
    await t.database.prisma.user.create({ data: { id: userId, name: 'Ana', email } });
    await t.database.prisma.member.create({ data: { accountId, userId, role: 'admin' } });
    const { id } = await buildSender(t.database, { owner: { accountId, applicationIds: [] } });
    await t.sql(
      `insert into sender_blocks (cause, scope, subject, only_for, source, reason, is_configuration, until)
       values ('fault', 'sender', $1, 'en', 'answer', 'PAUSED', true, now())`,
      [id],
    );
    await t.sql(`update sender_blocks set ${change} where subject = $1`, [id]);
    await queueSenderBlockedAlerts(t.database);
    const queued = await t.sql('select facts from outbox where recipient = $1', [email]);
    expect(queued).toHaveLength(mails);
    if (mails > 0) expect(queued).toMatchObject([{ facts: { language: 'en', reason: 'PAUSED' } }]);
    await noteMailSender(t.database, null);
  });

  it('for one country blocks the sender for that country only', async () => {
    const [one, other] = [await buildSender(t.database), await buildSender(t.database)];
    t.simulator.rules.add({ fault: { error: COUNTRY_FORBIDDEN }, times: 1 });
    const id = await t.send(await t.newCaller());
    await t.until(id, 'delivered');
    const [blockedId, ableId] = (await t.attempts(id)).map(({ sender_id }) => sender_id);
    expect(new Set([blockedId, ableId])).toEqual(new Set([one.id, other.id]));
    expect(await t.blocks(blockedId!)).toMatchObject([{ onlyFor: 'BR', errorCode: COUNTRY_FORBIDDEN }]);

    // While the other sender is paused, a send to the blocked country waits until the block ends.
    await pauseSender(t.database, TEST_ACTOR, ableId!);
    const waiting = await t.send(await t.newCaller());
    await t.until(waiting, (row) => row.phase === 'waiting');
    await t.endBlocks();
    await t.until(waiting, 'delivered');
  });

  it('for a number without a country blocks no message to a country', async () => {
    const { id: senderId } = await buildSender(t.database);
    const recipient = '+881612345678';
    t.simulator.rules.add({ recipient, fault: { error: COUNTRY_FORBIDDEN } });
    const nowhere = { ...newSend(await t.newCaller(), { recipient }), country: 'ZZ' };
    await createSend(t.database, nowhere);
    await t.enqueue('live', nowhere.id);
    await t.until(nowhere.id, (row) => row.phase === 'waiting');
    expect(await t.blocks(senderId)).toMatchObject([{ onlyFor: 'ZZ', errorCode: COUNTRY_FORBIDDEN }]);
    await t.until(await t.send(await t.newCaller()), 'delivered');
  });

  it('of its template blocks the sender for that language only, until a message is sent', async () => {
    const { id: senderId } = await buildSender(t.database);
    const caller = await t.newCaller('live', { credits: 9 });
    t.simulator.rules.add({ fault: { error: TEMPLATE_PAUSED }, times: 1 });

    const english = await t.send(caller, { locale: 'en' });
    await t.until(english, (row) => row.phase === 'waiting');
    const block = { onlyFor: 'en', errorCode: TEMPLATE_PAUSED, source: 'answer', failures: 1 };
    expect(await t.blocks(senderId)).toMatchObject([block]);
    await t.until(await t.send(caller, { locale: 'pt-BR' }), 'delivered');
    expect(await t.blocks(senderId)).toMatchObject([block]);

    await t.endBlocks();
    await t.until(english, 'delivered');
    await until('no faults', async () => (await blocksOf({ id: senderId })).length === 0);
  });
});

describe('the provider’s error', () => {
  beforeEach(async () => {
    for (const _ of [1, 2]) await buildSender(t.database);
  });

  const coolingDown = async (): Promise<number> =>
    (
      await t.sql(
        `select from sender_blocks where cause = 'fault' and scope = 'sender' and only_for = '' and failures > 0`,
      )
    ).length;

  // `packages/whatsapp` tests the scope of every error, and `packages/domain` tests what each scope blocks.
  it.each([
    ['a missing permission', { error: 299, http: 403 }, 'token', 1],
    ['HTTP 401 without a code', { wrongBody: 'html', http: 401 }, 'token', 1],
    ['a missing template', { error: 132001 }, 'template', 0],
  ] as [string, Fault, string, number][])(
    '%s raises one alert for an operator, and another sender sends the message',
    async (_, fault, scope, blocked) => {
      const alertsBefore = await t.count('onecode_sender_failures_total', { scope });
      t.simulator.rules.add({ fault, times: 1 });
      const id = await t.send(await t.newCaller());
      expect(await t.until(id, 'delivered')).toMatchObject({ attempts: 1 });
      expect(await t.attempts(id)).toMatchObject([
        { outcome: 'config', error_code: fault.error ?? null },
        { outcome: 'accepted' },
      ]);
      expect(await coolingDown()).toBe(blocked);
      expect((await t.count('onecode_sender_failures_total', { scope })) - alertsBefore).toBe(1);
    },
  );

  it('131026 fails the send with an immediate refund', async () => {
    t.simulator.rules.add({ fault: { error: 131026 } });
    const caller = await t.newCaller('live', { freeQuota: 0, credits: 1 });
    const id = await t.send(caller);
    expect(await t.until(id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      encrypted_code: null,
    });
    expect(await t.attempts(id)).toMatchObject([{ outcome: 'recipient', error_code: 131026 }]);
    expect(await t.units(caller.accountId)).toEqual({ free_quota: 0, credits: 1, returned: ['credit'] });
    expect(await coolingDown()).toBe(0);
  });

  it('131009 fails this send with an alert, and blocks no other send', async () => {
    const alertsBefore = await t.count('onecode_sender_failures_total', { scope: 'request' });
    t.simulator.rules.add({ fault: { error: 131009 }, times: 1 });
    const caller = await t.newCaller('live', { credits: 1 });
    const id = await t.send(caller);
    expect(await t.until(id, 'failed')).toMatchObject({ failure_reason: 'rejected_by_provider' });
    expect(await t.attempts(id)).toMatchObject([{ outcome: 'config', error_code: 131009 }]);
    expect(await t.units(caller.accountId)).toMatchObject({ returned: ['free_quota'] });
    expect(await coolingDown()).toBe(0);
    await t.until(await t.send(caller), 'delivered');
    const alerts = await t.count('onecode_sender_failures_total', { scope: 'request' });
    expect(alerts - alertsBefore).toBe(1);
  });
});

describe('an accepted message that a receipt reports as failed', () => {
  let first: Sender;
  let second: Sender;
  beforeEach(async () => {
    first = await buildSender(t.database);
    second = await buildSender(t.database);
  });

  const failsLate = (code: number, sender = first) =>
    t.simulator.rules.add({ fault: { lateFailure: code }, sender: sender.phoneNumberId });
  /** Posts the receipt of a failure after the acceptance of the message is stored, and waits until the send has no sender. */
  const failAccepted = async (id: string, code: number) => {
    await t.until(id, 'sent');
    await t.simulator.postReceipt({ messageId: await t.messageId(id), status: 'failed', code });
    return t.until(id, ({ phase }) => phase === 'waiting');
  };
  const only = async (sender: Sender): Promise<void> => {
    const other = sender === first ? second : first;
    await pauseSender(t.database, TEST_ACTOR, other.id);
  };
  const blocks = () =>
    t.sql<{ id: string; source: string }>(
      `select r.id, t.source from senders r join sender_blocks t on t.subject = block_subject(t.scope, r.id, r.business_account_id, r.portfolio_id)
       where t.cause = 'fault' and t.scope = 'sender' and t.until > now() and t.failures > 0 order by r.id`,
    );

  it('is sent by another sender, and the receipt blocks the faulty sender', async () => {
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    await only(first);
    const before = await t.count('onecode_sender_failures_total', { scope: 'sender' });
    const caller = await t.newCaller();
    const id = await t.send(caller);
    const failed = await failAccepted(id, 131048);
    expect(failed).toMatchObject({ status: 'sent', from_number: first.number, failed_at: null });
    await resumeSender(t.database, TEST_ACTOR, second.id);

    const row = await t.until(id, 'delivered');
    expect(row).toMatchObject({
      from_number: second.number,
      attempts: 1,
      phase: 'done',
      encrypted_code: null,
    });
    expect(row.sent_at!.getTime()).toBeGreaterThanOrEqual(failed.sent_at!.getTime());
    expect(await t.attempts(id)).toMatchObject([
      { outcome: 'sender', error_code: 131048, sender_id: first.id },
      { outcome: 'accepted', sender_id: second.id },
    ]);
    expect(t.calls(id)).toHaveLength(2);
    expect(await blocks()).toMatchObject([{ id: first.id, source: 'receipt' }]);
    expect(await t.count('onecode_sender_failures_total', { scope: 'sender' })).toBe(before + 1);
    expect(await t.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('blocks no sender if the receipt names another number, recipient or message', async () => {
    await only(first);
    let nth = 0;
    const report = async (change: { phoneNumberId?: string; recipient?: string; messageId?: string }) => {
      // Each message has its own recipient. Otherwise a failed message, which is sent again, would use the rule of the next one.
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
        errors: [{ code: 131048 }],
        biz_opaque_callback_data: `${id}.1`,
      };
      const metadata = { phone_number_id: change.phoneNumberId ?? first.phoneNumberId };
      const entry = [{ id: '1', changes: [{ field: 'messages', value: { metadata, statuses: [status] } }] }];
      expect(await t.simulator.postWebhook({ object: 'whatsapp_business_account', entry })).toBe(200);
      await until(
        'a try',
        async () => (await t.sql('select from provider_reports where tries = 0')).length === 0,
      );
    };
    await report({ phoneNumberId: '7' });
    await report({ recipient: '5511900000000' });
    await report({ messageId: 'wamid.another' });
    expect(await blocks()).toEqual([]);
    await report({});
    expect(await blocks()).toMatchObject([{ id: first.id }]);
    await t.sql('truncate provider_reports, sender_blocks');
  });

  it('counts as a failure in a row, even if the message was reported as sent before', async () => {
    await only(first);
    const failures = () =>
      t.sql(`select failures from sender_blocks where cause = 'fault' and subject = $1`, [first.id]);
    // Also drops the next messages of the failed sends, which would show that the sender works.
    t.simulator.rules.add({ fault: { acceptThenDrop: true } });
    for (const expected of [1, 2]) {
      const id = await t.send(await t.newCaller());
      await t.until(id, 'sent');
      await t.simulator.postReceipt({ messageId: await t.messageId(id), status: 'sent' });
      await until(
        'an applied receipt',
        async () => (await t.sql('select from provider_reports')).length === 0,
      );
      await failAccepted(id, 131048);
      expect(await failures()).toEqual([{ failures: expected }]);
      await t.endBlocks();
    }
  });

  it.each([
    ['its own delivery', 0],
    ['the delivery of a message that was started later', 1],
  ])('blocks no sender if the same post reports %s', async (_, delivered) => {
    await only(first);
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 2 });
    const caller = await t.newCaller('live', { credits: 2 });
    const ids: string[] = [];
    for (const _ of [1, 2]) {
      const id = await t.send(caller);
      await t.until(id, 'sent');
      ids.push(id);
    }
    const statusOf = async (nth: number) => ({
      id: await t.messageId(ids[nth]!),
      biz_opaque_callback_data: `${ids[nth]}.1`,
      timestamp: String(Math.floor(Date.now() / 1000)),
    });
    const statuses = [
      { ...(await statusOf(0)), status: 'failed', errors: [{ code: 131048 }] },
      { ...(await statusOf(delivered)), status: 'delivered' },
    ];
    const entry = [{ id: '1', changes: [{ field: 'messages', value: { statuses } }] }];
    expect(await t.simulator.postWebhook({ object: 'whatsapp_business_account', entry })).toBe(200);
    // After the later delivery, the code of the failed message is sent again.
    await t.until(ids[0]!, 'delivered');
    expect(await blocks()).toEqual([]);
  });

  it('because of the business account blocks all senders of the account, and no other senders', async () => {
    await t.sql(`update senders set business_account_id = '11'`);
    const other = await buildSender(t.database, { businessAccountId: '22' });
    for (const { id } of [second, other]) await pauseSender(t.database, TEST_ACTOR, id);
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const id = await t.send(await t.newCaller());
    await failAccepted(id, 131042);
    // Not `resumeSender`, which would also end the fault.
    await t.sql(`delete from sender_blocks where cause = 'operator'`);
    expect(await t.until(id, 'delivered')).toMatchObject({ from_number: other.number });
    const blocked = await t.sql(
      `select subject from sender_blocks where cause = 'fault' and scope = 'business' and until > now()`,
    );
    expect(blocked).toEqual([{ subject: '11' }]);
  });

  it('after it was held creates one block for all senders of the portfolio, and for no other sender', async () => {
    await t.sql(`update senders set business_account_id = '51', portfolio_id = '501'`);
    const other = await buildSender(t.database);
    const owners = [
      [first, '51', '501'],
      [second, '52', '501'],
      [other, '53', '502'],
    ] as const;
    for (const [{ id }, ...ids] of owners)
      await t.sql('update senders set business_account_id = $2, portfolio_id = $3 where id = $1', [
        id,
        ...ids,
      ]);
    for (const { id } of [second, other]) await pauseSender(t.database, TEST_ACTOR, id);
    t.simulator.rules.add({
      fault: { messageStatus: 'held_for_quality_assessment', acceptThenDrop: true },
      times: 1,
    });
    const id = await t.send(await t.newCaller());
    await failAccepted(id, 135000);
    const attempts = await t.sql(
      'select outcome, error_code, message_status from attempts where send_id = $1',
      [id],
    );
    expect(attempts).toEqual([
      { outcome: 'config', error_code: 135000, message_status: 'held_for_quality_assessment' },
    ]);
    await t.sql(`delete from sender_blocks where cause = 'operator'`);
    expect(await t.until(id, 'delivered')).toMatchObject({ from_number: other.number });
    const blocked = await t.sql(
      `select scope, subject from sender_blocks where cause = 'fault' and until > now() order by scope`,
    );
    expect(blocked).toEqual([
      { scope: 'portfolio', subject: '501' },
      { scope: 'sender', subject: first.id },
    ]);
    // Resuming any sender of a portfolio ends the portfolio's block.
    await resumeSender(t.database, TEST_ACTOR, second.id);
    expect(await blocksOf(second)).toEqual([]);
    await t.sql('truncate sender_blocks');
    await t.sql('update senders set portfolio_id = null');
  });

  it.each([
    ['a fault', 131042, '31'],
    ['a limit', 80007, '32'],
  ])(
    'because of %s of an account’s own sender blocks only that sender, because the account may have forged the receipt',
    async (_, code, businessAccountId) => {
      const caller = await t.newCaller();
      const owner = { accountId: caller.accountId, applicationIds: [] };
      const own = await buildSender(t.database, { owner });
      await changeAccount(t.database, TEST_ACTOR, caller.accountId, { senders: 'own' });
      await t.sql('update senders set business_account_id = $1', [businessAccountId]);
      failsLate(code, own);
      await t.send(caller);
      const begun = await until('a block', async () => {
        const found = await t.sql(
          `select t.scope, t.subject from sender_blocks t
             join senders r on t.subject = block_subject(t.scope, r.id, r.business_account_id, r.portfolio_id)
           where r.id = $1 and t.cause in ('fault', 'limit') and t.until > now() and t.failures > 0`,
          [own.id],
        );
        return found.length > 0 && found;
      });
      expect(begun).toEqual([{ scope: 'sender', subject: own.id }]);
    },
  );

  it('blocks no sender if a message that was started later was delivered', async () => {
    await only(first);
    const caller = await t.newCaller('live', { credits: 20 });
    t.simulator.rules.add({ recipient: '+5511987650300', fault: { acceptThenDrop: true }, times: 1 });
    const failed = await t.send(caller, { recipient: '+5511987650300' });
    await t.until(failed, 'sent');
    await t.until(await t.send(caller), 'delivered');
    await t.simulator.postReceipt({ messageId: await t.messageId(failed), status: 'failed', code: 131048 });
    // The message failed nevertheless, and is sent again.
    await t.until(failed, 'delivered');
    expect(await blocks()).toEqual([]);
  });

  it('blocks the business account despite success receipts of an account’s own sender, which may be forged', async () => {
    await only(first);
    const owner = await t.newCaller();
    await buildSender(t.database, { owner: { accountId: owner.accountId, applicationIds: [] } });
    await changeAccount(t.database, TEST_ACTOR, owner.accountId, { senders: 'own' });
    await t.sql('update senders set business_account_id = $1', ['11']);
    t.simulator.rules.add({ recipient: '+5511987650300', fault: { acceptThenDrop: true }, times: 1 });
    const failed = await t.send(await t.newCaller(), { recipient: '+5511987650300' });
    await t.until(failed, 'sent');
    await t.until(await t.send(owner), 'delivered');
    await t.simulator.postReceipt({ messageId: await t.messageId(failed), status: 'failed', code: 131042 });
    await until('a block', async () => (await blocksOf(first)).some(({ scope }) => scope === 'business'));
  });

  it('keeps its block despite receipts of a message that was started earlier', async () => {
    await only(first);
    const caller = await t.newCaller('live', { credits: 5 });
    t.simulator.rules.add({ fault: { acceptThenDrop: true }, times: 1 });
    const before = await t.send(caller);
    await t.until(before, 'sent');
    failsLate(131048);
    await t.send(caller);
    await until('a block', async () => (await blocks()).length > 0);
    await t.endBlocks();
    const messageId = await t.messageId(before);
    for (const status of ['delivered', 'read'] as const) {
      await t.simulator.postReceipt({ messageId, status });
      await t.until(before, status);
    }
    expect(await blocksOf(first)).toMatchObject([{ scope: 'sender', cause: 'fault' }]);
  });

  it('clears the block of its sender after a receipt reports a later delivery', async () => {
    failsLate(131048);
    await only(first);
    const caller = await t.newCaller('live', { credits: 5 });
    const id = await t.send(caller);
    await t.until(id, ({ phase }) => phase === 'waiting');
    t.simulator.rules.clear();
    await t.endBlocks();
    await t.until(id, 'delivered');
    await until('a recovered sender', async () => (await blocksOf(first)).length === 0);
  });
});

describe('a block of a business account', () => {
  it('is not cleared by receipts of an account’s own sender, because the account may have forged them', async () => {
    const { context, database } = t;
    const owner = { accountId: t.caller.accountId, applicationIds: [] };
    const own = await buildSender(database, { owner, businessAccountId: '33' });
    const shared = await buildSender(database, { businessAccountId: '33' });
    const send = { id: newId(), locale: 'en', country: 'BR' } as Send;
    const fault = { kind: 'config', scope: 'business', errorCode: 131042, reason: 'not paid' } as const;
    const met = { senderId: shared.id, startedAt: new Date(), source: 'receipt' } as const;
    await recordSenderFailure(context, met, send, fault);
    await t.endBlocks();
    const startedAt = new Date(Date.now() + 1_000);
    const failures = async ({ id }: Sender) => {
      await recordSenderSuccess(context, { senderId: id, startedAt, source: 'receipt' }, send);
      return t.sql(`select failures from sender_blocks where scope = 'business' and subject = '33'`);
    };
    expect(await failures(own)).toEqual([{ failures: 1 }]);
    expect(await failures(shared)).toEqual([{ failures: 0 }]);
  });
});

it('a block of a business account is reported even if its sender is already blocked', async () => {
  const { context } = t;
  const sender = await buildSender(t.database, { businessAccountId: '34' });
  const send = { id: newId(), locale: 'en', country: 'BR' } as Send;
  const message = { senderId: sender.id, startedAt: new Date(), source: 'answer' } as const;
  const reported = (scope: string) => t.count('onecode_sender_failures_total', { scope });
  const before = [await reported('token'), await reported('business')];
  const fail = (scope: 'token' | 'business') =>
    recordSenderFailure(context, message, send, { kind: 'config', scope, errorCode: 1, reason: 'a test' });
  await fail('token');
  for (let n = 0; n < 2; n++) await fail('business');
  expect([await reported('token'), await reported('business')]).toEqual(before.map((count) => count + 1));
});

describe('openSender', () => {
  it('finds a sender that was just added', async () => {
    for (const _ of [1, 2]) {
      const { id, number } = await buildSender(t.database);
      expect(await t.context.openSender(id)).toMatchObject({ id, number, token: 'test-token' });
    }
  });
});
