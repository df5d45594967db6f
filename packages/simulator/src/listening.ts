import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

const CLOSE_DEADLINE_MS = 2000;

/** An HTTP server that listens, and that closes without waiting for connections on which nothing is being answered. */
export interface Listening {
  /** The address to reach it at from this machine. */
  readonly url: string;
  /** Lets answers that are being written finish, then cuts what is left. */
  close(): Promise<void>;
}

/** Starts to listen; port 0 picks a free one. @throws when the address cannot be had. */
export async function listen(handler: RequestListener, port: number, host: string): Promise<Listening> {
  const server = createServer(handler);
  // Longer than any client keeps an idle connection, so that a reset is always one that a rule asked for.
  server.keepAliveTimeout = 120_000;
  // Node's own closeIdleConnections leaves those that a browser opened ahead of its first request.
  const idle = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  server.prependListener('request', ({ socket }, response) => {
    idle.delete(socket);
    response.once('close', () => {
      if (closing) socket.destroySoon();
      else if (!socket.destroyed) idle.add(socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    url: addressOf(server),
    close: () =>
      new Promise((resolve) => {
        closing = true;
        const deadline = setTimeout(() => server.closeAllConnections(), CLOSE_DEADLINE_MS);
        server.close(() => {
          clearTimeout(deadline);
          resolve();
        });
        for (const socket of idle) socket.destroy();
      }),
  };
}

function addressOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
