import { revokeApiKey } from '@onecode/store/accounts';
import {
  deleteOldEntries,
  noteMailSender,
  postponeEntry,
  queueLowBalanceAlerts,
  readMailStatistics,
  setBalanceAlert,
  takeDueMails,
} from '@onecode/store/mails';
import { logOwnSecurityChange, requestPasswordReset, requestSignUp } from '@onecode/store/users';
import { buildAccount, buildCaller, linkOf, TEST_ACTOR, TEST_SECRET_KEY, until } from '@onecode/testing';
import { CONSOLE_URL, FROM, LINK, useMails, type TestUser } from './mailEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess } from './workerProcess.js';

const t = useMails();

/** Queues mails that are not urgent, each a second older than the next. */
const writeInvitations = (count: number): Promise<unknown> =>
  t.sql(
    `insert into outbox (id, event, recipient, language, kind, facts, due_at, gives_up_at)
     select gen_random_uuid(), 'invitation ' || n, 'friend' || n || '@example.com', 'en', 'invitation',
       '{"account":"Loja","role":"viewer","by":"ana@example.com"}', clock_timestamp() - interval '1 hour', clock_timestamp() + interval '1 day'
     from generate_series(1, $1::integer) n`,
    [count],
  );

describe('mails', () => {
  it(
    'are each sent once, although the server fails twice and a worker is killed while sending',
    async () => {
      const admins: (TestUser & { accountId: string })[] = [];
      while (admins.length < 12) {
        const accountId = await buildAccount(t.database, { name: 'Loja Azul' });
        admins.push({ ...(await t.user({ accountId, role: 'admin' })), accountId });
      }
      t.mailbox.fault = (nth) => (nth === 2 ? 451 : nth === 5 ? 'hang up' : null);
      const env = { SMTP_URL: t.mailbox.url, MAIL_FROM: FROM, CONSOLE_URL };
      const workers = await Promise.all([
        startWorkerProcess(t.worker, env),
        startWorkerProcess(t.worker, env),
      ]);
      let killed = false;
      t.mailbox.onMail = async () => {
        if (killed || t.mailbox.mails.length < 3) return;
        killed = true;
        // The server has accepted the mail, but its reply never arrives.
        workers[0].signal('SIGKILL');
        await workers[0].exited;
      };
      for (const { accountId } of admins) await t.createKey(accountId);
      await until('mails to all', async () => {
        await t.letTimePass();
        return (await t.waiting()) === 0 && killed;
      });
      for (const { email } of admins) {
        const ids = new Set(t.mailbox.to(email).map(({ messageId }) => messageId));
        expect([email, ids.size]).toEqual([email, 1]);
      }
      const rows = await t.sql('select facts, encrypted_link, outcome, error from outbox');
      expect(rows).toHaveLength(12);
      for (const row of rows)
        expect(row).toEqual({ facts: {}, encrypted_link: null, outcome: 'sent', error: null });
      const output = workers.map((worker) => worker.output()).join('');
      expect(output).not.toMatch(/example\.com|Loja|secret/);
      await workers[1].stop();
    },
    PROCESSES_MS_MAX,
  );

  it('that the server refuses are retried, shown on Health, and given up after a day', async () => {
    await t.user({ staff: 'operator' });
    const { email } = await t.user(null);
    t.mailbox.fault = () => 550;
    await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email });
    for (const tries of [1, 2]) {
      await t.letTimePass();
      await t.run();
      const mails = await t.sql('select error, tries from outbox where due_at > clock_timestamp()');
      expect(mails).toEqual([{ error: 'EMESSAGE 550', tries }]);
    }
    for (const [left, wanted] of [
      ['10 minutes', 60],
      ['59 seconds', 0],
    ] as const) {
      await t.sql(`update outbox set tries = 20, gives_up_at = clock_timestamp() + $1::interval`, [left]);
      await t.letTimePass();
      await t.run();
      const [last] = await t.sql(
        'select extract(epoch from gives_up_at - due_at)::float8 as early from outbox',
      );
      expect(last).toEqual({ early: wanted });
    }
    await t.sql(
      `update outbox set gives_up_at = clock_timestamp() - interval '1 second', created_at = created_at - interval '1 hour'`,
    );
    expect(await readMailStatistics(t.database)).toMatchObject({
      waiting: 1,
      givenUp: 0,
      error: 'EMESSAGE 550',
    });
    await t.letTimePass();
    await t.run();
    expect(await readMailStatistics(t.database)).toMatchObject({ waiting: 0, givenUp: 1 });
    expect(await t.sql('select outcome, encrypted_link from outbox')).toEqual([
      { outcome: 'given_up', encrypted_link: null },
    ]);

    for (const fault of [451, 421]) {
      t.mailbox.fault = () => fault;
      await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email });
      await t.run();
    }
    expect(await readMailStatistics(t.database)).toMatchObject({ waiting: 2, error: 'EMESSAGE 421' });
  });

  it('to an address that the server refuses are shown on Health until another mail is sent', async () => {
    const [known, unknown] = [await t.user(null), await t.user(null)];
    t.mailbox.unknown.add(unknown.email);
    await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email: unknown.email });
    await t.run();
    expect(await readMailStatistics(t.database)).toMatchObject({ waiting: 1, error: 'EENVELOPE 550' });

    await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email: known.email });
    await t.run();
    expect(t.subjectsTo(known)).toHaveLength(1);
    const none = { waiting: 0, oldestSeconds: null, givenUp: 0, error: null };
    expect(await readMailStatistics(t.database)).toMatchObject(none);
    await t.sql(
      `update outbox set gives_up_at = clock_timestamp(), due_at = clock_timestamp() where due_at is not null`,
    );
    await t.run();
    expect(await t.sql(`select error from outbox where outcome = 'given_up'`)).toEqual([
      { error: 'EENVELOPE 550' },
    ]);
    expect(await readMailStatistics(t.database)).toMatchObject(none);
  });

  it('are not changed by a worker with an expired lease after another worker has claimed them', async () => {
    const accountId = await buildAccount(t.database);
    await t.user({ accountId, role: 'admin' });
    await t.createKey(accountId);
    const dueAt = async () => t.sql('select due_at, error from outbox');
    const take = () => until('a mail that is due', async () => (await takeDueMails(t.database, 1))[0]);
    const first = await take();
    await t.letTimePass();
    const second = await take();
    const leased = await dueAt();
    await postponeEntry(t.database, first, 'ETIMEDOUT');
    expect(await dueAt()).toEqual(leased);
    await postponeEntry(t.database, second, 'EAUTH');
    expect(await dueAt()).toMatchObject([{ error: 'EAUTH' }]);
  });

  it('that wait when mail is turned off are not shown on Health, and are deleted a week after their last attempt was due', async () => {
    const { email } = await t.user(null);
    await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email });
    await t.sql(`update outbox set created_at = created_at - interval '1 hour'`);
    await noteMailSender(t.database, null);
    try {
      expect(await readMailStatistics(t.database)).toMatchObject({ isOn: false, oldestSeconds: null });
      for (const [days, left] of [
        [6, 1],
        [8, 0],
      ] as const) {
        await t.sql(`update outbox set gives_up_at = clock_timestamp() - make_interval(days => $1)`, [days]);
        await deleteOldEntries(t.database);
        expect(await t.sql('select from outbox')).toHaveLength(left);
      }
    } finally {
      await noteMailSender(t.database, FROM);
    }
  });

  it('are not queued while no worker sends mail', async () => {
    const { accountId, keyId } = await buildCaller(t.database, 'test');
    const { email } = await t.user({ accountId, role: 'admin' });
    await noteMailSender(t.database, null);
    try {
      expect(await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email })).toBe('not_sent');
      await revokeApiKey(t.database, TEST_ACTOR, keyId);
      expect(await t.sql('select from outbox')).toEqual([]);
      expect(await t.sql(`select from user_verifications where identifier like 'password_reset%'`)).toEqual(
        [],
      );
    } finally {
      await noteMailSender(t.database, FROM);
    }
  });

  it('that are urgent are sent before 40 invitations, in every worker', async () => {
    const { id, email } = await t.user(null);
    const accountId = await buildAccount(t.database);
    const admin = await t.user({ accountId, role: 'admin' });
    await writeInvitations(40);
    await setBalanceAlert(t.database, TEST_ACTOR, accountId, 1_000_000);
    await queueLowBalanceAlerts(t.database);
    const notice = { kind: 'user', id, name: email } as const;
    await logOwnSecurityChange(t.database, notice, 'user.two_factor_turned_on');
    await t.createKey(accountId);
    await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email });
    const first = await takeDueMails(t.database, 4);
    expect(first.map(({ kind }) => kind).toSorted()).toEqual([
      'invitation',
      'key_made',
      'password_reset',
      'two_factor_on',
    ]);
    await t.letTimePass();
    const taken: string[] = [];
    for (let n = 0; n < 3; n += 1) taken.push((await takeDueMails(t.database, 1))[0]!.kind);
    expect(taken[0]).toBe('password_reset');
    expect(taken.toSorted()).toEqual(['key_made', 'password_reset', 'two_factor_on']);
    await t.letTimePass();
    await t.run();
    const subjects = t.mailbox.mails.map(({ subject }) => subject);
    // Two mails are sent at a time.
    expect(subjects.slice(0, 2)).toContain('Set a new password');
    const urgent = ['Set a new password', 'Two-factor authentication is on', 'New API key for Loja'];
    expect(subjects.slice(0, 4)).toEqual(expect.arrayContaining(urgent));
    expect(t.mailbox.to(admin.email)).toHaveLength(2);
    expect(subjects).toHaveLength(44);
  });

  it(
    'that are urgent are sent while the server hangs on other mails',
    async () => {
      const { email } = await t.user(null);
      await writeInvitations(400);
      let release = (): void => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      t.mailbox.onMail = async () => {
        if (t.mailbox.mails.at(-1)!.to !== email) await released;
      };
      const worker = await startWorkerProcess(t.worker, {
        SMTP_URL: t.mailbox.url,
        MAIL_FROM: FROM,
        CONSOLE_URL,
      });
      try {
        await until('mails that the server does not take', () => t.mailbox.mails.length === 2);
        for (const nth of [1, 2]) {
          await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email });
          await until('the reset', () => t.mailbox.to(email).length === nth);
        }
        expect(t.mailbox.mails).toHaveLength(4);
      } finally {
        await t.sql('delete from outbox');
        release();
        await worker.stop();
      }
    },
    PROCESSES_MS_MAX,
  );

  it('to an unknown address are dropped, and a sign-up with a known address is reported to the user of the address', async () => {
    const { email } = await t.user(null, 'pt-BR');
    await requestPasswordReset(t.database, TEST_SECRET_KEY, { ...LINK, email: 'unknown@example.com' });
    const pending = { name: 'Eva', email, language: 'en', passwordHash: 'x' } as const;
    await requestSignUp(t.database, TEST_SECRET_KEY, { ...LINK, email }, pending);
    await t.run();
    expect(t.mailbox.to('unknown@example.com')).toEqual([]);
    expect(await t.sql(`select from outbox where recipient = 'unknown@example.com'`)).toEqual([]);
    const [mail] = t.mailbox.to(email);
    expect(mail!.subject).toBe('Você já tem cadastro');
    expect(linkOf(mail!)).toBe(`${CONSOLE_URL}/sign-in`);
  });
});
