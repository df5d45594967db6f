import pg from 'pg';

/** Milliseconds without an answer after which a query is tried a second time. */
const SECOND_TRY_AFTER_MS = 250;

/** What PostgreSQL said: a result, or an error of the query itself. */
type Answer = () => pg.QueryResult;

/** The query on one connection. */
interface Attempt {
  /** Rejects when the connection broke, or was silent for too long. */
  answer: Promise<Answer>;
  /** Closes the connection unless it has answered. */
  abandon(): void;
}

/**
 * Hedges a pool's queries, which must change nothing: a query without an answer after a quarter of a second, or whose connection broke,
 * is tried a second time on a fresh connection, and the first answer counts. A connection that falls silent, as when a firewall forgets
 * it, delays nobody for longer than that and is closed; a slow database loses nothing.
 *
 * @param fresh a pool whose connections are used once: they bound what second tries add to a busy database
 */
export function withHedging(pool: pg.Pool, fresh: pg.Pool): pg.Pool {
  const query = async (statement: pg.QueryConfig): Promise<pg.QueryResult> => {
    const first = attempt(pool, statement);
    let second: Attempt | undefined;
    const secondAnswer = new Promise<Answer>((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        second ??= attempt(fresh, statement);
        second.answer.then(resolve, reject);
      };
      const timer = setTimeout(start, SECOND_TRY_AFTER_MS);
      first.answer.then(() => clearTimeout(timer), start);
    });
    try {
      return (await Promise.any([first.answer, secondAnswer]))();
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    } finally {
      first.abandon();
      second?.abandon();
    }
  };
  return Object.assign(pool, { query });
}

function attempt(pool: pg.Pool, statement: pg.QueryConfig): Attempt {
  let client: pg.PoolClient | null = null;
  let isOver = false;
  const release = (isClosed: boolean): void => {
    client?.off('error', ignoreError).release(isClosed);
    client = null;
    isOver = true;
  };
  const ask = async (): Promise<Answer> => {
    client = (await pool.connect()).on('error', ignoreError);
    if (isOver) {
      release(false);
      throw new Error('another connection has answered');
    }
    try {
      const result = await client.query(statement);
      release(false);
      return () => result;
    } catch (error) {
      const isRefused = error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(error.code ?? '');
      release(!isRefused);
      if (!isRefused) throw error;
      return () => {
        throw error;
      };
    }
  };
  return { answer: ask(), abandon: () => release(true) };
}

/** The query under way on the connection rejects with the same error; without a listener it would end the process. */
const ignoreError = (): void => {};
