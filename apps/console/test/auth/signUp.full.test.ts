import { noteMailSender } from '@onecode/store/mails';
import { useConsole } from '../console.js';
import {
  callConsole,
  cookieOf,
  inSession,
  PASSWORD,
  person,
  type Answer,
  type TestPerson,
} from '../people.js';
import { linksTo, tokenTo } from './mailedLinks.js';

describe('sign-up', () => {
  const server = useConsole();

  const ANA = { name: 'Ana Souza', password: PASSWORD, language: 'pt-BR' };
  const signUp = (body: object, address = '192.0.2.1', headers: object = {}): Promise<Answer> =>
    callConsole(server, 'POST', '/auth/sign-up/email', {
      body,
      headers: { 'x-forwarded-for': address, ...headers },
    });
  /** Sets ceilings for one test. */
  const ceilings = (network: number, domain: number) =>
    server.db.sql('update settings set sign_ups_per_network_day = $1, sign_ups_per_domain_day = $2', [
      network,
      domain,
    ]);
  const codesOf = (answers: readonly Answer[]): string[] =>
    answers
      .map(({ status, body }) => (status === 204 ? 'made' : String(body.code)))
      .toSorted((a, b) => a.localeCompare(b));

  describe('limits of sign-ups', () => {
    beforeEach(() => ceilings(1_000, 1_000));
    afterAll(() => ceilings(1_000, 1_000));

    it('allow thirty attempts an hour for a network, for any result and from any of its addresses', async () => {
      await signUp({ ...ANA, email: 'taken@example.com' }, '192.0.3.1');
      const tried: Answer[] = [];
      for (let n = 0; n < 29; n += 1)
        tried.push(
          await signUp(
            n % 2 === 0
              ? { ...ANA, email: 'taken@example.com' }
              : { ...ANA, email: 'ana@example.com', password: 'password1234' },
            `192.0.3.${n}`,
          ),
        );
      expect(new Set(codesOf(tried))).toEqual(new Set(['invalid_input']));
      const good = { ...ANA, email: 'good@example.com' };
      expect(await signUp(good, '192.0.3.200')).toMatchObject({
        status: 429,
        body: { code: 'rate_limited' },
      });
      expect((await signUp(good, '192.0.4.200')).status).toBe(204);
    });

    it('do not count a sign-up that creates no user', async () => {
      await ceilings(1, 1);
      const from = (email: string, password = PASSWORD) => signUp({ ...ANA, email, password }, '192.0.5.1');
      expect(await from('refused@one.example', 'password1234')).toMatchObject({ status: 422 });
      expect(await from('created@one.example')).toMatchObject({ status: 204 });
      expect(await from('another@two.example')).toMatchObject({ body: { code: 'too_many_sign_ups' } });
      // A sign-up that is refused for its network is not counted for its domain.
      expect((await signUp({ ...ANA, email: 'another@two.example' }, '192.0.6.1')).status).toBe(204);
      // A sign-up that is refused for its domain is not counted for its network.
      expect(await signUp({ ...ANA, email: 'another@one.example' }, '192.0.8.1')).toMatchObject({
        body: { code: 'too_many_sign_ups' },
      });
      expect((await signUp({ ...ANA, email: 'another@three.example' }, '192.0.8.1')).status).toBe(204);
    });
  });
});

