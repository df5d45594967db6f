import { createSend, resetBreaker, setBreaker } from '@onecode/store';
import { newSend, TEST_ACTOR, until, type TestCaller } from '@onecode/testing';
import { watchBreakers } from '../src/breaker.js';
import { useWorker } from './testWorker.js';

const RULE = { unverifiedPercent: 90, minSends: 10 };
const SENDS = 20;

describe('the breaker', () => {
  const t = useWorker();
  let caller: TestCaller;
  beforeEach(async () => {
    await t.environment.db.sql(
      'update accounts set breaker_unverified_percent = null, breaker_min_sends = null',
    );
    caller = await t.environment.caller('live', { credits: 1000 });
  });

  /** Sends that were delivered five minutes ago. @param verified the number of verified ones */
  async function sent(country: string, verified: number): Promise<void> {
    const { db } = t.environment;
    const ids: string[] = [];
    for (let n = 0; n < SENDS; n++) {
      const made = newSend(caller, { recipient: `+55119876543${n + 10}` });
      const creation = await createSend(db.database, { ...made, country });
      expect(creation.outcome).toBe('created');
      ids.push(made.id);
      await t.environment.enqueue('live', made.id, 0);
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
    for (let n = 0; n < 3; n++) await watchBreakers(t.worker.context);
  };
  const trips = (): Promise<number> => t.worker.count('onecode_breaker_trips_total');
  const toCountry = async (country: string): Promise<string> =>
    (await createSend(t.environment.db.database, { ...newSend(caller), country })).outcome;

  it('trips for nobody until it is set, and then once, for the country with unverified sends', async () => {
    const before = await trips();
    await sent('NG', 0);
    await sent('BR', SENDS);
    await rounds();
    expect([await toCountry('NG'), await trips()]).toEqual(['created', before]);
    await setBreaker(t.environment.db.database, TEST_ACTOR, caller.accountId, RULE);
    await rounds();
    expect([await toCountry('NG'), await toCountry('BR')]).toEqual(['rate_limited', 'created']);
    expect(await trips()).toBe(before + 1);
  });

  it('never trips for an account with enough verified codes', async () => {
    const before = await trips();
    await setBreaker(t.environment.db.database, TEST_ACTOR, caller.accountId, RULE);
    await sent('BR', 3);
    await rounds();
    expect([await toCountry('BR'), await trips()]).toEqual(['created', before]);
  });

  it('needs sends from after a reset to trip again', async () => {
    const { db } = t.environment;
    const before = await trips();
    await setBreaker(db.database, TEST_ACTOR, caller.accountId, RULE);
    await sent('NG', 0);
    await rounds();
    await resetBreaker(db.database, TEST_ACTOR, caller.accountId);
    await rounds();
    expect([await toCountry('NG'), await trips()]).toEqual(['created', before + 1]);
    // The reset must be older than the sends that follow it.
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
