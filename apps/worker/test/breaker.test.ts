import { createSend, resetBreaker, setBreaker } from '@onecode/store';
import { newSend, TEST_ACTOR, type TestCaller } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { watchBreakers } from '../src/breaker.js';
import { useWorker } from './fixture.js';

const RULE = { unverifiedPercent: 90, minSends: 10 };
const SENDS = 20;

describe('the breaker', () => {
  const fixture = useWorker();
  let caller: TestCaller;
  beforeEach(async () => {
    await fixture.house.db.sql(
      'update accounts set breaker_unverified_percent = null, breaker_min_sends = null',
    );
    caller = await fixture.house.caller('live', { credits: 1000 });
  });

  /** Sends that the provider has taken, five minutes back. @param verified how many of them were verified */
  async function sent(country: string, verified: number): Promise<void> {
    const { db } = fixture.house;
    const ids: string[] = [];
    for (let n = 0; n < SENDS; n++) {
      const made = newSend(caller, { recipient: `+55119876543${n + 10}` });
      const creation = await createSend(db.database, { ...made, country });
      expect(creation.outcome).toBe('created');
      ids.push(made.id);
      await fixture.house.enqueue('live', made.id, 0);
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
    for (let n = 0; n < 3; n++) await watchBreakers(fixture.worker.context);
  };
  const trips = (): Promise<number> => fixture.worker.count('onecode_breaker_trips_total');
  const toCountry = async (country: string): Promise<string> =>
    (await createSend(fixture.house.db.database, { ...newSend(caller), country })).outcome;

  it('stops nobody until it is set, and then the pumped country alone, once', async () => {
    const before = await trips();
    await sent('NG', 0);
    await sent('BR', SENDS);
    await rounds();
    expect([await toCountry('NG'), await trips()]).toEqual(['created', before]);
    await setBreaker(fixture.house.db.database, TEST_ACTOR, caller.accountId, RULE);
    await rounds();
    expect([await toCountry('NG'), await toCountry('BR')]).toEqual(['rate_limited', 'created']);
    expect(await trips()).toBe(before + 1);
  });

  it('never stops an account of which enough codes are verified', async () => {
    const before = await trips();
    await setBreaker(fixture.house.db.database, TEST_ACTOR, caller.accountId, RULE);
    await sent('BR', 3);
    await rounds();
    expect([await toCountry('BR'), await trips()]).toEqual(['created', before]);
  });

  it('needs sends from after a reset to stop the account again', async () => {
    const { db } = fixture.house;
    const before = await trips();
    await setBreaker(db.database, TEST_ACTOR, caller.accountId, RULE);
    await sent('NG', 0);
    await rounds();
    await resetBreaker(db.database, TEST_ACTOR, caller.accountId);
    await rounds();
    expect([await toCountry('NG'), await trips()]).toEqual(['created', before + 1]);
    // The reset, too, lies back further than what follows it.
    await db.sql(
      `update breaker_trips set tripped_at = tripped_at - interval '1 h', open_until = open_until - interval '5 min'
       where account_id = $1`,
      [caller.accountId],
    );
    await sent('NG', 0);
    await rounds();
    expect([await toCountry('NG'), await trips()]).toEqual(['rate_limited', before + 2]);
  });
});
