import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { runningUntilEnd } from './running.js';

const running = runningUntilEnd<[Server, Set<Socket>]>(([server, sockets]) => {
  server.close();
  for (const socket of sockets) socket.destroy();
});

/**
 * Starts a TCP server on a free port, which runs until the end of the test file. Only `onConnection` writes to connections.
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
  running.add([server, sockets]);
  return listenAnywhere(server);
}

/** Returns a port of this machine on which no process listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listenAnywhere(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Makes a server listen on a free port of this machine. @returns the port */
export async function listenAnywhere(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
