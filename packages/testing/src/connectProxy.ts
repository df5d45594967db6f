import { createServer, STATUS_CODES } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** An HTTP proxy on this machine that opens tunnels for CONNECT. */
export interface ConnectProxy {
  /** Its address without user and password, `http://127.0.0.1:port`. */
  url: string;
  /** The requests so far, including those that are not CONNECT. */
  requests: { target: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port.
 *
 * @param answer returns the local port of the tunnel for a target, the status of a refusal as a negative number, or null for no response
 */
export async function startConnectProxy(answer: (target: string) => number | null): Promise<ConnectProxy> {
  const requests: ConnectProxy['requests'] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    response.writeHead(400).end();
  });
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  server.on('connect', (request, client: Socket) => {
    const target = request.url ?? '';
    requests.push({ target, authorization: request.headers['proxy-authorization'] });
    client.on('error', () => {});
    const result = answer(target);
    if (result === null) return;
    if (result < 0)
      return void client.end(`HTTP/1.1 ${-result} ${STATUS_CODES[-result]}\r\nContent-Length: 0\r\n\r\n`);
    const upstream = connect(result, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
