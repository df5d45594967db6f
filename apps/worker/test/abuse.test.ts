import type { IdentityCheck } from '@onecode/domain';
import { changeAccount, changeApplication } from '@onecode/store/accounts';
import { findSendDetails } from '@onecode/store/reports';
import { eraseRecipient, forgetIdentity, recordIdentity } from '@onecode/store/sends';
import { recipientKeysOf, TEST_ACTOR, until, type TestCaller } from '@onecode/testing';
import { watchBreakers } from '../src/cleanUp.js';
import { useWorker } from './testWorker.js';

const t = useWorker();

it('a breaker does not trip while it is off, and trips once after it is on if an account has no verified codes', async () => {
  const caller = await t.newCaller('live', { credits: 10 });
  const ids = await Promise.all(Array.from({ length: 10 }, () => t.send(caller)));
  for (const id of ids) {
    await t.until(id, 'delivered');
    await t.age(id, 300);
  }
  // Codes that a busy machine sends late do not count. Ids have the time of the creation.
  await t.sql(
    `update sends set sent_at = created_at, id = overlay(id::text placing left(first_id_at(created_at)::text, 13) from 1)::uuid
     where account_id = $1`,
    [caller.accountId],
  );
  const trips = () =>
    t.sql('select country, tripped_at from breaker_trips where account_id = $1', [caller.accountId]);
  await watchBreakers(t.context);
  expect(await trips()).toEqual([]);
  const rule = { unverifiedPercent: 90, minSends: 10 };
  await changeAccount(t.database, TEST_ACTOR, caller.accountId, { breaker: rule });
  await watchBreakers(t.context);
  const tripped = await trips();
  expect(tripped).toMatchObject([{ country: 'BR' }]);
  for (let n = 0; n < 2; n++) await watchBreakers(t.context);
  expect(await trips()).toEqual(tripped);
});

it('a denial is stored with its send', async () => {
  const id = await t.send(t.caller);
  await t.until(id, 'delivered');
  // The button below the message.
  expect(await t.simulator.reportMessage(await t.messageId(id))).toBe(true);
  const isDenied = async () =>
    (await t.sql('select from sends where id = $1 and denied_at is not null', [id])).length === 1;
  await until('a denied send', isDenied);
});

const RECIPIENT = '+14155550133';

describe('a number with a new owner', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    const { db, simulator } = t;
    caller = await t.newCaller('live', { credits: 20 });
    for (const { id } of await db.sql<{ id: string }>('select phone_number_id as id from senders'))
      await simulator.business.changeSender(id, { identityKeyCheck: true });
  });

  const check = async (identityCheck: IdentityCheck, { applicationId } = caller): Promise<void> => {
    await changeApplication(t.db.database, TEST_ACTOR, applicationId, { identityCheck });
  };
  const send = () => t.send(caller, { recipient: RECIPIENT });
  const verify = (id: string) =>
    t.sql(
      `update sends set verification = 'verified', verified_at = now(), version = version + 1 where id = $1`,
      [id],
    );
  /** Creates a send and waits until it is delivered. @returns its id */
  const delivered = async (): Promise<string> => {
    const id = await send();
    await t.until(id, 'delivered');
    await until('handled receipts', async () => (await t.sql('select from provider_reports')).length === 0);
    return id;
  };
  const hashes = (id: string): (string | undefined)[] =>
    t.calls(id).map(({ body }) => JSON.parse(body).recipient_identity_key_hash);
  const changedAt = async (id: string): Promise<Date | null> =>
    (await findSendDetails(t.database, caller.accountId, id))!.identityChangedAt;
  const changeHands = () => t.simulator.business.changeHands(RECIPIENT);
  const kept = () =>
    t.sql('select send_id from send_identities where application_id = $1', [caller.applicationId]);

  it('is ignored while the check is off', async () => {
    await verify(await delivered());
    changeHands();
    const id = await delivered();
    expect([await kept(), hashes(id), await changedAt(id)]).toEqual([[], [undefined], null]);
  });

  it('is shown on the timeline while the check is set to observe, and the code is sent', async () => {
    await check('observe');
    await verify(await delivered());
    const same = await delivered();
    expect(await changedAt(same)).toBeNull();
    changeHands();
    const id = await delivered();
    expect(hashes(id)).toEqual([undefined]);
    expect(await changedAt(id)).toEqual(expect.any(Date));
    // The verification makes the new owner the known one.
    await verify(id);
    expect(await changedAt(await delivered())).toBeNull();
  });

  it('gets no code while the check is enforced, until the number is trusted again', async () => {
    await check('enforce');
    const first = await delivered();
    // Without a verified code, no owner is known yet.
    expect(hashes(await delivered())).toEqual([undefined]);
    await verify(first);
    const hash = t.simulator.business.identityOf(RECIPIENT);
    expect(hashes(await delivered())).toEqual([hash]);

    changeHands();
    const refused = await send();
    expect(await t.until(refused, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      encrypted_code: null,
    });
    expect(hashes(refused)).toEqual([hash]);
    expect(await t.attempts(refused)).toMatchObject([{ outcome: 'recipient', error_code: 137000 }]);
    expect((await t.units(caller.accountId)).returned).toHaveLength(1);

    const forgotten = await forgetIdentity(
      t.database,
      TEST_ACTOR,
      caller.applicationId,
      recipientKeysOf(RECIPIENT),
    );
    expect(forgotten).toBeGreaterThan(0);
    const again = await delivered();
    await verify(again);
    expect(hashes(again)).toEqual([undefined]);
    expect(hashes(await delivered())).toEqual([t.simulator.business.identityOf(RECIPIENT)]);
  });

  it('gets its first code after the former owner was erased, even if a late receipt follows', async () => {
    await check('enforce');
    const former = await delivered();
    await verify(former);
    await eraseRecipient(
      t.database,
      TEST_ACTOR,
      recipientKeysOf(RECIPIENT),
      caller.accountId,
      'asked for it',
    );
    await t.simulator.postReceipt({ messageId: await t.messageId(former), status: 'read' });
    await t.until(former, 'read');
    expect(await kept()).toEqual([]);
    changeHands();
    expect(hashes(await delivered())).toEqual([undefined]);
  });

  it('has no identity stored by a receipt that was read before the erasure of the number', async () => {
    await check('observe');
    const id = await delivered();
    const erasing = await t.db.connect();
    await erasing.query('begin');
    await erasing.query(
      `update sends set recipient = '+1 ••••• 0133', version = version + 1 where id = '${id}'`,
    );
    await erasing.query(`delete from send_identities where send_id = '${id}'`);
    const recording = recordIdentity(t.database, id, 'an identity');
    await until('the wait for the erasure', async () => (await t.db.countLockWaits()) > 0);
    await erasing.query('commit');
    await recording;
    expect(await kept()).toEqual([]);
    await erasing.end();
  });

  it('is checked separately for each application', async () => {
    await check('enforce');
    await verify(await delivered());
    changeHands();
    const other = await t.newCaller('live', { credits: 1 });
    await check('enforce', other);
    const id = await t.send(other, { recipient: RECIPIENT });
    await t.until(id, 'delivered');
    expect(hashes(id)).toEqual([undefined]);
    const identity = () => t.sql('select has_changed from send_identities where send_id = $1', [id]);
    await until('its identity', async () => (await identity()).length > 0);
    expect(await identity()).toEqual([{ has_changed: false }]);
  });
});
