import { createSend, resumeSender } from '@onecode/store';
import { buildSender, newSend, TEST_ACTOR, until } from '@onecode/testing';
import { useWorker } from './testWorker.js';

const NUMBER_NOT_REGISTERED = 133010;
const TOKEN_EXPIRED = 190;
const COUNTRY_FORBIDDEN = 130497;
const TEMPLATE_PAUSED = 132015;

describe('a fault of the sender', () => {
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

  it('reassigns the send to another sender at once, and the first one cools down', async () => {
    const senders = [
      await buildSender(t.environment.db.database),
      await buildSender(t.environment.db.database),
    ];
    t.environment.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 1 });
    const pausesBefore = await t.worker.count('onecode_sender_pauses_total');
    const caller = await t.environment.caller();
    const id = await t.environment.send(caller);
    const row = await t.environment.until(id, 'delivered');

    const attempts = await t.environment.attempts(id);
    expect(attempts).toMatchObject([
      { outcome: 'sender', error_code: NUMBER_NOT_REGISTERED },
      { outcome: 'accepted' },
    ]);
    const [faulty, able] = attempts.map(({ sender_id }) => senders.find((sender) => sender.id === sender_id));
    expect(faulty).not.toBe(able);
    expect(row).toMatchObject({ attempts: 1, sender_id: able!.id, from_number: able!.number });
    expect(await t.environment.sender(faulty!.id)).toMatchObject({
      consecutive_failures: 1,
      pause_seconds: 60,
    });
    expect((await t.environment.sender(faulty!.id)).pause_reason).toContain(String(NUMBER_NOT_REGISTERED));
    expect(await t.environment.sender(able!.id)).toMatchObject({ consecutive_failures: 0, paused_at: null });
    expect((await t.worker.count('onecode_sender_pauses_total')) - pausesBefore).toBe(1);
    expect(await t.environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('lengthens the cool-down each time, up to an hour, until the sender succeeds', async () => {
    const sender = await buildSender(t.environment.db.database);
    for (const [failuresBefore, seconds] of [
      [3, 480],
      [40, 3600],
    ] as const) {
      await t.environment.db.sql(
        "update senders set consecutive_failures = $2, paused_at = now() - interval '2 hours', paused_until = now() - interval '1 hour', pause_reason = 'over', pause_source = 'answer' where id = $1",
        [sender.id, failuresBefore],
      );
      t.environment.simulator.rules.add({ fault: { error: NUMBER_NOT_REGISTERED }, times: 1 });
      await t.environment.send(await t.environment.caller());
      await until(
        'a fault',
        async () => (await t.environment.sender(sender.id)).consecutive_failures === failuresBefore + 1,
      );
      expect(await t.environment.sender(sender.id)).toMatchObject({ pause_seconds: seconds });
    }
    await t.environment.db.sql(
      "update senders set paused_until = now() - interval '1 second' where id = $1",
      [sender.id],
    );
    await until(
      'a sender without faults',
      async () => (await t.environment.sender(sender.id)).consecutive_failures === 0,
    );
    expect(await t.environment.sender(sender.id)).toMatchObject({ paused_at: null, pause_reason: null });
  });

  it('leaves the send waiting without another sender, and it goes out once the sender is resumed', async () => {
    const sender = await buildSender(t.environment.db.database);
    t.environment.simulator.rules.add({ fault: { error: TOKEN_EXPIRED }, times: 1 });
    const caller = await t.environment.caller();
    const id = await t.environment.send(caller);
    expect(await t.environment.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'sending',
      attempts: 0,
      failed_at: null,
    });
    await resumeSender(t.environment.db.database, TEST_ACTOR, sender.id);
    await t.environment.until(id, 'delivered');
    expect(await t.environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('that hits many sends at once raises one alert', async () => {
    const [broken, able] = [
      await buildSender(t.environment.db.database),
      await buildSender(t.environment.db.database),
    ];
    t.environment.simulator.rules.add({ sender: broken.phoneNumberId, fault: { error: TOKEN_EXPIRED } });
    let release = (): void => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    const alertsBefore = await t.worker.count('onecode_configuration_faults_total', { scope: 'token' });
    const caller = await t.environment.caller('live', { credits: 30 });
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        t.environment.send(caller, { recipient: `+5511987651${100 + n}` }),
      ),
    );
    const hits = (): number =>
      t.environment.tap.requests.filter(({ path }) => path.includes(broken.phoneNumberId)).length;
    await until('several calls that will meet the fault', () => hits() >= 3);
    release();
    held = null;
    for (const id of ids)
      expect(await t.environment.until(id, 'delivered')).toMatchObject({ sender_id: able.id, attempts: 1 });
    expect(await t.environment.sender(broken.id)).toMatchObject({
      consecutive_failures: 1,
      pause_seconds: 60,
    });
    const alerts = await t.worker.count('onecode_configuration_faults_total', { scope: 'token' });
    expect(alerts - alertsBefore).toBe(1);
  });

  it('for one country blocks the sender for that country only', async () => {
    const [one, other] = [
      await buildSender(t.environment.db.database),
      await buildSender(t.environment.db.database),
    ];
    t.environment.simulator.rules.add({ fault: { error: COUNTRY_FORBIDDEN }, times: 1 });
    const id = await t.environment.send(await t.environment.caller());
    await t.environment.until(id, 'delivered');
    const [blockedId, ableId] = (await t.environment.attempts(id)).map(({ sender_id }) => sender_id);
    expect(new Set([blockedId, ableId])).toEqual(new Set([one.id, other.id]));
    expect(await t.environment.sender(blockedId!)).toMatchObject({
      consecutive_failures: 0,
      paused_at: null,
    });
    expect(
      await t.environment.db.sql(
        'select country, error_code from sender_country_blocks where sender_id = $1',
        [blockedId],
      ),
    ).toEqual([{ country: 'BR', error_code: COUNTRY_FORBIDDEN }]);

    // Without the other sender, a send to the blocked country waits, and one to another country does not.
    await t.environment.db.sql(
      "update senders set paused_at = now(), pause_reason = 'test', pause_source = 'operator' where id = $1",
      [ableId],
    );
    const waiting = await t.environment.send(await t.environment.caller(), { recipient: '+5511987650077' });
    await t.environment.until(waiting, (row) => row.awaiting_sender);
    const abroad = await createSend(t.environment.db.database, {
      ...newSend(await t.environment.caller(), { recipient: '+12025550123' }),
      country: 'US',
    });
    if (abroad.outcome !== 'created') throw new Error(abroad.outcome);
    await t.environment.enqueue('live', abroad.send.id, 0);
    expect(await t.environment.until(abroad.send.id, 'delivered')).toMatchObject({ sender_id: blockedId });
    expect(await t.environment.row(waiting)).toMatchObject({ status: 'queued', attempts: 0 });

    await t.environment.db.sql(
      "update sender_country_blocks set blocked_until = now() - interval '1 second'",
    );
    await t.environment.until(waiting, 'delivered');
  });

  it('of its template stops the sender for that language only, longer each time until a message goes out', async () => {
    const { id: senderId } = await buildSender(t.environment.db.database);
    const caller = await t.environment.caller('live', { credits: 9 });
    const stops = () =>
      t.environment.db.sql(
        `select locale, code, source, consecutive_failures as failures, extract(epoch from stopped_until - stopped_at)::integer as seconds
         from sender_language_stops where sender_id = $1`,
        [senderId],
      );
    const end = () =>
      t.environment.db.sql(`update sender_language_stops set stopped_until = now() - interval '1 second'`);
    t.environment.simulator.rules.add({ fault: { error: TEMPLATE_PAUSED }, times: 2 });

    const english = await t.environment.send(caller, { locale: 'en', recipient: '+5511987650201' });
    await t.environment.until(english, (row) => row.awaiting_sender);
    const first = { locale: 'en', code: TEMPLATE_PAUSED, source: 'answer', failures: 1, seconds: 60 };
    expect(await stops()).toEqual([first]);
    expect(await t.environment.sender(senderId)).toMatchObject({ consecutive_failures: 0, paused_at: null });

    await end();
    await until('a longer stop', async () => (await stops())[0]?.['failures'] === 2);
    expect(await stops()).toEqual([{ ...first, failures: 2, seconds: 120 }]);
    expect(await t.environment.until(english, (row) => row.awaiting_sender)).toMatchObject({ attempts: 0 });
    const portuguese = await t.environment.send(caller, { locale: 'pt-BR', recipient: '+5511987650202' });
    await t.environment.until(portuguese, 'delivered');
    expect(await stops()).toMatchObject([{ failures: 2 }]);

    await end();
    await t.environment.until(english, 'delivered');
    await until('no faults', async () => (await stops())[0]?.['failures'] === 0);
  });
});
