import { buildAccount, until } from '@onecode/testing';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { judgePassword } from '../../src/auth/passwords.js';
import { clientAddress, networkOf } from '../../src/http/clientAddress.js';
import { useConsole } from '../console.js';
import { type Answer, callConsole, PASSWORD, person } from '../people.js';
import { QUERIES } from './requests.js';

const server = useConsole();

describe('clientAddress and networkOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5678', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[::ffff:c000:201]:443', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8:0::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    // An invalid header: the address of the connection.
    ['unknown', '203.0.113.9'],
    ['_hidden:80', '203.0.113.9'],
    ['192.0.2.1:http', '203.0.113.9'],
    ['192.0.2', '203.0.113.9'],
    ['0x7f.1', '203.0.113.9'],
    ['999.0.2.1', '203.0.113.9'],
    ['', '203.0.113.9'],
    [undefined, '203.0.113.9'],
  ])('clientAddress maps %j to %s', (ip, address) => {
    const socket = { remoteAddress: '::ffff:203.0.113.9' };
    expect(clientAddress({ ip, socket } as Parameters<typeof clientAddress>[0])).toBe(address);
  });

  it.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:7:9::1', '2001:db8:7::/48'],
    ['::1', '::/48'],
  ])('networkOf maps %s to %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('the server of the console', () => {
  describe('a slow client', () => {
    /** A separate server, because its short timeouts would cut off the other tests on a busy machine. */
    const impatient = useConsole(
      {},
      { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 200 },
    );

    /** Everything that the server sends until it closes the connection. */
    function converse(...lines: string[]): Promise<string> {
      const socket = connect(Number(new URL(impatient.url).port), 'localhost');
      socket.write(lines.join('\r\n'));
      return text(socket);
    }
    const host = (): string => `Host: ${new URL(impatient.url).host}`;
    const origin = (): string => `Origin: ${impatient.url}`;

    it('is disconnected with 408 while it sends its headers', async () => {
      expect(await converse('GET /api/session HTTP/1.1', host(), 'Cookie: a')).toMatch(/^HTTP\/1\.1 408 /);
    });

    it('is disconnected with 408 while it sends a body', async () => {
      const begun = ['Content-Type: application/json', 'Transfer-Encoding: chunked', '', '1', '{', ''];
      expect(await converse('POST /api/accounts HTTP/1.1', host(), origin(), ...begun)).toMatch(
        /^HTTP\/1\.1 408 /,
      );
    });

    it('is refused with 413 when it announces a body that is too large, before it sends the body', async () => {
      const announced = ['Content-Type: application/json', 'Content-Length: 1000000000', '', '{'];
      const answer = await converse('POST /api/accounts HTTP/1.1', host(), origin(), ...announced);
      expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*Connection: close[^]*"payload_too_large"/);
    });
  });

  describe('files', () => {
    it('are cached by browsers, except pages and missing files', async () => {
      const page = await (await fetch(`${server.url}/`)).text();
      const asset = /\/assets\/[\w.-]+\.js/.exec(page)?.[0] ?? '';
      const kept = async (path: string): Promise<unknown[]> => {
        const { status, headers } = await fetch(`${server.url}${path}`);
        return [status, headers.get('cache-control')];
      };
      expect(await kept(asset)).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(await kept('/icon.svg')).toEqual([200, 'public, max-age=3600']);
      expect(await kept('/assets/missing.js')).toEqual([404, 'no-store']);
      expect(await kept('/')).toEqual([200, 'no-store']);
    });

    it('are compressed as the browser accepts, and preloaded only for a browser with a cookie', async () => {
      const pageOf = async (headers: Record<string, string>): Promise<string> =>
        (await fetch(`${server.url}/`, { headers })).text();
      const page = await pageOf({});
      const asset = /\/assets\/start-[\w-]+\.js/.exec(page)?.[0] ?? '';
      const encodingOf = async (accepted: string): Promise<unknown[]> => {
        const answer = await fetch(server.url + asset, { headers: { 'accept-encoding': accepted } });
        const [type, encoding] = ['content-type', 'content-encoding'].map((name) => answer.headers.get(name));
        return [type?.split(';')[0], encoding, (await answer.text()).length];
      };
      const [type, none, length] = await encodingOf('identity');
      expect([type, none]).toEqual(['text/javascript', null]);
      expect(await encodingOf('gzip, deflate, br')).toEqual([type, 'br', length]);
      expect(await encodingOf('gzip')).toEqual([type, 'gzip', length]);

      expect(page).not.toContain('modulepreload');
      expect(await pageOf({ cookie: 'any=thing' })).toContain('modulepreload');
    });
  });

  describe('many simultaneous sign-ups', () => {
    /** Each hashes a password. `npm run test:all` makes more sign-ups than the console has connections. */
    const SIGN_UPS = process.env['ALL_TESTS'] === '1' ? 30 : 8;

    it('leave database connections to other requests', async () => {
      const lock = await server.db.connect();
      try {
        // As slow as possible: none ends before the lock is released.
        await lock.query('begin; lock table users in access exclusive mode');
        const signUps = Array.from({ length: SIGN_UPS }, (_, n) =>
          callConsole(server, 'POST', '/auth/sign-up/email', {
            body: { name: 'Ana', email: `ana${n}@example.com`, password: PASSWORD, language: 'en' },
            headers: { 'x-forwarded-for': `198.51.${n}.1` },
          }),
        );
        await until('the sign-ups that wait', async () => (await server.db.countLockWaits()) >= 2);
        const counted = `select from counted_tries where ends_at between now() + interval '59 minutes' and now() + interval '1 hour'`;
        await until('all to be counted', async () => (await server.db.sql(counted)).length >= SIGN_UPS);
        // Passwords are checked one at a time: after this one, all of the sign-ups' passwords are checked.
        await judgePassword({ password: PASSWORD, name: 'Ana', email: 'ana@example.com' });
        expect((await callConsole(server, 'GET', '/sign-up-offer')).status).toBe(200);
        expect(await server.db.countLockWaits()).toBe(2);
        await lock.query('rollback');
        expect((await Promise.all(signUps)).map(({ status }) => status)).toEqual(Array(SIGN_UPS).fill(204));
      } finally {
        await lock.end();
      }
    });
  });

  describe('a member who requests many overviews at once', () => {
    const query = new URLSearchParams(QUERIES['get /accounts/:account/overview']).toString();
    const memberOf = async (account: string) => {
      const member = await person(server, { accounts: { [account]: 'viewer' } });
      return () => member.get(`/accounts/${account}/overview?${query}`);
    };

    it('gets 429, and blocks neither connections nor the overviews of other accounts', async () => {
      const { database } = server.db;
      const flood = await memberOf(await buildAccount(database));
      const account = await buildAccount(database);
      const [other, colleague] = [await memberOf(account), await memberOf(account)];
      // As slow as possible: none ends before the lock is released.
      const lock = await server.db.connect();
      try {
        await lock.query('begin; lock table sends in access exclusive mode');
        const asked = Array.from({ length: 80 }, flood);
        await until('its overviews that are read', async () => (await server.db.countLockWaits()) >= 2);
        expect((await callConsole(server, 'GET', '/sign-up-offer')).status).toBe(200);
        // Read at the same time as the flood, not after it.
        const others = Array.from({ length: 9 }, () => [other(), colleague()]).flat();
        await until('overviews of the other account', async () => (await server.db.countLockWaits()) >= 4);
        await lock.query('rollback');
        const statuses = async (answers: Promise<Answer>[]): Promise<number[]> =>
          (await Promise.all(answers)).map(({ status }) => status);
        expect(new Set(await statuses(others))).toEqual(new Set([200]));
        const flooded = await statuses(asked);
        expect(new Set(flooded)).toEqual(new Set([200, 429]));
        expect(flooded.filter((status) => status === 200).length).toBeGreaterThanOrEqual(40);
      } finally {
        await lock.end();
      }
    });
  });
});
