import { generateApiKey } from '@onecode/domain';
import { changeSettings, revokeApiKey } from '@onecode/store/accounts';
import { newId, type Database } from '@onecode/store/client';
import { buildCaller, TEST_ACTOR } from '@onecode/testing';

/** An account with a key, and the refusals that even its valid requests may get. */
export interface FuzzCaller {
  name: string;
  key: string;
  refusals: readonly number[];
}

const IDS_MAX = 200;

/** The callers of a campaign and the ids from the answers so far. */
export class FuzzContext {
  readonly #ids = new Map<string, string[]>();

  constructor(
    readonly callers: readonly FuzzCaller[],
    readonly revokedKey: string,
    readonly appSecret: string,
    readonly verifyToken: string,
  ) {}

  /** Returns one of the callers, usually one that is never refused. */
  caller(pick: number): FuzzCaller {
    const accepted = this.callers.slice(0, 2);
    return pick % 4 === 0 ? this.at(this.callers, pick >> 2) : this.at(accepted, pick >> 2);
  }

  /** An id from an answer to this caller, or null when there is none yet. */
  ownId(caller: string, pick: number): string | null {
    const ids = this.#ids.get(caller) ?? [];
    return ids.length === 0 ? null : this.at(ids, pick);
  }

  /** An id that belongs to another account. */
  foreignId(caller: string, pick: number): string {
    const others = [...this.#ids].filter(([name]) => name !== caller).flatMap(([, ids]) => ids);
    return others.length === 0 ? newId() : this.at(others, pick);
  }

  /** Keeps the id in an answer for later requests. */
  recordId(caller: string, body: string): void {
    const id = /"id":"([^"\\]+)"/.exec(body)?.[1];
    if (id === undefined) return;
    const ids = this.#ids.get(caller) ?? [];
    this.#ids.set(caller, [id, ...ids.slice(0, IDS_MAX - 1)]);
  }

  private at<Element>(elements: readonly Element[], pick: number): Element {
    return elements[pick % elements.length] as Element;
  }
}

/** Creates accounts that are refused for each documented reason, and two that are never refused. */
export async function createFuzzContext(
  database: Database,
  secrets: { appSecret: string; verifyToken: string },
): Promise<FuzzContext> {
  const unlimited = { ratePerMinute: 1_000_000, credits: 10_000_000 };
  const [test, live, withoutUnits, limited, revoked] = await Promise.all([
    buildCaller(database, 'test', unlimited),
    buildCaller(database, 'live', unlimited),
    buildCaller(database, 'live', { ratePerMinute: 1_000_000, credits: 0, freeQuota: 0 }),
    buildCaller(database, 'test', { ratePerMinute: 1 }),
    buildCaller(database, 'test'),
  ]);
  // Otherwise the constant guesses at the document's example recipient would exhaust its budget.
  await changeSettings(database, TEST_ACTOR, { guessBudget: null });
  await revokeApiKey(database, TEST_ACTOR, revoked.keyId);
  const callers: FuzzCaller[] = [
    { name: 'test', key: test.key, refusals: [] },
    { name: 'live', key: live.key, refusals: [] },
    { name: 'without units', key: withoutUnits.key, refusals: [402] },
    { name: 'limited', key: limited.key, refusals: [429] },
    { name: 'unknown', key: generateApiKey('live'), refusals: [401] },
  ];
  return new FuzzContext(callers, revoked.key, secrets.appSecret, secrets.verifyToken);
}
