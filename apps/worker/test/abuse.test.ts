import type { IdentityCheck } from '@onecode/domain';
import { createSend, findSendDetails, forgetIdentity, setBreaker, setIdentityCheck } from '@onecode/store';
import { newSend, recipientKeysOf, TEST_ACTOR, until, type TestCaller } from '@onecode/testing';
import { watchBreakers } from '../src/breaker.js';
import { createIdentities } from '../src/identities.js';
import { useWorker } from './testWorker.js';

const RULE = { unverifiedPercent: 90, minSends: 10 };
const SENDS = 20;

const t = useWorker();

describe('the breaker', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    await t.sql('update accounts set breaker_unverified_percent = null, breaker_min_sends = null');
    caller = await t.newCaller('live', { credits: 1000 });
  });

  /** Sends that were delivered five minutes ago. @param verified the number of verified ones */
  async function sent(country: string, verified: number): Promise<void> {
    const { db } = t;
    const ids: string[] = [];
    for (let n = 0; n < SENDS; n++) {
      const made = newSend(caller, { recipient: `+55119876543${n + 10}` });
      const creation = await createSend(db.database, { ...made, country });
      expect(creation.outcome).toBe('created');
      ids.push(made.id);
      await t.enqueue('live', made.id);
    }
    await until('all sends delivered', async () => {
      const [row] = await db.sql<{ count: number }>(
        `select count(*)::integer from sends where id = any ($1) and status = 'delivered'`,
        [ids],
      );
      return row!.count === SENDS;
    });
    await db.sql(
      `update sends set verification = case when ordinal <= $2 then 'verified' else 'pending' end,
         verified_at = case when ordinal <= $2 then created_at end
       from unnest($1::uuid[]) with ordinality as given (id, ordinal) where sends.id = given.id`,
      [ids, verified],
    );
    await db.sql(
      `update sends set created_at = created_at - t.back, expires_at = expires_at - t.back, sent_at = sent_at - t.back,
         delivered_at = delivered_at - t.back, verified_at = verified_at - t.back
       from (select interval '5 min' as back) t where id = any ($1)`,
      [ids],
    );
  }
  const rounds = async (): Promise<void> => {
    for (let n = 0; n < 3; n++) await watchBreakers(t.context);
  };
  const trips = (): Promise<number> => t.count('onecode_breaker_trips_total');
  const toCountry = async (country: string): Promise<string> =>
    (await createSend(t.database, { ...newSend(caller), country })).outcome;

  it('trips for nobody until it is set, and then once, for the country with unverified sends', async () => {
    const before = await trips();
    await sent('NG', 0);
    await sent('BR', SENDS);
    await rounds();
    expect([await toCountry('NG'), await trips()]).toEqual(['created', before]);
    await setBreaker(t.database, TEST_ACTOR, caller.accountId, RULE);
    await rounds();
    expect([await toCountry('NG'), await toCountry('BR')]).toEqual(['rate_limited', 'created']);
    expect(await trips()).toBe(before + 1);
  });
});

describe('a person who did not request the code', () => {
  /** Presses the button below a send's message, as its recipient would. */
  const deny = async (sendId: string): Promise<void> => {
    expect(await t.simulator.reportMessage(await t.messageId(sendId))).toBe(true);
  };

  const denying = async ({ applicationId }: TestCaller): Promise<number> =>
    (await t.sql('select from denials where application_id = $1', [applicationId])).length;

  it('is counted by application and country, once', async () => {
    const labels = { application_id: t.caller.applicationId, country: 'BR' };
    const id = await t.send(t.caller);
    await t.until(id, 'delivered');
    await deny(id);
    await until('a counted denial', async () => (await t.count('onecode_denials_total', labels)) === 1);
    await t.sweep();
    expect(await t.count('onecode_denials_total', labels)).toBe(1);
    expect(await t.sql('select application_id, country from denials where send_id = $1', [id])).toEqual([
      { application_id: t.caller.applicationId, country: 'BR' },
    ]);
  });

  it('weighs ten unverified sends in the breaker, where there is that much traffic', async () => {
    const caller = await t.newCaller('live', { credits: 10 });
    const rule = { unverifiedPercent: 90, minSends: 5 };
    await setBreaker(t.database, TEST_ACTOR, caller.accountId, rule);
    const past = async (recipient: string, denied: boolean): Promise<void> => {
      const id = await t.send(caller, { recipient });
      await t.until(id, 'delivered');
      if (denied) await deny(id);
      else
        await t.sql(`update sends set verification = 'verified', verified_at = created_at where id = $1`, [
          id,
        ]);
      await t.age(id, 300);
    };
    for (const last of ['1', '2', '3', '4']) await past(`+551198765430${last}`, true);
    await until('counted denials', async () => (await denying(caller)) === 4);
    const before = await t.count('onecode_breaker_trips_total', { country: 'BR' });
    await watchBreakers(t.context);
    expect(await t.count('onecode_breaker_trips_total', { country: 'BR' })).toBe(before);
    await past('+5511987654305', false);
    await until('a tripped breaker', async () => {
      await watchBreakers(t.context);
      return (await t.count('onecode_breaker_trips_total', { country: 'BR' })) === before + 1;
    });
  });
});

