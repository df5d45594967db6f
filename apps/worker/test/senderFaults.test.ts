import { createSend, resumeSender } from '@onecode/store';
import { buildSender, newSend, TEST_ACTOR } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { useWorker } from './fixture.js';

const NUMBER_NOT_REGISTERED = 133010;
const TOKEN_EXPIRED = 190;
const COUNTRY_FORBIDDEN = 130497;

describe('a fault of the sender', () => {
  /** What holds requests back before they reach the provider. */
  let held: Promise<void> | null = null;
  const t = useWorker({
    senders: 0,
    ownAnswer: async () => {
      await held;
      return null;
    },
    // One attempt only: whatever goes on after a fault has not used it up.
    env: { DELIVERY_ATTEMPTS: '1' },
  });

  it('hands the send to another sender at once, and the first one rests', async () => {
    const senders = [await buildSender(t.house.db.database), await buildSender(t.house.db.database)];
    t.house.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 1 });
    const pausesBefore = await t.worker.count('onecode_sender_pauses_total');
    const caller = await t.house.caller();
    const id = await t.house.send(caller);
    const row = await t.house.until(id, 'delivered');

    const attempts = await t.house.attempts(id);
    expect(attempts).toMatchObject([
      { outcome: 'sender', error_code: NUMBER_NOT_REGISTERED },
      { outcome: 'accepted' },
    ]);
    const [faulty, able] = attempts.map(({ sender_id }) => senders.find((sender) => sender.id === sender_id));
    expect(faulty).not.toBe(able);
    expect(row).toMatchObject({ attempts: 1, sender_id: able!.id, from_number: able!.number });
    expect(await t.house.sender(faulty!.id)).toMatchObject({ consecutive_failures: 1, pause_seconds: 60 });
    expect((await t.house.sender(faulty!.id)).pause_reason).toContain(String(NUMBER_NOT_REGISTERED));
    expect(await t.house.sender(able!.id)).toMatchObject({ consecutive_failures: 0, paused_at: null });
    expect((await t.worker.count('onecode_sender_pauses_total')) - pausesBefore).toBe(1);
    expect(await t.house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('in a row makes it rest longer each time, up to an hour, until it sends again', async () => {
    const sender = await buildSender(t.house.db.database);
    for (const [failuresBefore, seconds] of [
      [3, 480],
      [40, 3600],
    ] as const) {
      await t.house.db.sql(
        "update senders set consecutive_failures = $2, paused_at = now() - interval '2 hours', paused_until = now() - interval '1 hour', pause_reason = 'over' where id = $1",
        [sender.id, failuresBefore],
      );
      t.house.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 1 });
      await t.house.send(await t.house.caller());
      await until(
        'a fault',
        async () => (await t.house.sender(sender.id)).consecutive_failures === failuresBefore + 1,
      );
      expect(await t.house.sender(sender.id)).toMatchObject({ pause_seconds: seconds });
    }
    await t.house.db.sql("update senders set paused_until = now() - interval '1 second' where id = $1", [
      sender.id,
    ]);
    await until(
      'a sender without faults',
      async () => (await t.house.sender(sender.id)).consecutive_failures === 0,
    );
    expect(await t.house.sender(sender.id)).toMatchObject({ paused_at: null, pause_reason: null });
  });

  it('leaves the send waiting when there is no other one, and it goes out once the sender is resumed', async () => {
    const sender = await buildSender(t.house.db.database);
    t.house.simulator.rules.add({ fault: { error: TOKEN_EXPIRED }, times: 1 });
    const caller = await t.house.caller();
    const id = await t.house.send(caller);
    expect(await t.house.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'sending',
      attempts: 0,
      failed_at: null,
    });
    await resumeSender(t.house.db.database, TEST_ACTOR, sender.id);
    await t.house.until(id, 'delivered');
    expect(await t.house.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('that hits many sends at once raises one alert', async () => {
    const [broken, able] = [await buildSender(t.house.db.database), await buildSender(t.house.db.database)];
    t.house.simulator.rules.add({ sender: broken.phoneNumberId, fault: { error: TOKEN_EXPIRED } });
    let release = (): void => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    const alertsBefore = await t.worker.count('onecode_configuration_faults_total', { scope: 'token' });
    const caller = await t.house.caller('live', { credits: 30 });
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, n) => t.house.send(caller, { recipient: `+5511987651${100 + n}` })),
    );
    const hits = (): number =>
      t.house.tap.requests.filter(({ path }) => path.includes(broken.phoneNumberId)).length;
    await until('several calls that will meet the fault', () => hits() >= 3);
    release();
    held = null;
    for (const id of ids)
      expect(await t.house.until(id, 'delivered')).toMatchObject({ sender_id: able.id, attempts: 1 });
    expect(await t.house.sender(broken.id)).toMatchObject({ consecutive_failures: 1, pause_seconds: 60 });
    const alerts = await t.worker.count('onecode_configuration_faults_total', { scope: 'token' });
    expect(alerts - alertsBefore).toBe(1);
  });

  it('for one country keeps it from that country only', async () => {
    const [one, other] = [await buildSender(t.house.db.database), await buildSender(t.house.db.database)];
    t.house.simulator.rules.add({ fault: { error: COUNTRY_FORBIDDEN }, times: 1 });
    const id = await t.house.send(await t.house.caller());
    await t.house.until(id, 'delivered');
    const [blockedId, ableId] = (await t.house.attempts(id)).map(({ sender_id }) => sender_id);
    expect(new Set([blockedId, ableId])).toEqual(new Set([one.id, other.id]));
    expect(await t.house.sender(blockedId!)).toMatchObject({ consecutive_failures: 0, paused_at: null });
    expect(
      await t.house.db.sql('select country, error_code from sender_country_blocks where sender_id = $1', [
        blockedId,
      ]),
    ).toEqual([{ country: 'BR', error_code: COUNTRY_FORBIDDEN }]);

    // The other one out of the way: the forbidden country waits, another one does not.
    await t.house.db.sql("update senders set paused_at = now(), pause_reason = 'test' where id = $1", [
      ableId,
    ]);
    const waiting = await t.house.send(await t.house.caller(), { recipient: '+5511987650077' });
    await t.house.until(waiting, (row) => row.awaiting_sender);
    const abroad = await createSend(t.house.db.database, {
      ...newSend(await t.house.caller(), { recipient: '+12025550123' }),
      country: 'US',
    });
    if (abroad.outcome !== 'created') throw new Error(abroad.outcome);
    await t.house.enqueue('live', abroad.send.id, 0);
    expect(await t.house.until(abroad.send.id, 'delivered')).toMatchObject({ sender_id: blockedId });
    expect(await t.house.row(waiting)).toMatchObject({ status: 'queued', attempts: 0 });

    await t.house.db.sql("update sender_country_blocks set blocked_until = now() - interval '1 second'");
    await t.house.until(waiting, 'delivered');
  });
});
