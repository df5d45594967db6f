import { createServer, type RequestListener } from 'node:http';
import { listenAnywhere } from './tcpServer.js';

/** An HTTP server on a free port of this machine. */
export interface LocalServer {
  url: string;
  port: number;
  /** Stops the server and closes every connection. */
  close(): Promise<void>;
}

/** Starts a server with this listener. The caller closes it. */
export async function startLocalServer(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener);
  // With Node's default of five seconds, a slow client could send its next request while the server closes the connection.
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