const RECIPIENT = '+14155550133';

describe('a number that changes hands', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    const { db, simulator } = t;
    caller = await t.newCaller('live', { credits: 20 });
    for (const { id } of await db.sql<{ id: string }>('select phone_number_id as id from senders'))
      await simulator.business.changeSender(id, { identityKeyCheck: true });
  });

  const check = async (identityCheck: IdentityCheck): Promise<void> => {
    const { database } = t.db;
    await setIdentityCheck(database, TEST_ACTOR, caller.applicationId, identityCheck);
    t.context.identities = createIdentities(database);
  };
  const send = () => t.send(caller, { recipient: RECIPIENT });
  const verify = (id: string) =>
    t.sql(
      `update sends set verification = 'verified', verified_at = now(), version = version + 1 where id = $1`,
      [id],
    );
  /** A code that reached its recipient. @returns the send's id */
  const delivered = async (): Promise<string> => {
    const id = await send();
    await t.until(id, 'delivered');
    await until('handled receipts', async () => {
      const rows = await t.sql('select 1 from receipts');
      return rows.length === 0;
    });
    return id;
  };
  const hashes = (id: string): (string | undefined)[] =>
    t.calls(id).map(({ body }) => JSON.parse(body).recipient_identity_key_hash);
  const changedAt = async (id: string): Promise<Date | null> =>
    (await findSendDetails(t.database, caller.accountId, id))!.identityChangedAt;
  const changes = () => t.count('onecode_identity_changes_total', { application_id: caller.applicationId });
  const changeHands = () => t.simulator.business.changeHands(RECIPIENT);
  const kept = () =>
    t.sql('select send_id from send_identities where application_id = $1', [caller.applicationId]);

  it('is nobody’s business while the check is off', async () => {
    await verify(await delivered());
    changeHands();
    const id = await delivered();
    expect([await kept(), hashes(id), await changedAt(id)]).toEqual([[], [undefined], null]);
  });

  it('is said on the timeline and counted when it is observed, and the code is sent', async () => {
    await check('observe');
    await verify(await delivered());
    const same = await delivered();
    expect([await changedAt(same), await changes()]).toEqual([null, 0]);
    changeHands();
    const id = await delivered();
    expect(hashes(id)).toEqual([undefined]);
    expect(await changedAt(id)).toEqual(expect.any(Date));
    expect(await changes()).toBe(1);
  });

  it('gets no code when it is enforced, until the number is trusted again', async () => {
    await check('enforce');
    const first = await delivered();
    // Not verified: nobody is known yet.
    expect(hashes(await delivered())).toEqual([undefined]);
    await verify(first);
    const hash = t.simulator.business.identityOf(RECIPIENT);
    expect(hashes(await delivered())).toEqual([hash]);

    changeHands();
    const refused = await send();
    expect(await t.until(refused, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
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

  it('is checked for each application alone', async () => {
    await check('enforce');
    await verify(await delivered());
    changeHands();
    const other = await t.newCaller('live', { credits: 1 });
    const id = await t.send(other, { recipient: RECIPIENT });
    await t.until(id, 'delivered');
    expect(hashes(id)).toEqual([undefined]);
  });
});
