import { noteMailSender } from '@onecode/store/mails';
import { buildAccount } from '@onecode/testing';
import { useConsole } from '../console.js';
import { callConsole, PASSWORD, person, type Answer, type TestPerson } from '../people.js';

const server = useConsole();
const sql: typeof server.db.sql = (text, values) => server.db.sql(text, values);

beforeAll(() => noteMailSender(server.db.database, 'codes@onecode.example'));
beforeEach(async () => {
  await sql('delete from outbox');
  await sql('delete from counted_tries');
});

let networks = 0;
const fromNewNetwork = (): Record<string, string> => {
  networks += 1;
  return { 'x-forwarded-for': `10.${networks >> 8}.${networks & 255}.1` };
};

interface Admin {
  who: TestPerson;
  /** Below `/api`. */
  account: string;
}

/** A user who signed up, with the trial account that they created. */
async function trial(name = 'Loja Azul', staff?: 'operator'): Promise<Admin> {
  const who = await person(server, staff === undefined ? {} : { staff });
  const { body } = await who.post('/accounts', { name, language: 'en' });
  await sql('delete from outbox');
  return { who, account: `/accounts/${body.id}` };
}

/** An admin of an account that the operator created. */
async function customer(): Promise<Admin> {
  const id = await buildAccount(server.db.database, { name: 'Padaria' });
  return { who: await person(server, { accounts: { [id]: 'admin' } }), account: `/accounts/${id}` };
}

const invite = (
  { who, account }: Admin,
  email: string,
  headers = fromNewNetwork(),
  role = 'viewer',
): Promise<Answer> => who.call('POST', `${account}/invitations`, { email, role }, headers);

const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));
/** Returns how many responses have each status or problem code. */
function outcomes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = String(body?.code ?? status);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
async function mailed(kind: string): Promise<string[]> {
  const rows = await sql<{ recipient: string }>(
    'select recipient from outbox where kind = $1 order by recipient',
    [kind],
  );
  return rows.map(({ recipient }) => recipient);
}
const letAnHourPass = (): Promise<unknown> =>
  sql(`update counted_tries set ends_at = ends_at - interval '1 hour'`);

describe('invitations of a trial account', () => {
  it('are limited to ten a day when fifty are made at once', async () => {
    const admin = await trial();
    const answers = await many(50, (n) => invite(admin, `friend${n}@example.com`));
    expect(outcomes(answers)).toEqual({ 200: 10, too_many_invitations: 40 });
    expect(await mailed('invitation')).toHaveLength(10);
    const invitations = await admin.who.get(`${admin.account}/invitations`);
    expect(invitations.body.invitations).toHaveLength(10);
    await letAnHourPass();
    expect((await invite(admin, 'later@example.com')).status).toBe(429);
    await sql(`update counted_tries set ends_at = clock_timestamp() - interval '1 second'`);
    expect((await invite(admin, 'later@example.com')).status).toBe(200);
  });

  it('reach one mailbox at most three times a day in any spelling, from all trial accounts together', async () => {
    const admins = await many(8, () => trial());
    const spellings = [
      'bia.lima@example.com',
      'BIA.LIMA@Example.com',
      'bialima@example.com',
      'bia.lima+x@example.com',
    ];
    const answers = await Promise.all(admins.map((admin, n) => invite(admin, spellings[n % 4]!)));
    expect(outcomes(answers)).toEqual({ 200: 3, too_many_invitations: 5 });
    expect(await mailed('invitation')).toHaveLength(3);
    // A customer's invitations have a separate count.
    expect((await invite(await customer(), 'bia.lima@example.com')).status).toBe(200);
  });

  it.each([
    ['an IPv4 network', (n: number) => `203.0.113.${n}`],
    ['an IPv6 network', (n: number) => `2001:db8:77:${n}::1`],
  ])('are at most twenty a day from %s, from all trial accounts together', async (_, address) => {
    const admins = await many(5, () => trial());
    const answers = await many(50, (n) =>
      invite(admins[n % 5]!, `friend${n}@example.com`, { 'x-forwarded-for': address(n) }),
    );
    expect(outcomes(answers)).toEqual({ 200: 20, too_many_invitations: 30 });
  });

  it('are counted only if they are created', async () => {
    const [admin, others] = [await trial(), await many(3, () => trial())];
    for (const other of others) await invite(other, 'bia@example.com');
    for (let n = 0; n < 12; n += 1) expect((await invite(admin, 'bia@example.com')).status).toBe(429);
    const answers = await many(12, (n) => invite(admin, `friend${n}@example.com`));
    expect(outcomes(answers)).toEqual({ 200: 10, too_many_invitations: 2 });
  });

  it('are refused with the same response for every reason, with the whole hours until an attempt can succeed', async () => {
    const [admin, others] = [await trial(), await many(3, () => trial())];
    for (const other of others) await invite(other, 'bia@example.com');
    const ofRecipient = await invite(admin, 'bia@example.com');
    await many(10, (n) => invite(admin, `friend${n}@example.com`));
    const ofAccount = await invite(admin, 'eva@example.com');
    expect(ofRecipient.body).toEqual(ofAccount.body);
    for (const { status, body, headers } of [ofRecipient, ofAccount]) {
      expect(status).toBe(429);
      expect(body).toMatchObject({ title: 'Too Many Requests', code: 'too_many_invitations' });
      expect(headers.get('retry-after')).toBe('86400');
    }
  });

  it('are not limited for staff', async () => {
    const admin = await trial('Demonstration', 'operator');
    const answers = await many(25, (n) => invite(admin, `friend${n}@example.com`));
    expect(outcomes(answers)).toEqual({ 200: 25 });
  });
});

