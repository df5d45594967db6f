import pg from 'pg';

/** Milliseconds after which a statement that is not answered is asked on one more connection. */
const RELEASE_AFTER_MS = 250;
/** Connections on which a statement waits for its answer at a time. */
const ATTEMPTS_MAX = 3;
/**
 * Where no further connection may be had, the oldest is given up for a new one after so many milliseconds, the next one after twice
 * as many, and so on: all may be silent, or the database may take that long.
 */
const GIVEN_UP_MS = 1_000;
/** Milliseconds after which no further connection is tried. */
const TRIED_AGAIN_MS = 2_500;
/** Milliseconds after which nobody waits for an answer any longer. */
const ANSWERED_MS_MAX = 6_000;

/** A statement on one connection. */
interface Attempt {
  startedAt: number;
  /** Null before there is one, and once it has been given back. */
  client: pg.PoolClient | null;
}

/**
 * Gives each statement of a pool a second chance on another connection, for those that change nothing: one connection that falls
 * silent, as when a firewall forgets it, holds nobody up for longer than a moment. The first answer counts, so that a database that is
 * slow loses nothing. A connection that is still silent when a later one has answered is closed.
 */
export function withHedging(pool: pg.Pool): pg.Pool {
  const query = (statement: pg.QueryConfig): Promise<pg.QueryResult> =>
    new Promise((resolve, reject) => new Asking(pool, statement, resolve, reject));
  return Object.assign(pool, { query });
}

class Asking {
  readonly #begunAt = performance.now();
  /** Those under way, oldest first. */
  #attempts: Attempt[] = [];
  #givenUp = 0;
  #failures = 0;
  #isSettled = false;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly pool: pg.Pool,
    private readonly statement: pg.QueryConfig,
    private readonly resolve: (result: pg.QueryResult) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.#timer = setInterval(() => this.#askElsewhere(), RELEASE_AFTER_MS);
    void this.#attempt();
  }

  async #attempt(): Promise<void> {
    const attempt: Attempt = { startedAt: performance.now(), client: null };
    this.#attempts.push(attempt);
    try {
      const client = await this.pool.connect();
      attempt.client = client.on('error', isReported);
      if (!this.#isSettled) this.#succeed(attempt, await client.query(this.statement));
      giveBack(attempt);
    } catch (error) {
      giveBack(attempt, true);
      this.#fail(attempt, error);
    }
  }

  #askElsewhere(): void {
    const waitedMs = performance.now() - this.#begunAt;
    if (waitedMs > ANSWERED_MS_MAX) return this.#giveUp();
    if (waitedMs > TRIED_AGAIN_MS) return;
    const { idleCount, totalCount, options } = this.pool;
    if (this.#attempts.length < ATTEMPTS_MAX && (idleCount > 0 || totalCount < options.max))
      return void this.#attempt();
    const [oldest] = this.#attempts;
    if (oldest === undefined || oldest.client === null) return;
    if (performance.now() - oldest.startedAt < GIVEN_UP_MS * 2 ** this.#givenUp) return;
    this.#givenUp += 1;
    this.#attempts.shift();
    giveBack(oldest, true);
    void this.#attempt();
  }

  #succeed(attempt: Attempt, result: pg.QueryResult): void {
    if (this.#isSettled) return;
    this.#settle();
    this.resolve(result);
    for (const earlier of this.#attempts.slice(0, this.#attempts.indexOf(attempt))) giveBack(earlier, true);
  }

  #giveUp(): void {
    this.#settle();
    this.reject(new Error('no connection to the database has an answer'));
    for (const attempt of this.#attempts) giveBack(attempt, true);
  }

  /** What PostgreSQL refused is refused; for a connection that is lost there are others. */
  #fail(attempt: Attempt, error: unknown): void {
    if (this.#isSettled || !this.#attempts.includes(attempt)) return;
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    const isRefused = error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(error.code ?? '');
    if (!isRefused && this.#attempts.length > 0) return;
    this.#failures += 1;
    const isLast = this.#failures === ATTEMPTS_MAX || performance.now() - this.#begunAt > TRIED_AGAIN_MS;
    if (!isRefused && !isLast) return void this.#attempt();
    this.#settle();
    this.reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    clearInterval(this.#timer);
  }
}

function giveBack(attempt: Attempt, isLost = false): void {
  const { client } = attempt;
  if (client === null) return;
  attempt.client = null;
  client.off('error', isReported).release(isLost);
}

/** The statement under way fails with it. */
const isReported = (): void => {};
