import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { Caller } from './callers.js';

/** Everything that one client is going to do, decided before it begins, so that a seed gives the same clients whatever happens. */
export interface Plan {
  caller: Caller;
  /** Nobody else's, unless it is the second send of the same client. */
  recipient: string;
  idempotencyKey: string | null;
  /** The exact bytes of the request. */
  body: string;
  /** The code that the body asks for, or null when the service is to make one. */
  ownCode: string | null;
  /** Which API is asked first. */
  api: number;
  /** Asks both APIs for the same at once, as after a time-out that was too short. */
  doubled: boolean;
  /** Asks for the same once more when all is done. */
  repeatedLater: boolean;
  /** Uses the key for another body, which must be refused. */
  keyReused: boolean;
  /** How often the status is looked at while the code is on its way. */
  looks: number;
  /** Guesses, step by step; those of one step are made at once. */
  guesses: GuessKind[][];
}

type GuessKind = 'right' | 'wrong';

/** Draws from a seed. */
export class Random {
  readonly #generator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return uniformInt(this.#generator, least, most);
  }

  /** True so many times out of a hundred. */
  percent(share: number): boolean {
    return this.between(0, 99) < share;
  }

  of<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)] as T;
  }

  /** A copy in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(this.between(0, left.length - 1), 1)[0] as T);
  }
}

/** Endless plans: mostly one send to a recipient, sometimes a second one to the same with a key and a code of its own. */
export function* plans(seed: number, callers: readonly Caller[]): Generator<Plan[], never> {
  const random = new Random(seed);
  for (let n = 0; ; n++) {
    const caller = random.of(callers);
    const recipient = recipientOf(n);
    const first = planOf(random, caller, recipient, `send-${seed}-${n}`, random.percent(15));
    yield random.percent(6)
      ? [first, planOf(random, caller, recipient, `send-${seed}-${n}-again`, true)]
      : [first];
  }
}

/** A Brazilian mobile number of its own for each. */
const recipientOf = (n: number): string => `+55119${String(70_000_000 + (n % 30_000_000))}`;

function planOf(random: Random, caller: Caller, recipient: string, key: string, ownsCode: boolean): Plan {
  const ownCode = ownsCode ? digits(random, random.between(4, 10)) : null;
  const locale = random.of([null, 'pt-BR', 'en']);
  const keyed = random.percent(85);
  return {
    caller,
    recipient,
    idempotencyKey: keyed ? key : null,
    body: JSON.stringify({
      to: recipient,
      ...(ownCode === null ? {} : { code: ownCode }),
      ...(locale === null ? {} : { locale }),
    }),
    ownCode,
    api: random.between(0, 1),
    doubled: keyed && random.percent(12),
    repeatedLater: keyed && random.percent(10),
    keyReused: keyed && random.percent(4),
    looks: random.between(0, 4),
    guesses: guessesOf(random),
  };
}

function digits(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.between(0, 9)).join('');
}

function guessesOf(random: Random): GuessKind[][] {
  const wrong = (count: number): GuessKind[] => Array.from({ length: count }, () => 'wrong');
  const draw = random.between(0, 99);
  if (draw < 10) return [];
  if (draw < 45) return [['right']];
  if (draw < 52) return [['right'], ['right']];
  if (draw < 62) return [['right', 'right']];
  if (draw < 85) return [...wrong(random.between(1, 6)).map((one) => [one]), ['right']];
  if (draw < 95) return [wrong(random.between(2, 9)), ['right']];
  return [['wrong', 'right', 'wrong', 'right']];
}

/** A code of the same length that is not this one; another for each `n` below ten. */
export function wrongCode(code: string, n: number): string {
  const last = Number(code.at(-1));
  return code.slice(0, -1) + String((last + 1 + (n % 9)) % 10);
}
