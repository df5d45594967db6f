import pg from 'pg';

/** Milliseconds without an answer after which a query is sent on one more connection. */
const HEDGE_DELAY_MS = 250;
/** Attempts under way at a time, each on its own connection. */
const ATTEMPTS_MAX = 3;
/**
 * When the pool has no further connection, the oldest attempt is replaced by one on a new connection after this many milliseconds, the
 * next one after twice as many, and so on: either all connections are silent, or the database takes that long.
 */
const REPLACE_AFTER_MS = 1_000;
/** Milliseconds after which no further attempt starts. */
const ATTEMPTS_UNTIL_MS = 2_500;
/** Milliseconds after which the query fails. */
const QUERY_MS_MAX = 6_000;

/** The query on one connection. */
interface Attempt {
  startedAt: number;
  /** Null before the pool has given one, and once it has been given back. */
  client: pg.PoolClient | null;
}

/**
 * Hedges a pool's queries, which must change nothing: a query that has no answer after the hedge delay is sent on another connection
 * as well, and the first answer counts. A connection that falls silent, as when a firewall forgets it, delays nobody for longer than
 * that, and a slow database loses nothing. A connection that is still silent when a later attempt has its answer is closed.
 */
export function withHedging(pool: pg.Pool): pg.Pool {
  const query = (statement: pg.QueryConfig): Promise<pg.QueryResult> =>
    new Promise((resolve, reject) => new HedgedQuery(pool, statement, resolve, reject));
  return Object.assign(pool, { query });
}

class HedgedQuery {
  readonly #startedAt = performance.now();
  /** Those under way, oldest first. */
  #attempts: Attempt[] = [];
  #replacements = 0;
  #failures = 0;
  #isSettled = false;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly pool: pg.Pool,
    private readonly statement: pg.QueryConfig,
    private readonly resolve: (result: pg.QueryResult) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.#timer = setInterval(() => this.#hedge(), HEDGE_DELAY_MS);
    void this.#attempt();
  }

  async #attempt(): Promise<void> {
    const attempt: Attempt = { startedAt: performance.now(), client: null };
    this.#attempts.push(attempt);
    try {
      const client = await this.pool.connect();
      attempt.client = client.on('error', ignoreError);
      if (!this.#isSettled) this.#succeed(attempt, await client.query(this.statement));
      releaseClient(attempt);
    } catch (error) {
      releaseClient(attempt, true);
      this.#fail(attempt, error);
    }
  }

  #hedge(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    if (elapsedMs > QUERY_MS_MAX) return this.#timeOut();
    if (elapsedMs > ATTEMPTS_UNTIL_MS) return;
    const { idleCount, totalCount, options } = this.pool;
    const hasConnection = idleCount > 0 || totalCount < options.max;
    if (this.#attempts.length < ATTEMPTS_MAX && hasConnection) return void this.#attempt();
    const [oldest] = this.#attempts;
    if (oldest === undefined || oldest.client === null) return;
    if (performance.now() - oldest.startedAt < REPLACE_AFTER_MS * 2 ** this.#replacements) return;
    this.#replacements += 1;
    this.#attempts.shift();
    releaseClient(oldest, true);
    void this.#attempt();
  }

  #succeed(attempt: Attempt, result: pg.QueryResult): void {
    if (this.#isSettled) return;
    this.#settle();
    this.resolve(result);
    const earlier = this.#attempts.slice(0, this.#attempts.indexOf(attempt));
    for (const silent of earlier) releaseClient(silent, true);
  }

  #timeOut(): void {
    this.#settle();
    this.reject(new Error('the database answered on no connection'));
    for (const attempt of this.#attempts) releaseClient(attempt, true);
  }

  /** What PostgreSQL refuses fails the query; a lost connection fails its attempt only. */
  #fail(attempt: Attempt, error: unknown): void {
    if (this.#isSettled || !this.#attempts.includes(attempt)) return;
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    const isRefused = error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(error.code ?? '');
    if (!isRefused && this.#attempts.length > 0) return;
    this.#failures += 1;
    const isLast = this.#failures === ATTEMPTS_MAX || performance.now() - this.#startedAt > ATTEMPTS_UNTIL_MS;
    if (!isRefused && !isLast) return void this.#attempt();
    this.#settle();
    this.reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    clearInterval(this.#timer);
  }
}

/** Gives the connection back to the pool, or closes it. */
function releaseClient(attempt: Attempt, isClosed = false): void {
  const { client } = attempt;
  if (client === null) return;
  attempt.client = null;
  client.off('error', ignoreError).release(isClosed);
}

/** The query under way on the connection rejects with the same error; without a listener it would end the process. */
const ignoreError = (): void => {};
