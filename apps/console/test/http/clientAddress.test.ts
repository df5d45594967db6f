import { clientAddress, networkOf } from '../../src/http/clientAddress.js';
import { useConsole } from '../console.js';
import { callConsole, type Answer } from '../people.js';

describe('the address of a client', () => {
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
    // What is none: of the connection.
    ['unknown', '203.0.113.9'],
    ['_hidden:80', '203.0.113.9'],
    ['192.0.2.1:http', '203.0.113.9'],
    ['192.0.2', '203.0.113.9'],
    ['0x7f.1', '203.0.113.9'],
    ['999.0.2.1', '203.0.113.9'],
    ['', '203.0.113.9'],
    [undefined, '203.0.113.9'],
  ])('of %j is %s', (ip, address) => {
    const socket = { remoteAddress: '::ffff:203.0.113.9' };
    expect(clientAddress({ ip, socket } as Parameters<typeof clientAddress>[0])).toBe(address);
  });

  it.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:7:9::1', '2001:db8:7::/48'],
    ['::1', '::/48'],
  ])('%s is of the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('behind a proxy that says ports', () => {
  const server = useConsole();
  const signIn = (client: string): Promise<Answer> =>
    callConsole(server, 'POST', '/auth/sign-in/email', {
      body: { email: `${client.replaceAll(/\W/g, '')}@example.com`, password: 'whatever it is' },
      headers: { 'x-forwarded-for': client },
    });

  it.each([
    ['IPv4', (client: number, port: number) => `192.0.2.${client}:${port}`],
    ['IPv6', (client: number, port: number) => `[2001:db8:${client}::1]:${port}`],
  ])('sign-ins of %s are limited for each client, whichever port it comes from', async (_, from) => {
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1) statuses.push((await signIn(from(1, 40_000 + n))).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    expect((await signIn(from(2, 40_000))).status).toBe(401);
  });
});