it('an account that the operator created can invite sixty people a day', async () => {
  const admin = await customer();
  const headers = fromNewNetwork();
  const answers = await many(60, (n) => invite(admin, `friend${n}@example.com`, headers));
  expect(outcomes(answers)).toEqual({ 200: 60 });
});

describe('an invitation that an account repeats', () => {
  it.each([
    ['a trial account', trial],
    ['a customer', customer],
  ])(
    'is mailed once an hour for %s, also in another case, for another role and after it was revoked',
    async (_, make) => {
      const admin = await make();
      const headers = fromNewNetwork();
      const both = await many(2, () => invite(admin, 'bia@example.com', headers));
      expect(outcomes(both)).toEqual({ 200: 1, invited_recently: 1 });
      const { id } = both.find(({ status }) => status === 200)!.body;
      expect((await invite(admin, 'BIA@Example.com', headers, 'admin')).body.code).toBe('invited_recently');
      expect((await admin.who.delete(`${admin.account}/invitations/${id}`)).status).toBe(204);
      const refused = await invite(admin, 'bia@example.com', headers);
      expect(refused).toMatchObject({ status: 429, body: { code: 'invited_recently' } });
      const seconds = Number(refused.headers.get('retry-after'));
      expect([seconds > 3_000, seconds <= 3_600]).toEqual([true, true]);
      expect(await mailed('invitation')).toEqual(['bia@example.com']);
      await letAnHourPass();
      expect((await invite(admin, 'bia@example.com', headers)).status).toBe(200);
      expect((await invite(admin, 'bia@example.com', headers)).body.code).toBe('invited_recently');
    },
  );
});

