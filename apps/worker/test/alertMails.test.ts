import {
  cancelDeletion,
  createApiKey,
  revokeApiKey,
  scheduleDeletion,
  tripBreaker,
} from '@onecode/store/accounts';
import {
  muteMails,
  queueFindingAlerts,
  queueKeyExpiryAlerts,
  queueLowBalanceAlerts,
  setBalanceAlert,
} from '@onecode/store/mails';
import { acknowledgeIncident, listIncidents, recordIncidents } from '@onecode/store/operations';
import { createTryoutKey } from '@onecode/store/users';
import { buildAccount, buildCaller, linkOf, TEST_ACTOR } from '@onecode/testing';
import { CONSOLE_URL, useMails, type TestUser } from './mailEnvironment.js';

const t = useMails();

describe('a key that expires', () => {
  const DAY_MS = 86_400_000;
  /** Creates a key that was made a number of days before now and expires after a number of days. */
  async function buildKey(applicationId: string, madeDaysAgo: number, inDays: number): Promise<string> {
    const expiresAt = new Date(Date.now() + inDays * DAY_MS);
    const { id } = (await createApiKey(t.database, TEST_ACTOR, applicationId, { expiresAt }))!;
    await t.sql(`update api_keys set created_at = created_at - make_interval(days => $2) where id = $1`, [
      id,
      madeDaysAgo,
    ]);
    return id;
  }
  /** Queues the mails as eight workers do. */
  async function queueAlerts(): Promise<void> {
    await t.sql(`delete from outbox where kind = 'key_made'`);
    await Promise.all(Array.from({ length: 8 }, () => queueKeyExpiryAlerts(t.database)));
    await t.run();
  }
  /** Moves the end of the keys, and their creation, by days. */
  const advanceDays = (days: number): Promise<unknown> =>
    t.sql(
      `update api_keys set created_at = created_at - make_interval(days => $1), expires_at = expires_at - make_interval(days => $1)
       where expires_at is not null`,
      [days],
    );

  it('is reported to the subscribed admins 14 and 3 days before, once each, by any number of workers', async () => {
    const { accountId, applicationId } = await buildCaller(t.database, 'live', { name: 'Loja' });
    const admin = await t.user({ accountId, role: 'admin' });
    const portuguese = await t.user({ accountId, role: 'admin' }, 'pt-BR');
    const unsubscribed = await t.user({ accountId, role: 'admin' });
    const developer = await t.user({ accountId, role: 'developer' });
    await muteMails(t.database, { ...TEST_ACTOR, id: unsubscribed.id }, ['key_expires']);
    await t.sql(`update applications set name = 'Shop' where id = $1`, [applicationId]);
    await buildKey(applicationId, 1, 15.5);
    const subjects = ({ email }: TestUser): string[] => t.mailbox.to(email).map(({ subject }) => subject);
    await queueAlerts();
    expect(subjects(admin)).toEqual([]);

    await advanceDays(2);
    await queueAlerts();
    await queueAlerts();
    expect(subjects(admin)).toEqual(['An API key of Shop expires in 14 days']);
    expect(t.subjectsTo(portuguese)).toEqual(['Uma chave de API de Shop expira em 14 dias']);
    expect(t.mailbox.to(admin.email)[0]!.text).toMatch(
      /The key ak_live_.* of the application Shop of Loja expires on .* UTC\./,
    );
    expect(linkOf(t.mailbox.to(admin.email)[0]!)).toBe(`${CONSOLE_URL}/accounts/${accountId}/applications`);

    // Old mails are deleted before the second notice is due.
    await t.sql('delete from outbox');
    await advanceDays(7);
    await queueAlerts();
    expect(subjects(admin)).toHaveLength(1);
    await advanceDays(4);
    await queueAlerts();
    await queueAlerts();
    expect(subjects(admin)[1]).toBe('An API key of Shop expires in 3 days');
    await advanceDays(3);
    await t.sql('delete from outbox');
    await queueAlerts();
    expect(subjects(admin)).toHaveLength(2);
    expect(subjects(unsubscribed)).toEqual([]);
    expect(subjects(developer)).toEqual([]);
  });

  it('is not reported if it was created after the notice was due, is revoked, or belongs to the "Try it" page', async () => {
    const { accountId, applicationId } = await buildCaller(t.database, 'live');
    const { email } = await t.user({ accountId, role: 'admin' });
    await buildKey(applicationId, 0, 14);
    await buildKey(applicationId, 0, 2);
    const revoked = await buildKey(applicationId, 1, 13.5);
    await revokeApiKey(t.database, TEST_ACTOR, revoked);
    await createTryoutKey(t.database, { id: applicationId, mode: 'live' });
    await t.sql('delete from outbox');
    await queueAlerts();
    expect(t.mailbox.to(email)).toEqual([]);
  });
});

