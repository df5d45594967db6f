import { RawConnection, requestBytes, type RawAnswer } from '../../apps/api/test/raw.js';
import { checkResponse } from '../../apps/api/test/validated.js';
import type { FuzzRequest } from './request.js';

/** The bytes of a request. */
export function bytesOnTheWire({ method, target, headers, body }: FuzzRequest): Buffer {
  return requestBytes(method, target, headers, body ?? '');
}

/** Throws unless an answer is one that the contract allows and that its request may have. */
export function judge({ method, target, expected }: FuzzRequest, answer: RawAnswer): void {
  checkContract(method, target.replace(/^http:\/\/codes\.test/, ''), answer);
  if (expected !== null && !expected.includes(answer.status))
    throw new Error(`answered ${answer.status} ${answer.json.code ?? ''} instead of ${listed(expected)}`);
}

/** Throws for anything that no request may be answered with. */
export function checkContract(method: string, path: string, answer: RawAnswer): void {
  if (!(answer.status >= 200 && answer.status < 500))
    throw new Error(`answered ${answer.status}: ${answer.body}`);
  checkResponse({ method, path, ...answer });
}

const listed = (statuses: readonly number[]): string =>
  statuses.length > 10 ? `${statuses[0]} to ${statuses.at(-1)}` : statuses.join(' or ');

/** Sends requests one after the other over a connection that is kept as long as the service keeps it. */
export class Lane {
  #connection: RawConnection | null = null;

  constructor(private readonly port: number) {}

  /** Sends a request, and its twin if it has one. @throws when an answer is wrong or does not come */
  async send(request: FuzzRequest): Promise<RawAnswer> {
    const answer = await this.#exchange(request);
    judge(request, answer);
    if (request.twin !== undefined) {
      const other = await this.#exchange(request.twin);
      judge(request.twin, other);
      if (shown(answer) !== shown(other))
        throw new Error(`answers differ:\n${shown(answer)}\n${shown(other)}`);
    }
    return answer;
  }

  async #exchange(request: FuzzRequest): Promise<RawAnswer> {
    const connection = (this.#connection ??= await RawConnection.open(this.port));
    try {
      connection.write(bytesOnTheWire(request));
      const answer = await connection.answer(request.method);
      if (connection.rest !== '') throw new Error(`more than one answer: ${connection.rest.slice(0, 200)}`);
      if (answer.headers['connection'] === 'close') this.close();
      return answer;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#connection?.destroy();
    this.#connection = null;
  }
}

/** An answer without what differs between any two. */
function shown({ status, headers, body }: RawAnswer): string {
  const { date: _date, 'x-request-id': _id, ...same } = headers;
  return JSON.stringify({ status, headers: same, body });
}
