import { connect as connectSocket, type Socket } from 'node:net';
import type { ProblemCode } from '@onecode/domain';

/** A response read from the socket. Header names are in lower case. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  /** The number of occurrences of each header. */
  headerCounts: Record<string, number>;
  body: string;
  json: { code?: ProblemCode; [member: string]: unknown };
}

const ANSWER_MS_MAX = 20_000;

/** An HTTP connection that writes raw bytes, and reads responses that end with their Content-Length or the connection. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private ended = false;
  private fault: Error | null = null;
  private wake = (): void => {};

  private constructor(readonly socket: Socket) {
    const look = (): void => this.wake();
    socket
      .on('data', (chunk) => {
        this.received = Buffer.concat([this.received, chunk]);
        look();
      })
      .on('error', (error) => {
        this.fault = error;
        look();
      })
      .on('close', () => {
        this.ended = true;
        look();
      });
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connectSocket({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawConnection(socket);
  }

  /** Returns whether the server has closed or reset the connection. */
  get isClosed(): boolean {
    return this.ended;
  }

  /** Returns the error of the connection, such as a reset, or null. */
  get error(): Error | null {
    return this.fault;
  }

  /** Returns the bytes after the responses that were read. */
  get rest(): string {
    return this.received.toString('latin1');
  }

  /** Writes bytes. Texts are written in latin1, one byte for each character. */
  write(...parts: (string | Buffer)[]): this {
    for (const part of parts)
      this.socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    return this;
  }

  /** Writes, and waits until the socket's buffer has room again or the connection is closed. */
  async push(part: Buffer): Promise<void> {
    if (this.socket.destroyed || this.socket.write(part)) return;
    await new Promise<void>((resolve) => {
      this.socket.once('drain', resolve).once('close', resolve);
    });
  }

  /** Reads the next response, which may take up to `msMax`. A response to the method HEAD has no body. */
  async answer(method = 'GET', msMax = ANSWER_MS_MAX): Promise<RawAnswer> {
    await this.wait(() => this.received.includes('\r\n\r\n') || this.ended, msMax);
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd < 0) throw new Error('the connection was closed without a response');
    const [statusLine = '', ...lines] = this.received.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers: Record<string, string> = {};
    const headerCounts: Record<string, number> = {};
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
      headers[name.toLowerCase()] = value;
      headerCounts[name.toLowerCase()] = (headerCounts[name.toLowerCase()] ?? 0) + 1;
    }
    const length = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? Infinity);
    const end = headEnd + 4 + length;
    await this.wait(() => this.received.length >= end || this.ended, msMax);
    const body = this.received.subarray(headEnd + 4, end).toString('utf8');
    this.received = this.received.subarray(end);
    const isJson = /json/.test(headers['content-type'] ?? '') && body !== '';
    return { status, headers, headerCounts, body, json: isJson ? JSON.parse(body) : {} };
  }

  /** Reads an interim response, such as 100 Continue. @throws if another response arrives */
  async interim(status: number): Promise<void> {
    await this.wait(() => this.received.includes('\r\n\r\n') || this.ended);
    const end = this.received.indexOf('\r\n\r\n') + 4;
    const head = this.received.subarray(0, end).toString('latin1');
    if (!head.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`expected ${status}, but received ${head}`);
    this.received = this.received.subarray(end);
  }

  /** Waits until the server has closed the connection. */
  async closed(msMax = ANSWER_MS_MAX): Promise<void> {
    await this.wait(() => this.ended, msMax);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private async wait(condition: () => boolean, msMax = ANSWER_MS_MAX): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.wake();
    }, msMax);
    while (!condition()) {
      if (late) throw new Error(`no response within ${msMax} ms`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    clearTimeout(timer);
  }
}

/** Returns the bytes of a request. Texts of the head are latin1. Adds a Content-Length for the body unless the headers frame it. */
export function requestBytes(
  method: string,
  path: string,
  headers: readonly (readonly [name: string, value: string])[],
  body: string | Buffer = '',
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  const framed = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(framed || bytes.length === 0 ? [] : [`Content-Length: ${bytes.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}
