/** Waits that end together. */
export class Scope {
  readonly #endings = new Set<() => void>();
  ended = false;

  /** Resolves `true` after so many milliseconds, or `false` as soon as the scope ends. */
  sleep(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        forget();
        resolve(true);
      }, ms);
      const forget = this.atEnd(() => {
        clearTimeout(timer);
        resolve(false);
      });
    });
  }

  /** Calls back once when the scope ends, at once where it has ended; the answer takes that back. */
  atEnd(ending: () => void): () => void {
    if (this.ended) ending();
    else this.#endings.add(ending);
    return () => this.#endings.delete(ending);
  }

  end(): void {
    this.ended = true;
    for (const ending of this.#endings) ending();
    this.#endings.clear();
  }
}

/** Every timer of one simulator. Work holds the scope that it began in, which a reset ends. */
export class Timers {
  scope = new Scope();

  reset(): void {
    this.scope.end();
    this.scope = new Scope();
  }
}
