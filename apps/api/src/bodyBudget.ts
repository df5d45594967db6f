import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';
import { ClientGone, tooLarge } from './body.js';

/** While bodies wait for a buffer, a body that has one must receive so many bytes in so many milliseconds, or it is cut off. */
const PROGRESS_MS = 300;
const PROGRESS_BYTES_MIN = 32 * 1024;
/** Bodies with a `Content-Length` up to this wait for no buffer. */
const SMALL_BYTES_MAX = 64 * 1024;

interface BodyLimits {
  bytesMax: number;
  tooLarge: ProblemCode;
  /** Large bodies that are read at the same time. */
  largeMax: number;
  /** Large bodies that wait unread; one more makes the oldest be refused. */
  waitingMax: number;
  /** Small bodies that are read at the same time; one more makes the oldest be cut off. */
  smallMax: number;
}

interface Waiting {
  proceed: () => void;
  refuse: () => void;
}

interface Incoming {
  /** The bytes received in the current interval, and when that began. */
  progress: { bytes: number; since: number };
  /** Refuses the body, which comes too slowly. */
  cutOff: () => void;
}

/**
 * Bounds the memory of bodies that anybody may send. Large bodies are read into a fixed number of buffers, and wait for one unread.
 * While some wait, a body that makes too little progress is cut off. The newest waiting body goes first: in a flood, the oldest would
 * be read when its client has already given up.
 */
export class BodyBudget {
  readonly #large = new Set<Incoming>();
  readonly #small = new Set<Incoming>();
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  /** Free buffers, kept for reuse: new ones for each body would pile up until they are collected. */
  readonly #spare: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: BodyLimits) {}

  /** Reads a request's body for `use`, which must not keep it: its buffer is reused afterwards. @throws Problem, ClientGone */
  async read<T>(request: IncomingMessage, use: (body: Buffer) => T): Promise<T> {
    const { bytesMax, smallMax } = this.limits;
    const length = Number(request.headers['content-length'] ?? bytesMax);
    if (length > bytesMax) throw tooLarge(this.limits.tooLarge, bytesMax);
    if (length > SMALL_BYTES_MAX) return this.#readLarge(request, use);
    const [oldest] = this.#small;
    if (oldest !== undefined && this.#small.size >= smallMax) oldest.cutOff();
    return use(await this.#readInto(Buffer.allocUnsafe(length), request, this.#small));
  }

  async #readLarge<T>(request: IncomingMessage, use: (body: Buffer) => T): Promise<T> {
    if (this.#large.size >= this.limits.largeMax) await this.#waitForBuffer(request);
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.limits.bytesMax);
    try {
      return use(await this.#readInto(buffer, request, this.#large));
    } finally {
      this.#spare.push(buffer);
      [...this.#waiting].at(-1)?.proceed();
    }
  }

  #waitForBuffer(request: IncomingMessage): Promise<void> {
    const [oldest] = this.#waiting;
    if (oldest !== undefined && this.#waiting.size >= this.limits.waitingMax) oldest.refuse();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        proceed: () => settle(resolve),
        refuse: () => settle(() => reject(new Problem('too_busy'))),
      };
      const onGone = (): void => settle(() => reject(new ClientGone()));
      const settle = (how: () => void): void => {
        this.#waiting.delete(waiting);
        if (this.#waiting.size === 0) clearInterval(this.#timer);
        request.off('error', onGone).off('close', onGone);
        how();
      };
      request.on('error', onGone).on('close', onGone);
      if (this.#waiting.size === 0) this.#timer = setInterval(() => this.#checkProgress(), PROGRESS_MS / 3);
      this.#waiting.add(waiting);
    });
  }

  #readInto(buffer: Buffer, request: IncomingMessage, group: Set<Incoming>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let bytes = 0;
      const incoming: Incoming = {
        progress: { bytes: 0, since: performance.now() },
        cutOff: () => fail(new Problem('request_timeout', { detail: 'The body came too slowly.' })),
      };
      const onData = (chunk: Buffer): void => {
        if (bytes + chunk.length > buffer.length)
          return fail(tooLarge(this.limits.tooLarge, this.limits.bytesMax));
        bytes += chunk.copy(buffer, bytes);
        incoming.progress.bytes += chunk.length;
      };
      const onEnd = (): void => settle(() => resolve(buffer.subarray(0, bytes)));
      const onGone = (): void => fail(new ClientGone());
      const fail = (error: Error): void => settle(() => reject(error));
      const settle = (how: () => void): void => {
        group.delete(incoming);
        request.pause().off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
        how();
      };
      group.add(incoming);
      request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }

  /** Cuts off the large bodies that make too little progress. */
  #checkProgress(): void {
    // Data that has arrived is read first: the process itself may have been busy.
    setImmediate(() => {
      const now = performance.now();
      for (const { progress, cutOff } of this.#large) {
        if (now - progress.since < PROGRESS_MS) continue;
        if (progress.bytes < PROGRESS_BYTES_MIN) cutOff();
        Object.assign(progress, { bytes: 0, since: now });
      }
    });
  }
}
