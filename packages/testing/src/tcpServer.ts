import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const running = new Map<Server, Set<Socket>>();
// A test that fails half-way leaves no server behind.
afterAll(() => {
  for (const [server, sockets] of running) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

/** Starts a bare TCP server, which never says a word unless told to, until the end of the test file. @returns its port */
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
