/** Waits that end together. */
export class Scope {
  readonly #pending = new Map<NodeJS.Timeout, (elapsed: boolean) => void>();
  readonly #atEnd = new Set<() => void>();
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves `true` after so many milliseconds, or `false` as soon as the scope ends. */
  sleep(ms: number): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#pending.delete(timer);
        resolve(true);
      }, ms);
      this.#pending.set(timer, resolve);
    });
  }

  /** Calls back once when the scope ends; the answer takes that back. */
  atEnd(callback: () => void): () => void {
    this.#atEnd.add(callback);
    return () => this.#atEnd.delete(callback);
  }

  end(): void {
    this.#ended = true;
    for (const callback of this.#atEnd) callback();
    this.#atEnd.clear();
    for (const [timer, resolve] of this.#pending) {
      clearTimeout(timer);
      resolve(false);
    }
    this.#pending.clear();
  }
}

/** Every timer of one simulator, so that a reset or a close leaves none behind. Work holds the scope that it began in. */
export class Timers {
  #scope = new Scope();

  get scope(): Scope {
    return this.#scope;
  }

  /** Ends what has begun; later work is not touched. */
  reset(): void {
    this.#scope.end();
    this.#scope = new Scope();
  }

  /** Ends everything, for good. */
  close(): void {
    this.#scope.end();
  }
}
