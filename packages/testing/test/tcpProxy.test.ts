import { connect, type Socket } from 'node:net';
import { startTcpProxy, startTcpServer, until, type TcpProxy } from '@onecode/testing';

describe('the TCP proxy', () => {
  let proxy: TcpProxy;
  let heard: string;
  beforeEach(async () => {
    heard = '';
    // An echo server that records what it receives.
    const port = await startTcpServer((socket) =>
      socket.on('data', (chunk) => {
        heard += String(chunk);
        socket.write(chunk);
      }),
    );
    proxy = await startTcpProxy(`redis://127.0.0.1:${port}`);
  });
  afterEach(() => proxy.close());

  it('carries data in order, and later while it is slow', async () => {
    const client = dial(proxy);
    proxy.slow(60);
    const begun = performance.now();
    client.socket.write('a');
    await until('the request', () => heard === 'a');
    proxy.slow(0);
    client.socket.write('b');
    await until('the echo', () => client.heard() === 'ab');
    expect(performance.now() - begun).toBeGreaterThan(55);
  });

  it.each([
    ['requests', ''],
    ['replies', 'a'],
  ] as const)('holds one direction, %s, until it is opened again', async (direction, reached) => {
    const client = dial(proxy);
    client.socket.write('-');
    await until('the first echo', () => client.heard() === '-');
    proxy.freeze(direction);
    client.socket.write('a');
    if (reached !== '') await until('the request', () => heard === '-a');
    expect(client.heard()).toBe('-');
    expect(heard).toBe(`-${reached}`);
    await proxy.open();
    await until('the echo', () => client.heard() === '-a');
  });

  it('passes a request on and cuts its answer', async () => {
    proxy.cutReplies();
    const client = dial(proxy);
    client.socket.write('a');
    await until('the end of the connection', () => client.ended());
    expect(heard).toBe('a');
    expect(client.heard()).toBe('');
  });

  it('resets present connections, and carries new ones', async () => {
    const client = dial(proxy);
    client.socket.write('a');
    await until('the echo', () => client.heard() === 'a');
    proxy.hangUp();
    await until('the end of the connection', () => client.ended());
    const other = dial(proxy);
    other.socket.write('b');
    await until('the echo', () => other.heard() === 'b');
  });

  it('connects new clients to another port, or to none', async () => {
    let other = '';
    proxy.retarget(
      await startTcpServer((socket) =>
        socket.on('data', (chunk) => {
          other += String(chunk);
        }),
      ),
    );
    dial(proxy).socket.write('a');
    await until('the request', () => other === 'a');
    proxy.retarget(0);
    const client = dial(proxy);
    await until('the end of the connection', () => client.ended());
    expect(heard).toBe('');
  });
});

interface Client {
  socket: Socket;
  heard(): string;
  ended(): boolean;
}

function dial({ url }: TcpProxy): Client {
  let heard = '';
  let ended = false;
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.on('close', () => {
    ended = true;
  });
  socket.on('data', (chunk: Buffer) => {
    heard += String(chunk);
  });
  return { socket, heard: () => heard, ended: () => ended };
}