describe('a mailed link', () => {
  const link = (path: string, email: string, more: object = {}): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, {
      body: { email, language: 'en', ...more },
      headers: fromNewNetwork(),
    });
  const signUp = (email: string): Promise<Answer> =>
    link('/sign-up/email', email, { name: 'Eva Lima', password: PASSWORD });

  it('to a new address can be requested five times a day by a user, from all networks together', async () => {
    const ana = await person(server);
    const answers = await many(12, (n) =>
      ana.call('POST', '/auth/change-address', { email: `stranger${n}@example.com` }, fromNewNetwork()),
    );
    expect(outcomes(answers)).toEqual({ 204: 5, too_many_mails: 7 });
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect(await mailed('address_change')).toHaveLength(5);
  });

  it('to a new address reaches a mailbox five times a day, from all users together', async () => {
    for (let n = 0; n < 8; n += 1) {
      const email = n % 2 === 0 ? 'stranger@example.com' : `stran.ger+${n}@example.com`;
      const ana = await person(server);
      const answer = await ana.call('POST', '/auth/change-address', { email }, fromNewNetwork());
      // A user's page must not show that other users requested links too.
      expect(answer.status).toBe(204);
    }
    expect(await mailed('address_change')).toHaveLength(5);
  });

  it('for a sign-up reaches a mailbox five times a day, and does not use up its password resets', async () => {
    const ana = await person(server);
    for (let n = 0; n < 7; n += 1) {
      expect((await signUp(ana.email)).status).toBe(200);
      await letAnHourPass();
    }
    expect(await mailed('sign_up')).toHaveLength(5);
    expect((await link('/request-password-reset', ana.email)).status).toBe(204);
    expect(await mailed('password_reset')).toEqual([ana.email]);
  });
});

describe('events that users send to a webhook by hand', () => {
  const withWebhook = async (admin: Admin, host = 'hooks.example.com'): Promise<Admin> => {
    await admin.who.put(`${admin.account}/webhook`, { url: `https://${host}/onecode` });
    return admin;
  };
  const test = ({ who, account }: Admin): Promise<Answer> =>
    who.call('POST', `${account}/webhook/test`, {}, fromNewNetwork());
  const end = (): Promise<unknown> =>
    sql(
      `update outbox set outcome = 'sent', ended_at = clock_timestamp(), due_at = null where account_id is not null`,
    );

  it('are limited to fifty a day for a trial account, tests and repeats together, when eighty are sent at once', async () => {
    const admin = await withWebhook(await trial());
    expect((await test(admin)).status).toBe(204);
    await end();
    const [delivery] = (await admin.who.get(`${admin.account}/webhook`)).body.deliveries;
    const answers = await many(80, () =>
      admin.who.call(
        'POST',
        `${admin.account}/webhook/deliveries/${delivery.id}/again`,
        {},
        fromNewNetwork(),
      ),
    );
    expect(outcomes(answers)).toEqual({ 204: 49, too_many_events: 31 });
    await end();
    expect(await test(admin)).toMatchObject({ status: 429, body: { code: 'too_many_events' } });
    // A new address or webhook does not reset the count.
    await admin.who.delete(`${admin.account}/webhook`);
    await withWebhook(admin, 'other.example.com');
    expect((await test(admin)).headers.get('retry-after')).toBe('86400');
  });

  it('are limited for a host too, from all trial accounts together', async () => {
    const admins = await many(5, async () => withWebhook(await trial(), 'victim.example.com'));
    const round = async (): Promise<string[]> => {
      const codes: string[] = [];
      for (const admin of admins) {
        codes.push((await test(admin)).body?.code ?? 'posted');
        await end();
      }
      return codes;
    };
    expect(new Set(await round())).toEqual(new Set(['posted']));
    // Simulates 193 more events.
    expect(await sql('update counted_tries set tries = 198 where tries = 5 returning tries')).toHaveLength(1);
    expect(await round()).toEqual([
      ...Array<string>(2).fill('posted'),
      ...Array<string>(3).fill('too_many_events'),
    ]);
  });
});

describe('changes that mail all admins of an account', () => {
  it('are at most fifty a day for a trial account, except revocations of keys', async () => {
    const { who, account } = await trial();
    const { body } = await who.get(`${account}/applications`);
    const keys = `${account}/applications/${body.applications[0].id}/keys`;
    const answers = await many(30, () => who.post(keys));
    for (let n = 0; n < 15; n += 1) {
      answers.push(await who.put(`${account}/webhook`, { url: `https://hooks.example.com/${n}` }));
      answers.push(await who.put(`${account}/balance-alert`, { below: n + 1 }));
    }
    // The account's first key counts too.
    const { too_many_changes: refused } = outcomes(answers);
    expect([answers.length, refused]).toEqual([60, 11]);
    const made = answers.find(({ body: answer }) => answer?.id !== undefined)!;
    expect((await who.post(`${keys}/${made.body.id}/revoke`)).status).toBe(204);
  });
});
