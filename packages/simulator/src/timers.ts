/** A set of timers that can be ended together. */
export class Scope {
  readonly #endings = new Set<() => void>();
  ended = false;

  /** Resolves with `true` after this many milliseconds, or with `false` when the scope ends. */
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

  /** Calls back when the scope ends, immediately if it has ended. @returns a function that cancels the callback */
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

/** All timers of one simulator. Work keeps the scope in which it started; a reset ends that scope. */
export class Timers {
  scope = new Scope();

  reset(): void {
    this.scope.end();
    this.scope = new Scope();
  }
}
