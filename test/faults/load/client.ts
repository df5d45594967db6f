import { TEST_CODE } from '@onecode/domain';
import type { SendView } from '@onecode/testing';
import type { ClientEvent, Creation, Guess, Judgement, Reply, StatusRequest } from '../evidence.js';
import { wrongCode, type Plan } from './plan.js';

/** What all clients of a load share. */
export interface LoadContext {
  apiUrls: () => readonly string[];
  now: () => number;
  codeOf: (recipient: string) => Promise<string | null>;
  requestMsMax: number;
  record: (event: ClientEvent) => void;
}

const CREATIONS_MAX = 10;
const STATUS_READS_MAX = 5;
const DELAY_MS = 100;
const DELAY_MS_MAX = 3_000;
const RETRY_AFTER_SECONDS_MAX = 3;
/** How long a person waits for the message. */
const MESSAGE_WAIT_MS_MAX = 20_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const delayOf = (round: number): number => Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** round);

/** A careful integrator with one send, from its creation to the last status. It records every exchange. */
export class Client {
  constructor(
    private readonly context: LoadContext,
    private readonly plan: Plan,
  ) {}

  async run(): Promise<void> {
    const { plan } = this;
    const apis = plan.isDuplicated ? [plan.api, plan.api + 1] : [plan.api];
    const ids = await Promise.all(apis.map((api) => this.#create(api)));
    const id = ids.find((one) => one !== null) ?? null;
    if (plan.reusesKey) await this.#reuseKey();
    if (id === null) return;
    for (let read = 0; read < plan.statusReads; read++) {
      await this.#readStatus(id, plan.api + read);
      await sleep(delayOf(read));
    }
    await this.#guess(id);
    await this.#readStatus(id, plan.api);
    if (plan.isRepeatedLater) await this.#create(plan.api + 1);
  }

  /** Creates the send, with retries of the same key and body at alternating APIs. @returns its id, or null */
  async #create(firstApi: number): Promise<string | null> {
    for (let round = 0; round < CREATIONS_MAX; round++) {
      const reply = await this.#requestCreation(firstApi + round, this.plan.body);
      if (reply.kind === 'answer') return reply.body.id;
      const waitMs = waitOf(reply, round);
      if (waitMs === null) return null;
      // Without a key, a retry could create a second send for the same recipient.
      const isRefused = reply.kind === 'problem' && reply.status === 429;
      if (this.plan.idempotencyKey === null && !isRefused) return null;
      await sleep(waitMs);
    }
    return null;
  }

  async #reuseKey(): Promise<void> {
    await this.#requestCreation(this.plan.api, `${this.plan.body} `);
  }

  async #requestCreation(at: number, body: string): Promise<Reply<SendView>> {
    const { caller, idempotencyKey, recipient } = this.plan;
    const { event, reply } = await this.#send<SendView>(at, '/v1/send', {
      method: 'POST',
      idempotencyKey,
      body,
    });
    const { applicationId, mode } = caller;
    this.context.record({
      ...event,
      kind: 'create',
      applicationId,
      mode,
      idempotencyKey,
      body,
      recipient,
      reply,
    } satisfies Creation);
    return reply;
  }

  /** Reads the status, with retries. @returns it, or null without an answer */
  async #readStatus(sendId: string, firstApi: number): Promise<SendView | null> {
    for (let round = 0; round < STATUS_READS_MAX; round++) {
      const path = `/v1/send/${sendId}/status`;
      const { event, reply } = await this.#send<SendView>(firstApi + round, path, { method: 'GET' });
      this.context.record({ ...event, kind: 'status', sendId, reply } satisfies StatusRequest);
      if (reply.kind === 'answer') return reply.body;
      await sleep(delayOf(round));
    }
    return null;
  }

  async #guess(sendId: string): Promise<void> {
    if (this.plan.guesses.length === 0) return;
    const code = await this.#readCode();
    if (code === null) return;
    let wrongCount = 0;
    for (const [step, kinds] of this.plan.guesses.entries()) {
      const codes = kinds.map((kind) => (kind === 'right' ? code : wrongCode(code, wrongCount++)));
      const replies = await Promise.all(
        codes.map((guess, n) => this.#verify(sendId, guess, this.plan.api + step + n)),
      );
      if (replies.every((reply) => reply.kind === 'answer')) continue;
      // The lost guess may have been judged: read the status before the next guess.
      const view = await this.#readStatus(sendId, this.plan.api + 1);
      if (view?.verification !== 'pending') return;
    }
  }

  async #verify(sendId: string, code: string, at: number): Promise<Reply<Judgement>> {
    const { event, reply } = await this.#send<Judgement>(at, `/v1/send/${sendId}/verify`, {
      method: 'POST',
      body: JSON.stringify({ code }),
    });
    this.context.record({ ...event, kind: 'verify', sendId, code, reply } satisfies Guess);
    return reply;
  }

  /** The code that the person reads on the phone. */
  async #readCode(): Promise<string | null> {
    const { ownCode, caller, recipient } = this.plan;
    if (ownCode !== null) return ownCode;
    if (caller.mode === 'test') return TEST_CODE;
    const { now, codeOf } = this.context;
    const end = now() + MESSAGE_WAIT_MS_MAX;
    for (let round = 0; now() < end; round++) {
      const code = await codeOf(recipient).catch(() => null);
      if (code !== null) return code;
      await sleep(delayOf(Math.min(round, 4)));
    }
    return null;
  }

  async #send<Body>(
    at: number,
    path: string,
    request: Pick<ApiRequest, 'method' | 'idempotencyKey' | 'body'>,
  ): Promise<{
    event: { startedAt: number; endedAt: number; accountId: string };
    reply: Reply<Body>;
  }> {
    const { apiUrls, now, requestMsMax } = this.context;
    const { accountId, key } = this.plan.caller;
    const urls = apiUrls();
    const startedAt = now();
    const reply = await sendRequest<Body>({
      ...request,
      url: `${urls[at % urls.length]}${path}`,
      key,
      msMax: requestMsMax,
    });
    return { event: { startedAt, endedAt: now(), accountId }, reply };
  }
}

/** Milliseconds until the retry, or null when a retry is useless. */
function waitOf(reply: Exclude<Reply<SendView>, { kind: 'answer' }>, round: number): number | null {
  if (reply.kind === 'lost' || reply.status >= 500) return delayOf(round);
  if (reply.status !== 429) return null;
  const seconds = reply.retryAfter ?? 0;
  return seconds > RETRY_AFTER_SECONDS_MAX ? null : Math.max(seconds * 1000, delayOf(round));
}

interface ApiRequest {
  method: 'GET' | 'POST';
  url: string;
  key: string;
  idempotencyKey?: string | null;
  body?: string;
  /** For the whole exchange. */
  msMax: number;
}

/** Sends one request. It never throws: an error becomes a reply. Node's `fetch` keeps connections alive and shares them. */
async function sendRequest<Body>(request: ApiRequest): Promise<Reply<Body>> {
  const { method, url, key, idempotencyKey = null, body, msMax } = request;
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
    // Without a problem document there is no code; the checker reports this one.
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
