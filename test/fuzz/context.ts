import { generateApiKey } from '@onecode/domain';
import { changeSetting, newId, revokeApiKey, type Database } from '@onecode/store';
import { buildCaller, TEST_ACTOR } from '@onecode/store/testing';

/** One account with a key, and how it may be refused although its requests are good. */
export interface FuzzCaller {
  name: string;
  key: string;
  refusals: readonly number[];
}

const IDS_MAX = 200;

/** Whose requests are made, and the ids that answers have given so far. */
export class World {
  readonly #ids = new Map<string, string[]>();

  constructor(
    readonly callers: readonly FuzzCaller[],
    readonly revokedKey: string,
    readonly appSecret: string,
    readonly verifyToken: string,
  ) {}

  /** One of the callers, the usual ones more often. */
  caller(pick: number): FuzzCaller {
    const usual = this.callers.slice(0, 2);
    return pick % 4 === 0 ? this.at(this.callers, pick >> 2) : this.at(usual, pick >> 2);
  }

  /** An id that a caller got from an answer, or null as long as there is none. */
  ownId(caller: string, pick: number): string | null {
    const ids = this.#ids.get(caller) ?? [];
    return ids.length === 0 ? null : this.at(ids, pick);
  }

  /** An id that belongs to another account. */
  foreignId(caller: string, pick: number): string {
    const others = [...this.#ids].filter(([name]) => name !== caller).flatMap(([, ids]) => ids);
    return others.length === 0 ? newId() : this.at(others, pick);
  }

  /** Remembers the id in an answer, for later requests. */
  learn(caller: string, body: string): void {
    const id = /"id":"([^"\\]+)"/.exec(body)?.[1];
    if (id === undefined) return;
    const ids = this.#ids.get(caller) ?? [];
    this.#ids.set(caller, [id, ...ids.slice(0, IDS_MAX - 1)]);
  }

  private at<Element>(elements: readonly Element[], pick: number): Element {
    return elements[pick % elements.length] as Element;
  }
}

/** Accounts that can be refused for every documented reason, and two that never are. */
export async function buildWorld(
  database: Database,
  secrets: { appSecret: string; verifyToken: string },
): Promise<World> {
  const plenty = { ratePerMinute: 1_000_000, credits: 10_000_000 };
  const [tester, live, poor, limited, revoked] = await Promise.all([
    buildCaller(database, 'test', plenty),
    buildCaller(database, 'live', plenty),
    buildCaller(database, 'live', { ratePerMinute: 1_000_000, credits: 0, freeQuota: 0 }),
    buildCaller(database, 'test', { ratePerMinute: 1 }),
    buildCaller(database, 'test'),
  ]);
  // The document's own recipient is guessed at all the time.
  await changeSetting(database, TEST_ACTOR, 'guessBudget', null);
  await revokeApiKey(database, TEST_ACTOR, revoked.keyId);
  const callers: FuzzCaller[] = [
    { name: 'test', key: tester.key, refusals: [] },
    { name: 'live', key: live.key, refusals: [] },
    { name: 'poor', key: poor.key, refusals: [402] },
    { name: 'limited', key: limited.key, refusals: [429] },
    { name: 'unknown', key: generateApiKey('live'), refusals: [401] },
  ];
  return new World(callers, revoked.key, secrets.appSecret, secrets.verifyToken);
}
