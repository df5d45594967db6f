import { TEST_CODE } from '@onecode/domain';
import type { ClientEvent, Creation, Guess, Judgement, Look, Reply } from '../evidence.js';
import type { SendView } from '../../harness/request.js';
import { ask, type Question } from './exchange.js';
import { wrongCode, type Plan } from './plan.js';

/** What every client of a load has. */
export interface Surroundings {
  apiUrls: () => readonly string[];
  now: () => number;
  codeOf: (recipient: string) => Promise<string | null>;
  requestMsMax: number;
  note: (event: ClientEvent) => void;
}

const CREATIONS_MAX = 10;
const LOOKS_MAX = 5;
const DELAY_MS = 100;
const DELAY_MS_MAX = 3_000;
const RETRY_AFTER_SECONDS_MAX = 3;
/** How long the person waits for the message before they give up. */
const RELEASE_AFTER_MS = 20_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const delayOf = (round: number): number => Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** round);

/** One careful integrator with one send, from its creation to its last look. Whatever happens goes to the history. */
export class Client {
  constructor(
    private readonly around: Surroundings,
    private readonly plan: Plan,
  ) {}

  async run(): Promise<void> {
    const { plan } = this;
    const apis = plan.doubled ? [plan.api, plan.api + 1] : [plan.api];
    const ids = await Promise.all(apis.map((api) => this.#create(api)));
    const id = ids.find((one) => one !== null) ?? null;
    if (plan.keyReused) await this.#reuseKey();
    if (id === null) return;
    for (let look = 0; look < plan.looks; look++) {
      await this.#look(id, plan.api + look);
      await sleep(delayOf(look));
    }
    await this.#guess(id);
    await this.#look(id, plan.api);
    if (plan.repeatedLater) await this.#create(plan.api + 1);
  }

  /** Creates the send, with patience: the same key and body at one API after the other. @returns its id, or null */
  async #create(firstApi: number): Promise<string | null> {
    for (let round = 0; round < CREATIONS_MAX; round++) {
      const reply = await this.#askToCreate(firstApi + round, this.plan.body);
      if (reply.kind === 'answer') return reply.body.id;
      const waitMs = waitOf(reply, round);
      if (waitMs === null) return null;
      // Without a key, asking again could make a second send for the same recipient.
      const isRefused = reply.kind === 'problem' && reply.status === 429;
      if (this.plan.idempotencyKey === null && !isRefused) return null;
      await sleep(waitMs);
    }
    return null;
  }

  async #reuseKey(): Promise<void> {
    await this.#askToCreate(this.plan.api, `${this.plan.body} `);
  }

  async #askToCreate(at: number, body: string): Promise<Reply<SendView>> {
    const { caller, idempotencyKey, recipient } = this.plan;
    const { event, reply } = await this.#ask<SendView>(at, '/v1/send', {
      method: 'POST',
      idempotencyKey,
      body,
    });
    const { applicationId, mode } = caller;
    this.around.note({
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

  /** Looks at the status until an answer comes. @returns it, or null when none came */
  async #look(sendId: string, firstApi: number): Promise<SendView | null> {
    for (let round = 0; round < LOOKS_MAX; round++) {
      const path = `/v1/send/${sendId}/status`;
      const { event, reply } = await this.#ask<SendView>(firstApi + round, path, { method: 'GET' });
      this.around.note({ ...event, kind: 'status', sendId, reply } satisfies Look);
      if (reply.kind === 'answer') return reply.body;
      await sleep(delayOf(round));
    }
    return null;
  }

  async #guess(sendId: string): Promise<void> {
    if (this.plan.guesses.length === 0) return;
    const code = await this.#readCode();
    if (code === null) return;
    let wrongs = 0;
    for (const [step, kinds] of this.plan.guesses.entries()) {
      const codes = kinds.map((kind) => (kind === 'right' ? code : wrongCode(code, wrongs++)));
      const replies = await Promise.all(
        codes.map((guess, n) => this.#verify(sendId, guess, this.plan.api + step + n)),
      );
      if (replies.every((reply) => reply.kind === 'answer')) continue;
      // The code may have been used up: what became of it is asked, and never tried blindly.
      const view = await this.#look(sendId, this.plan.api + 1);
      if (view?.verification !== 'pending') return;
    }
  }

  async #verify(sendId: string, code: string, at: number): Promise<Reply<Judgement>> {
    const { event, reply } = await this.#ask<Judgement>(at, `/v1/send/${sendId}/verify`, {
      method: 'POST',
      body: JSON.stringify({ code }),
    });
    this.around.note({ ...event, kind: 'verify', sendId, code, reply } satisfies Guess);
    return reply;
  }

  /** The code as the person reads it from the phone. */
  async #readCode(): Promise<string | null> {
    const { ownCode, caller, recipient } = this.plan;
    if (ownCode !== null) return ownCode;
    if (caller.mode === 'test') return TEST_CODE;
    const { now, codeOf } = this.around;
    const end = now() + RELEASE_AFTER_MS;
    for (let round = 0; now() < end; round++) {
      const code = await codeOf(recipient).catch(() => null);
      if (code !== null) return code;
      await sleep(delayOf(Math.min(round, 4)));
    }
    return null;
  }

  async #ask<Body>(
    at: number,
    path: string,
    request: Pick<Question, 'method' | 'idempotencyKey' | 'body'>,
  ): Promise<{
    event: { startedAt: number; endedAt: number; api: number; accountId: string };
    reply: Reply<Body>;
  }> {
    const { apiUrls, now, requestMsMax } = this.around;
    const { accountId, key } = this.plan.caller;
    const urls = apiUrls();
    const api = at % urls.length;
    const startedAt = now();
    const reply = await ask<Body>({ ...request, url: `${urls[api]}${path}`, key, msMax: requestMsMax });
    return { event: { startedAt, endedAt: now(), api, accountId }, reply };
  }
}

/** Milliseconds to wait before the same is asked again, or null when it is of no use. */
function waitOf(reply: Exclude<Reply<SendView>, { kind: 'answer' }>, round: number): number | null {
  if (reply.kind === 'lost' || reply.status >= 500) return delayOf(round);
  if (reply.status !== 429) return null;
  const seconds = reply.retryAfter ?? 0;
  return seconds > RETRY_AFTER_SECONDS_MAX ? null : Math.max(seconds * 1000, delayOf(round));
}
