import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';
import { ClientGone, tooLarge } from './body.js';

/** While bodies wait for a buffer, each that has one must bring so many bytes in so many milliseconds, or give it back. */
const PROGRESS_MS = 300;
const PROGRESS_BYTES_MIN = 32 * 1024;
/** Bodies that say they are no larger than this wait for nothing. */
const SMALL_BYTES_MAX = 64 * 1024;

interface BodyLimits {
  /** Of one body. */
  bytesMax: number;
  /** What a body is refused with that is too large. */
  tooLarge: ProblemCode;
  /** Large bodies that are read at a time. */
  largeMax: number;
  /** Large bodies that wait for that, unread; for one more, the oldest is refused. */
  waitingMax: number;
  /** Small bodies that are read at a time; for one more, the oldest is cut off. */
  smallMax: number;
}

/** A body that waits for a buffer. */
interface Waiting {
  goOn: () => void;
  refuse: () => void;
}

/** A body that comes in. */
interface Incoming {
  /** What came in since when, for its progress. */
  came: { bytes: number; since: number };
  /** Ends a body that makes no progress. */
  cutOff: () => void;
}

/**
 * Bounds the memory that bodies take which anybody may send. Large ones are read into so many buffers and no more, and wait for one
 * unread. While they wait, whoever brings too little is cut off. The newest goes first: in a flood, a sender that gives up when it
 * has waited for too long would else be read when it has gone.
 */
export class BodyBudget {
  readonly #large = new Set<Incoming>();
  readonly #small = new Set<Incoming>();
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  /** Buffers that nobody uses. Made anew for each body, they would pile up until they are collected. */
  readonly #spare: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: BodyLimits) {}

  /**
   * Reads a request's body, and lends it for as long as `use` takes.
   *
   * @throws Problem with the limits' code, `request_timeout` or `too_busy`; ClientGone
   */
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
    if (this.#large.size >= this.limits.largeMax) await this.#turn(request);
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.limits.bytesMax);
    try {
      return use(await this.#readInto(buffer, request, this.#large));
    } finally {
      this.#spare.push(buffer);
      [...this.#waiting].at(-1)?.goOn();
    }
  }

  /** Waits until one of the buffers is free. */
  #turn(request: IncomingMessage): Promise<void> {
    const [oldest] = this.#waiting;
    if (oldest !== undefined && this.#waiting.size >= this.limits.waitingMax) oldest.refuse();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        goOn: () => settle(resolve),
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
      if (this.#waiting.size === 0) this.#timer = setInterval(() => this.#watch(), PROGRESS_MS / 3);
      this.#waiting.add(waiting);
    });
  }

  #readInto(buffer: Buffer, request: IncomingMessage, among: Set<Incoming>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let bytes = 0;
      const incoming: Incoming = {
        came: { bytes: 0, since: performance.now() },
        cutOff: () => fail(new Problem('request_timeout', { detail: 'The body came too slowly.' })),
      };
      const onData = (chunk: Buffer): void => {
        if (bytes + chunk.length > buffer.length)
          return fail(tooLarge(this.limits.tooLarge, this.limits.bytesMax));
        bytes += chunk.copy(buffer, bytes);
        incoming.came.bytes += chunk.length;
      };
      const onEnd = (): void => settle(() => resolve(buffer.subarray(0, bytes)));
      const onGone = (): void => fail(new ClientGone());
      const fail = (error: Error): void => settle(() => reject(error));
      const settle = (how: () => void): void => {
        among.delete(incoming);
        request.pause().off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
        how();
      };
      among.add(incoming);
      request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }

  #watch(): void {
    // What has come in meanwhile is read first: the process itself may have been busy.
    setImmediate(() => {
      const now = performance.now();
      for (const { came, cutOff } of this.#large) {
        if (now - came.since < PROGRESS_MS) continue;
        if (came.bytes < PROGRESS_BYTES_MIN) cutOff();
        Object.assign(came, { bytes: 0, since: now });
      }
    });
  }
}