describe('mailed links', () => {
  const server = useConsole();
  const NEW_PASSWORD = 'another horse battery';
  let networks = 0;

  beforeAll(() => noteMailSender(server.db.database, 'codes@onecode.example'));
  beforeEach(async () => {
    networks += 1;
    await server.db.sql('delete from outbox');
  });

  /** From a different network in each test. */
  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, {
      body,
      headers: { 'x-forwarded-for': `10.1.${networks}.1`, ...headers },
    });
  const askReset = (email: string): Promise<Answer> =>
    post('/request-password-reset', { email, language: 'en' });
  const signIn = (email: string, password: string): Promise<Answer> =>
    post('/sign-in/email', { email, password });
  const signUp = (email: string, more: object = {}): Promise<Answer> =>
    post('/sign-up/email', { name: 'Eva Lima', email, password: PASSWORD, language: 'pt-BR', ...more });

  const expire = (): Promise<unknown> =>
    server.db.sql(`update user_verifications set expires_at = clock_timestamp() - interval '1 second'`);
  /** The parts of a response that could distinguish two addresses. */
  function shown({ status, body, headers }: Answer): unknown {
    const rest = [...headers].filter(
      ([name]) => !['date', 'content-security-policy', 'x-request-id'].includes(name),
    );
    return { status, body, headers: rest };
  }

  describe('a password reset', () => {
    it('expires after an hour, after a password change, and after the use of another link', async () => {
      const [ana, bia] = [await person(server), await person(server)];
      const ask = async ({ email }: TestPerson): Promise<string> => {
        await askReset(email);
        return tokenTo(server, email);
      };
      const use = async (token: string): Promise<number> =>
        (await post('/reset-password', { token, password: NEW_PASSWORD })).status;
      const late = await ask(ana);
      await expire();
      expect(await use(late)).toBe(404);
      const [first, second] = [await ask(ana), await ask(ana)];
      expect(await use(second)).toBe(204);
      expect(await use(first)).toBe(404);
      const third = await ask(bia);
      await bia.post('/auth/change-password', { password: PASSWORD, newPassword: NEW_PASSWORD });
      expect(await use(third)).toBe(404);
    });

    it('does not replace the second factor', async () => {
      const ana = await person(server);
      await server.db.sql('update users set two_factor_enabled = true where id = $1', [ana.id]);
      await askReset(ana.email);
      await post('/reset-password', { token: await tokenTo(server, ana.email), password: NEW_PASSWORD });
      expect(await signIn(ana.email, NEW_PASSWORD)).toMatchObject({
        status: 200,
        body: { secondStep: true },
      });
    });

    it('has the same response, work and time for an unknown address', async () => {
      const ana = await person(server);
      const [known, unknown] = [await askReset(ana.email), await askReset('unknown@example.com')];
      expect(shown(known)).toEqual(shown(unknown));
      const rows = await server.db.sql('select kind, language, tries from outbox');
      expect(rows[0]).toEqual(rows[1]);
      expect(await linksTo(server, 'unknown@example.com')).toHaveLength(1);
      // The link of an unknown address belongs to no user.
      expect(
        await post('/reset-password', {
          token: await tokenTo(server, 'unknown@example.com'),
          password: NEW_PASSWORD,
        }),
      ).toMatchObject({ status: 404 });
      const times: [known: number[], unknown: number[]] = [[], []];
      for (let n = 0; n < 40; n += 1) {
        await server.db.sql('delete from counted_tries');
        const begun = performance.now();
        await askReset(n % 2 === 0 ? ana.email : 'unknown@example.com');
        times[n % 2]!.push(performance.now() - begun);
      }
      const [one, other] = times.map((list) => list.toSorted((a, b) => a - b)[10]!);
      expect(Math.max(one!, other!) / Math.min(one!, other!)).toBeLessThan(2);
    });

    it('can be requested thirty times an hour from a network', async () => {
      const codes: number[] = [];
      for (let n = 0; n < 32; n += 1) codes.push((await askReset(`x${n}@example.com`)).status);
      expect(codes.filter((status) => status === 204)).toHaveLength(30);
      expect(codes.slice(30)).toEqual([429, 429]);
    });
  });

  describe('a sign-up with a mailed link', () => {
    it('is reported as unconfirmed at sign-in only with its own password, whether or not the address is registered', async () => {
      const ana = await person(server);
      await server.db.sql('delete from counted_tries');
      for (const email of ['nina@example.com', ana.email]) {
        await signUp(email, { password: 'a stranger to horses' });
        expect(await signIn(email, 'a stranger to horses')).toMatchObject({
          status: 401,
          body: { code: 'address_unconfirmed' },
        });
        expect(await signIn(email, NEW_PASSWORD)).toMatchObject({
          status: 401,
          body: { code: 'wrong_credentials' },
        });
      }
      expect((await signIn(ana.email, PASSWORD)).status).toBe(200);
      await expire();
      expect(await signIn('nina@example.com', 'a stranger to horses')).toMatchObject({
        body: { code: 'wrong_credentials' },
      });
    });

    it('expires after a day, and its password cannot be guessed', async () => {
      await signUp('lia@example.com');
      const token = await tokenTo(server, 'lia@example.com');
      const codes: number[] = [];
      for (let n = 0; n < 12; n += 1)
        codes.push((await post('/confirm-sign-up', { token, password: `wrong horse ${n}` })).status);
      expect(codes.at(-1)).toBe(429);
      await signUp('mia@example.com');
      const other = await tokenTo(server, 'mia@example.com');
      await expire();
      expect((await post('/confirm-sign-up', { token: other, password: PASSWORD })).status).toBe(404);
    });
  });

  describe('a change of address', () => {
    it('is cancelled by a new password, because an attacker may have requested it', async () => {
      const ana = await person(server);
      const ask = async (email: string): Promise<string> => {
        await ana.post('/auth/change-address', { email });
        return tokenTo(server, email);
      };
      const first = await ask('thief@example.com');
      const headers = {
        cookie: cookieOf(
          await ana.post('/auth/change-password', { password: PASSWORD, newPassword: NEW_PASSWORD }),
        ),
      };
      const { csrfToken } = (await callConsole(server, 'GET', '/session', { headers })).body;
      const again = inSession(server, ana, { ...headers, csrfToken });
      expect((await again.post('/auth/confirm-address', { token: first })).status).toBe(404);
      const bia = await person(server);
      await bia.post('/auth/change-address', { email: 'thief@example.com' });
      const second = await tokenTo(server, 'thief@example.com');
      await askReset(bia.email);
      await post('/reset-password', { token: await tokenTo(server, bia.email), password: NEW_PASSWORD });
      const [left] = await server.db.sql(
        `select count(*)::int as links from user_verifications where identifier like 'address_change:%' and value::jsonb ->> 'userId' = $1`,
        [bia.id],
      );
      expect([second, left]).toEqual([expect.any(String), { links: 0 }]);
    });
  });
});