describe('a low balance', () => {
  const setBalance = (accountId: string, credits: number): Promise<unknown> =>
    t.sql('update accounts set credits = $2 where id = $1', [accountId, credits]);

  it('is reported once for each crossing, by any number of workers, and again only after the balance has risen well above its alert', async () => {
    const accountId = await buildAccount(t.database, { freeQuota: 0, credits: 200, name: 'Loja' });
    const { email } = await t.user({ accountId, role: 'admin' });
    await setBalanceAlert(t.database, TEST_ACTOR, accountId, 100);
    const rich = await buildAccount(t.database, { freeQuota: 1, credits: 2_147_483_647 });
    await setBalanceAlert(t.database, TEST_ACTOR, rich, 100);
    const queueAlerts = async (): Promise<number> => {
      await Promise.all(Array.from({ length: 8 }, () => queueLowBalanceAlerts(t.database)));
      await t.run();
      return t.mailbox.to(email).length;
    };
    expect(await queueAlerts()).toBe(0);
    await setBalance(accountId, 99);
    expect(await queueAlerts()).toBe(1);
    expect(t.mailbox.to(email)[0]).toMatchObject({ subject: 'Low balance: Loja has 99 units left' });
    // Units of failed sends are refunded, and used again.
    await setBalance(accountId, 104);
    expect(await queueAlerts()).toBe(1);
    await setBalance(accountId, 98);
    expect(await queueAlerts()).toBe(1);
    await setBalance(accountId, 110);
    expect(await queueAlerts()).toBe(1);
    await setBalance(accountId, 50);
    expect(await queueAlerts()).toBe(2);
  });

  it('of an account with a failing mail does not block other accounts', async () => {
    const [refused, other] = [await buildAccount(t.database), await buildAccount(t.database)];
    const { email } = await t.user({ accountId: other, role: 'admin' });
    for (const id of [refused, other]) await setBalanceAlert(t.database, TEST_ACTOR, id, 1_000);
    await t.sql(
      `alter table accounts add constraint refuse check (id <> '${refused}' or low_balance_at is null)`,
    );
    await expect(queueLowBalanceAlerts(t.database)).rejects.toThrow();
    await t.sql('alter table accounts drop constraint refuse');
    await t.run();
    expect(t.mailbox.to(email)).toHaveLength(1);
  });

  it('is reported with the number of days that it lasts at the rate of the last day', async () => {
    const { accountId } = await buildCaller(t.database, 'live', {
      freeQuota: 0,
      credits: 1_000,
      name: 'Loja',
    });
    const { email } = await t.user({ accountId, role: 'admin' });
    await setBalanceAlert(t.database, TEST_ACTOR, accountId, 5_000);
    const facts = { left: 900, below: 5_000, perDay: 290, account: 'Loja', accountId };
    await queueLowBalanceAlerts(t.database);
    await t.sql('update outbox set facts = $1', [facts]);
    await t.run();
    expect(t.mailbox.to(email)[0]!.text).toContain(
      '(290 live sends), the balance will be used up in 3 days.',
    );
  });
});

it('a tripped breaker is reported once to the subscribed admins', async () => {
  const accountId = await buildAccount(t.database, { name: 'Loja' });
  await t.sql('update accounts set breaker_unverified_percent = 50, breaker_min_sends = 10 where id = $1', [
    accountId,
  ]);
  const [wants, mutes] = [
    await t.user({ accountId, role: 'admin' }),
    await t.user({ accountId, role: 'admin' }),
  ];
  await t.user({ accountId, role: 'viewer' });
  await muteMails(t.database, { ...TEST_ACTOR, id: mutes.id }, ['breaker_tripped']);
  const counts = { country: 'BR', sends: 1_200, unverified: 1_100 };
  const rule = { unverifiedPercent: 50, minSends: 10 };
  const evidence = { accountId, ...counts, rule };
  const trips = await Promise.all(Array.from({ length: 4 }, () => tripBreaker(t.database, evidence)));
  expect(trips.filter(Boolean)).toHaveLength(1);
  await t.run();
  expect(t.mailbox.mails.map(({ to, subject }) => [to, subject])).toEqual([
    [wants.email, 'Loja: sends to Brazil are blocked'],
  ]);
  expect(t.mailbox.mails[0]!.text).toContain('1,100 were not verified');
});

