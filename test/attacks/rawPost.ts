import { connect, type Socket } from 'node:net';

/** A `POST` that a test writes part by part, and its answer. */
export interface RawPost {
  /** Writes the next part of the request, unless the connection is closed. */
  write(part: string | Buffer): void;
  /** The answer, once the server has closed the connection: its status (0 for none) and its body. */
  answered: Promise<{ status: number; body: string; at: number }>;
  end(): void;
}

/** Begins a `POST`: sends its head with the body's length. */
export function beginPost(
  url: string,
  headers: Readonly<Record<string, string>>,
  bodyBytes: number,
): RawPost {
  const { hostname, port, pathname, host } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received = '';
  let at = NaN;
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    if (received === '') at = performance.now();
    received += chunk;
  });
  const all = { host, connection: 'close', ...headers, 'content-length': String(bodyBytes) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return {
    write: (part) => void (socket.writable && socket.write(part)),
    answered: new Promise((resolve) =>
      socket.on('close', () =>
        resolve({
          status: Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0),
          body: received.slice(received.indexOf('\r\n\r\n') + 4),
          at,
        }),
      ),
    ),
    end: () => void socket.destroy(),
  };
}
