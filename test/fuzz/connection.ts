import { RawConnection, requestBytes, type RawAnswer } from '@onecode/testing';
import { checkResponse } from '@onecode/testing/contract';
import type { FuzzRequest } from './request.js';

/** The bytes of a request. */
export function bytesOnTheWire({ method, target, headers, body }: FuzzRequest): Buffer {
  return requestBytes(method, target, headers, body ?? '');
}

/** @throws unless the contract allows the answer and the request may get it */
export function judge({ method, target, expected }: FuzzRequest, answer: RawAnswer): void {
  checkContract(method, target.replace(/^http:\/\/codes\.test/, ''), answer);
  if (expected !== null && !expected.includes(answer.status))
    throw new Error(`answered ${answer.status} ${answer.json.code ?? ''} instead of ${listed(expected)}`);
}

/** @throws for an answer that no request may get */
export function checkContract(method: string, path: string, answer: RawAnswer): void {
  if (!(answer.status >= 200 && answer.status < 500))
    throw new Error(`answered ${answer.status}: ${answer.body}`);
  checkResponse({ method, path, ...answer });
}

const listed = (statuses: readonly number[]): string =>
  statuses.length > 10 ? `${statuses[0]} to ${statuses.at(-1)}` : statuses.join(' or ');

/** Sends requests one after another over one connection, and opens a new one when the service closes it. */
export class KeepAliveConnection {
  #connection: RawConnection | null = null;

  constructor(private readonly port: number) {}

  /** Sends a request and its twin. @throws when an answer is wrong or missing */
  async send(request: FuzzRequest): Promise<RawAnswer> {
    const answer = await this.#exchange(request);
    judge(request, answer);
    if (request.twin !== undefined) {
      const twinAnswer = await this.#exchange(request.twin);
      judge(request.twin, twinAnswer);
      if (comparable(answer) !== comparable(twinAnswer))
        throw new Error(`answers differ:\n${comparable(answer)}\n${comparable(twinAnswer)}`);
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

/** An answer without the headers that always differ. */
function comparable({ status, headers, body }: RawAnswer): string {
  const { date: _date, 'x-request-id': _id, ...same } = headers;
  return JSON.stringify({ status, headers: same, body });
}