it('the deletion of an account is mailed to all its admins when it is scheduled and when it is cancelled', async () => {
  const accountId = await buildAccount(t.database, { name: 'Padaria' });
  const admins = [
    await t.user({ accountId, role: 'admin' }),
    await t.user({ accountId, role: 'admin' }, 'pt-BR'),
  ] as const;
  const viewer = await t.user({ accountId, role: 'viewer' });
  const actor = { kind: 'user', id: admins[0].id, name: admins[0].email } as const;
  const account = await scheduleDeletion(t.database, actor, accountId);
  await cancelDeletion(t.database, actor, accountId);
  await t.run();
  expect(t.subjectsTo(admins[0])).toEqual(['Padaria will be deleted', 'Padaria will not be deleted']);
  expect(t.subjectsTo(admins[1])).toEqual(['Padaria não vai mais ser excluída', 'Padaria vai ser excluída']);
  expect(t.subjectsTo(viewer)).toEqual([]);
  const scheduled = t.mailbox
    .to(admins[0].email)
    .find(({ subject }) => subject === 'Padaria will be deleted')!;
  expect(scheduled.text).toContain(
    account!.deleteAt!.toLocaleString('en', { dateStyle: 'medium', timeZone: 'UTC' }),
  );
  expect(linkOf(scheduled)).toBe(`${CONSOLE_URL}/accounts/${accountId}/team`);
});

it('an incident that has been failing for five minutes is mailed to staff once, with its first start, unless it has ended', async () => {
  const { email } = await t.user({ staff: 'on_call' });
  const findings = [
    { name: 'no_workers', cause: 'none', owner: 'us', severity: 'failing' },
    { name: 'paused_by_operator', cause: 'hold', owner: 'held', severity: 'degraded' },
  ] as const;
  const queueAlerts = async (): Promise<string[]> => {
    await recordIncidents(t.database, findings);
    await Promise.all([queueFindingAlerts(t.database), queueFindingAlerts(t.database)]);
    await t.run();
    return t.mailbox.to(email).map(({ subject }) => subject);
  };
  const age = (interval: string): Promise<unknown> =>
    t.sql(
      `update incidents set began_at = began_at - $1::interval, failing_at = failing_at - $1::interval, seen_at = seen_at - $1::interval`,
      [interval],
    );
  const subject = 'Onecode alert: No worker is running';
  expect(await queueAlerts()).toEqual([]);
  await t.sql(`update incidents set began_at = began_at - interval '4 minutes 50 seconds',
    failing_at = failing_at - interval '4 minutes 50 seconds'`);
  expect(await queueAlerts()).toEqual([]);
  // The incident ends before the server accepts the mail, so the mail is not sent.
  t.mailbox.fault = () => 451;
  await t.sql(`update incidents set failing_at = failing_at - interval '11 seconds'`);
  expect(await queueAlerts()).toEqual([]);
  expect(await t.waiting()).toBe(1);
  await age('61 seconds');
  t.mailbox.fault = () => null;
  await t.letTimePass();
  await t.run();
  expect([t.mailbox.mails, await t.waiting()]).toEqual([[], 0]);
  // When an incident returns, its failing time starts again, but its beginning stays.
  await age('2 minutes');
  expect(await queueAlerts()).toEqual([]);
  await t.sql(`update incidents set failing_at = failing_at - interval '6 minutes'`);
  const incident = (await listIncidents(t.database)).find(({ finding }) => finding.name === 'no_workers');
  await acknowledgeIncident(
    t.database,
    { ...TEST_ACTOR, name: 'ana@example.com' },
    incident!.id,
    'disk full',
  );
  expect(await queueAlerts()).toEqual([subject]);
  const [{ text } = { text: '' }] = t.mailbox.to(email);
  const beganAt = incident!.beganAt.toLocaleString('en', { timeStyle: 'short', timeZone: 'UTC' });
  expect(text).toContain('No worker is running. This check has been failing for more than five minutes.');
  expect(text).toContain('Start the workers');
  expect(text).toContain(`${beganAt} UTC`);
  expect(text).toContain('has acknowledged the incident: “disk full”');
  await age('2 minutes');
  await queueAlerts();
  await t.sql(`update incidents set failing_at = failing_at - interval '6 minutes'`);
  expect(await queueAlerts()).toEqual([subject]);
});
