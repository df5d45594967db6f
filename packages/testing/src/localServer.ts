import { createServer, type RequestListener } from 'node:http';
import { listenAnywhere } from './tcpServer.js';

/** An HTTP server on a free port of this machine. */
export interface LocalServer {
  url: string;
  port: number;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Starts a server that answers by `listener`. The caller closes it. */
export async function startLocalServer(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener);
  // After Node's five seconds a busy client's next request would meet the closing of its connection.
  server.keepAliveTimeout = 120_000;
  const port = await listenAnywhere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
