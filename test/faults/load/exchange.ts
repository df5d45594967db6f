import type { Reply } from '../evidence.js';

export interface Question {
  method: 'GET' | 'POST';
  url: string;
  key: string;
  idempotencyKey?: string | null;
  body?: string;
  /** For the whole exchange. */
  msMax: number;
}

/** Asks an API once. Never throws: what went wrong is a reply. Connections are kept alive and shared by Node's `fetch`. */
export async function ask<Body>(question: Question): Promise<Reply<Body>> {
  const { method, url, key, idempotencyKey = null, body, msMax } = question;
  const signal = AbortSignal.timeout(msMax);
  try {
    const response = await fetch(url, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body }),
    });
    return replyOf<Body>(response, await response.text());
  } catch (error) {
    return { kind: 'lost', reason: signal.aborted ? 'no answer in time' : causeOf(error) };
  }
}

function replyOf<Body>(response: Response, text: string): Reply<Body> {
  const { status } = response;
  const body = parse(text);
  if (status < 300 && body !== null) return { kind: 'answer', status, body: body as Body };
  const code: unknown = body === null || !('code' in body) ? null : body.code;
  const retryAfter = response.headers.get('retry-after');
  return {
    kind: 'problem',
    status,
    // What is no problem document has no code, and the checker knows no such one.
    code: typeof code === 'string' ? code : 'unreadable',
    retryAfter: retryAfter === null ? null : Number(retryAfter),
  };
}

function parse(text: string): object | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function causeOf(error: unknown): string {
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return typeof code === 'string' ? code : 'the connection broke';
}
