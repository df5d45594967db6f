import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterTestFile } from './afterTestFile.js';

const running = new Map<Server, Set<Socket>>();
afterTestFile(() => {
  for (const [server, sockets] of running) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

/**
 * Starts a TCP server, on a free port, that runs until the end of the test file. It writes nothing unless `onConnection` does.
 *
 * @returns its port
 */
export async function startTcpServer(onConnection: (socket: Socket) => void = () => {}): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  running.set(server, sockets);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A port of this machine on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
