import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { Mode } from '@onecode/domain';

/** An application's key, with its application and account. */
export interface Caller {
  accountId: string;
  applicationId: string;
  mode: Mode;
  key: string;
}

/** Everything that one client will do, decided in advance, so that a seed always gives the same clients. */
export interface Plan {
  caller: Caller;
  /** Unique, except for a second send of the same client. */
  recipient: string;
  idempotencyKey: string | null;
  /** The exact bytes of the request. */
  body: string;
  /** The code in the body; null when the service generates one. */
  ownCode: string | null;
  /** The index of the API that is asked first. */
  api: number;
  /** Sends the creation to both APIs at once, as after a timeout that was too short. */
  isDuplicated: boolean;
  /** Repeats the creation at the end. */
  isRepeatedLater: boolean;
  /** Uses the idempotency key for another body, which must be refused. */
  reusesKey: boolean;
  /** How often the status is read before the first guess. */
  statusReads: number;
  /** Guesses by step; the guesses of one step are concurrent. */
  guesses: GuessKind[][];
}

type GuessKind = 'right' | 'wrong';

/** A random generator with a seed. */
export class Random {
  readonly #generator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return uniformInt(this.#generator, min, max);
  }

  /** True with this probability in percent. */
  percent(probability: number): boolean {
    return this.between(0, 99) < probability;
  }

  of<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)] as T;
  }

  /** A copy in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(this.between(0, left.length - 1), 1)[0] as T);
  }
}

/** Endless plans: mostly one send for a recipient, sometimes a second one with its own idempotency key and code. */
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

/** A Brazilian mobile number, unique for 30 million sends. */
const recipientOf = (n: number): string => `+55119${String(70_000_000 + (n % 30_000_000))}`;

function planOf(random: Random, caller: Caller, recipient: string, key: string, hasOwnCode: boolean): Plan {
  const ownCode = hasOwnCode ? digits(random, random.between(4, 10)) : null;
  const locale = random.of([null, 'pt-BR', 'en']);
  const hasKey = random.percent(85);
  return {
    caller,
    recipient,
    idempotencyKey: hasKey ? key : null,
    body: JSON.stringify({
      to: recipient,
      ...(ownCode === null ? {} : { code: ownCode }),
      ...(locale === null ? {} : { locale }),
    }),
    ownCode,
    api: random.between(0, 1),
    isDuplicated: hasKey && random.percent(12),
    isRepeatedLater: hasKey && random.percent(10),
    reusesKey: hasKey && random.percent(4),
    statusReads: random.between(0, 4),
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

/** A wrong code of the same length, different for each `n` below nine. */
export function wrongCode(code: string, n: number): string {
  const last = Number(code.at(-1));
  return code.slice(0, -1) + String((last + 1 + (n % 9)) % 10);
}
