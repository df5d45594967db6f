import type { IdentityCheck } from '@onecode/domain';
import { findSendDetails, forgetIdentity, setIdentityCheck } from '@onecode/store';
import { TEST_ACTOR, until, type TestCaller } from '@onecode/testing';
import { createIdentities } from '../src/identities.js';
import { useWorker } from './testWorker.js';

const RECIPIENT = '+14155550133';

describe('a number that changes hands', () => {
  const t = useWorker();
  let caller: TestCaller;
  beforeEach(async () => {
    const { db, simulator } = t.environment;
    caller = await t.environment.caller('live', { credits: 20 });
    for (const { id } of await db.sql<{ id: string }>('select phone_number_id as id from senders'))
      await simulator.business.changeSender(id, { identityKeyCheck: true });
  });

  const check = async (identityCheck: IdentityCheck): Promise<void> => {
    const { database } = t.environment.db;
    await setIdentityCheck(database, TEST_ACTOR, caller.applicationId, identityCheck);
    t.worker.context.identities = createIdentities(database);
  };
  const send = () => t.environment.send(caller, { recipient: RECIPIENT });
  const verify = (id: string) =>
    t.environment.db.sql(
      `update sends set verification = 'verified', verified_at = now(), version = version + 1 where id = $1`,
      [id],
    );
  /** A code that reached its recipient. @returns the send's id */
  const delivered = async (): Promise<string> => {
    const id = await send();
    await t.environment.until(id, 'delivered');
    await until('handled receipts', async () => {
      const rows = await t.environment.db.sql('select 1 from receipts where due_at is not null');
      return rows.length === 0;
    });
    return id;
  };
  const hashes = (id: string): Promise<(string | undefined)[]> =>
    t.environment
      .calls(id)
      .then((calls) => calls.map(({ body }) => JSON.parse(body).recipient_identity_key_hash));
  const changedAt = async (id: string): Promise<Date | null> =>
    (await findSendDetails(t.environment.db.database, caller.accountId, id))!.identityChangedAt;
  const changes = () =>
    t.worker.count('onecode_identity_changes_total', { application_id: caller.applicationId });
  const changeHands = () => t.environment.simulator.business.changeHands(RECIPIENT);
  const kept = () =>
    t.environment.db.sql('select send_id from send_identities where application_id = $1', [
      caller.applicationId,
    ]);

  it('is nobody’s business while the check is off', async () => {
    await verify(await delivered());
    changeHands();
    const id = await delivered();
    expect([await kept(), await hashes(id), await changedAt(id)]).toEqual([[], [undefined], null]);
  });

  it('is said on the timeline and counted when it is observed, and the code is sent', async () => {
    await check('observe');
    await verify(await delivered());
    const same = await delivered();
    expect([await changedAt(same), await changes()]).toEqual([null, 0]);
    changeHands();
    const id = await delivered();
    expect(await hashes(id)).toEqual([undefined]);
    expect(await changedAt(id)).toEqual(expect.any(Date));
    expect(await changes()).toBe(1);
  });

  it('gets no code when it is enforced, until the number is trusted again', async () => {
    await check('enforce');
    const first = await delivered();
    // Not verified: nobody is known yet.
    expect(await hashes(await delivered())).toEqual([undefined]);
    await verify(first);
    const hash = t.environment.simulator.business.identityOf(RECIPIENT);
    expect(await hashes(await delivered())).toEqual([hash]);

    changeHands();
    const refused = await send();
    expect(await t.environment.until(refused, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      sealed_code: null,
    });
    expect(await hashes(refused)).toEqual([hash]);
    expect(await t.environment.attempts(refused)).toMatchObject([
      { outcome: 'recipient', error_code: 137000 },
    ]);
    expect((await t.environment.units(caller.accountId)).returned).toHaveLength(1);

    const forgotten = await forgetIdentity(
      t.environment.db.database,
      TEST_ACTOR,
      caller.applicationId,
      RECIPIENT,
    );
    expect(forgotten).toBeGreaterThan(0);
    const again = await delivered();
    await verify(again);
    expect(await hashes(again)).toEqual([undefined]);
    expect(await hashes(await delivered())).toEqual([t.environment.simulator.business.identityOf(RECIPIENT)]);
  });

  it('is checked for each application alone', async () => {
    await check('enforce');
    await verify(await delivered());
    changeHands();
    const other = await t.environment.caller('live', { credits: 1 });
    const id = await t.environment.send(other, { recipient: RECIPIENT });
    await t.environment.until(id, 'delivered');
    expect(await hashes(id)).toEqual([undefined]);
  });
});
