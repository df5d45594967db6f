import { hashApiKey } from '@onecode/domain';
import {
  createAccount,
  createApiKey,
  findApplications,
  findCaller,
  grantCredits,
  GrantIdTaken,
  listApiKeys,
  type NewAccount,
} from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { createSend } from '@onecode/store/sends';
import { findBalance, listLedger, searchAccounts, type LedgerEntry } from '@onecode/store/reports';
import {
  deleteEndedTries,
  deleteEndedKeys,
  hasTriedSend,
  createTryoutKey,
  newTryoutIdempotencyKey,
  takeTryout,
} from '@onecode/store/users';
import {
  buildAccount,
  buildCaller,
  buildSend,
  newSend,
  TEST_ACTOR,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from '../sends/sendActions.js';

const store = useTestDatabase();

// Runs first, while there are no other accounts.
describe('searchAccounts', () => {
  const namesOf = async (text: string): Promise<string[]> =>
    (await searchAccounts(store.database, { text, limit: 10 })).map(({ name }) => name);

  beforeAll(async () => {
    for (const name of ['Loja Azul', 'Azul & Filhos Ltda.', 'São João Pães', "O'Neil", 'ACME-Brasil'])
      await buildAccount(store.database, { name });
  });

  it.each([
    ['azul', ['Azul & Filhos Ltda.', 'Loja Azul']],
    ['LOJA az', ['Loja Azul']],
    ['azul loja', ['Loja Azul']],
    ['zul', ['Azul & Filhos Ltda.', 'Loja Azul']],
    ['filhos ltda', ['Azul & Filhos Ltda.']],
    ['são', ['São João Pães']],
    ["o'neil", ["O'Neil"]],
    ['brasil', ['ACME-Brasil']],
    ['acme-bra', ['ACME-Brasil']],
    ['azul loja nova', []],
    ["'", ["O'Neil"]],
    ['\\', []],
    ['%', []],
    ['l_ja', []],
    ['az\0filhos', ['Azul & Filhos Ltda.']],
    ['   ', ['ACME-Brasil', "O'Neil", 'São João Pães', 'Azul & Filhos Ltda.', 'Loja Azul']],
    ['a'.repeat(5_000), []],
  ])('finds accounts by parts of their names: %j', async (text, names) => {
    expect(await namesOf(text)).toEqual(names);
  });
});

describe('grantCredits', () => {
  const ledgerOf = (accountId: string) =>
    store.sql('select kind, bucket, units, reason from ledger_entries where account_id = $1 order by id', [
      accountId,
    ]);
  const make = (fields: Partial<NewAccount> = {}) =>
    createAccount(store.database, TEST_ACTOR, {
      name: 'Ana',
      language: 'en',
      freeQuota: null,
      credits: 0,
      ratePerMinute: null,
      ...fields,
    });

  it('grants once for concurrent requests with the same grant id, and refuses another grant with that id', async () => {
    const [{ id }, other] = [await make({ freeQuota: 0 }), await make({ freeQuota: 0 })];
    const grantId = newId();
    const grant = (account: string, amount: number, reason = 'once') =>
      grantCredits(store.database, TEST_ACTOR, account, amount, reason, { grantId });
    const granted = await Promise.all(Array.from({ length: 6 }, () => grant(id, 5)));
    expect(granted.map((account) => account?.credits)).toEqual(Array(6).fill(5));
    await expect(grant(id, 6)).rejects.toBeInstanceOf(GrantIdTaken);
    await expect(grant(id, 5, 'twice')).rejects.toBeInstanceOf(GrantIdTaken);
    await expect(grant(other.id, 5)).rejects.toBeInstanceOf(GrantIdTaken);
    expect(await ledgerOf(id)).toHaveLength(1);
    expect(await ledgerOf(other.id)).toEqual([]);
  });

  it('refuses a grant id that a concurrent transaction uses for another account', async () => {
    const [{ id }, other] = [await make({ freeQuota: 0 }), await make({ freeQuota: 0 })];
    const grantId = newId();
    const first = await store.connect();
    await first.query('begin');
    await first.query(
      `insert into ledger_entries (account_id, kind, bucket, units, reason, grant_id) values ($1, 'granted', 'credit', 5, 'one', $2)`,
      [other.id, grantId],
    );
    const second = Promise.allSettled([grantCredits(store.database, TEST_ACTOR, id, 5, 'one', { grantId })]);
    await until('the grant that waits', async () => (await store.countLockWaits()) === 1);
    await first.query('commit');
    await first.end();
    expect(await second).toMatchObject([{ status: 'rejected', reason: expect.any(GrantIdTaken) }]);
    expect(await findBalance(store.database, id)).toMatchObject({ credits: 0 });
    expect(await ledgerOf(id)).toEqual([]);
  });
});

describe('listLedger', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 5, credits: 100, ratePerMinute: 10_000 });
  });

  const { fail } = sendActions(store);
  const send = () => buildSend(store.database, caller);

  /** Returns all entries, newest first, by pages. @param between runs before each page except the first */
  async function entriesOf(limit: number, between?: () => Promise<unknown>): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    for (let before: string | null | undefined; before !== null;) {
      if (before !== undefined) await between?.();
      const page = await listLedger(store.database, caller.accountId, {
        limit,
        ...(before !== undefined && { before }),
      });
      entries.push(...page.entries);
      before = page.next;
    }
    return entries;
  }

  /** Returns the balance before an entry, from the balance after it. */
  function before({ bucket, change, balance }: LedgerEntry): LedgerEntry['balance'] {
    return bucket === 'credit'
      ? { ...balance, credits: balance.credits - change }
      : { ...balance, freeQuota: balance.freeQuota - change };
  }

  /** Checks that the entries add up: from zero, over each entry's balance, to the account's balance. */
  async function expectToAddUp(entries: readonly LedgerEntry[], end?: LedgerEntry['balance']): Promise<void> {
    const oldestFirst = entries.toReversed();
    let had = { freeQuota: 0, credits: 0 };
    for (const entry of oldestFirst) {
      expect(before(entry)).toEqual(had);
      had = entry.balance;
    }
    if (end !== undefined) expect(had).toEqual(end);
    const ids = entries.map(({ id }) => BigInt(id));
    expect(ids.every((id, n) => n === 0 || id < (ids[n - 1] as bigint))).toBe(true);
  }

  it('returns entries that add up on every page during concurrent changes', async () => {
    const sends = await Promise.all(Array.from({ length: 30 }, send));
    const busy = Promise.all([
      ...sends.slice(0, 15).map(fail),
      ...Array.from({ length: 20 }, send),
      ...Array.from({ length: 5 }, () =>
        grantCredits(store.database, TEST_ACTOR, caller.accountId, 3, 'more'),
      ),
    ]);
    const walks = await Promise.all([3, 5, 8].map((limit) => entriesOf(limit, send)));
    await busy;
    for (const walk of walks) await expectToAddUp(walk);
    const { freeQuota, credits } = (await findBalance(store.database, caller.accountId))!;
    const all = await entriesOf(4);
    await expectToAddUp(all, { freeQuota, credits });
    const [{ count }] = (await store.sql<{ count: number }>(
      'select count(*)::integer as count from ledger_entries where account_id = $1',
      [caller.accountId],
    )) as [{ count: number }];
    expect(all).toHaveLength(count);
  });

  it('lists a refund above an entry that was inserted while the refund waited for the account’s lock', async () => {
    const failing = await send();
    const seen = await store.database.transaction(async (transaction) => {
      await transaction.sql
        .query`select from accounts where id = ${caller.accountId}::uuid for no key update`;
      const failed = fail(failing);
      await until('a return that waits for the account', async () => (await store.countLockWaits()) > 0);
      const [{ id }] = await transaction.sql.query<[{ id: bigint }]>`
        insert into ledger_entries (account_id, kind, bucket, units) values (${caller.accountId}::uuid, 'granted', 'credit', 1)
        returning id`;
      return { id, failed };
    });
    await seen.failed;
    const [newest, next] = await entriesOf(2);
    expect([newest!.kind, newest!.sendId, next!.id]).toEqual(['returned', failing, String(seen.id)]);
  });
});

describe('an API key that expires', () => {
  const find = ({ key }: { key: string }) => findCaller(store.database, hashApiKey(key));
  const make = async (expiresAt: Date) => {
    const caller = await buildCaller(store.database, 'live');
    const { applicationId } = caller;
    const made = (await createApiKey(store.database, TEST_ACTOR, applicationId, { name: 'CI', expiresAt }))!;
    return { ...caller, ...made, keyId: made.id };
  };
  const expire = ({ id }: { id: string }) =>
    store.sql(`update api_keys set expires_at = clock_timestamp() - interval '1 second' where id = $1`, [id]);

  it('is accepted before its expiry, and refused after it', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const made = await make(expiresAt);
    expect(made.expiresAt).toEqual(expiresAt);
    expect(await find(made)).toMatchObject({ keyId: made.id, state: 'valid' });
    expect(await createSend(store.database, newSend(made))).toMatchObject({ outcome: 'created' });
    await expire(made);
    expect(await find(made)).toMatchObject({ state: 'expired', keyId: made.id });
    expect(await createSend(store.database, newSend(made))).toEqual({
      outcome: 'key_refused',
      cause: 'expired',
    });
  });

  it('counts as in use only before its expiry, and stays in the list of its application', async () => {
    const made = await make(new Date(Date.now() + 60_000));
    const { accountId, applicationId } = made;
    const inUse = async () =>
      (await findApplications(store.database, { accountId, id: applicationId }))[0]?.keysInUse;
    const listed = async () =>
      (await listApiKeys(store.database, { accountId, areInUse: true })).map(({ name }) => name);
    expect(await inUse()).toBe(2);
    expect(await listed()).toEqual([null, 'CI']);
    await expire(made);
    await deleteEndedKeys(store.database);
    expect(await inUse()).toBe(1);
    expect(await listed()).toEqual([null]);
    expect(await listApiKeys(store.database, { applicationId })).toContainEqual(
      expect.objectContaining({ id: made.id, revokedAt: null }),
    );
    expect((await listApiKeys(store.database, { areInUse: true })).map(({ id }) => id)).not.toContain(
      made.id,
    );
  });
});

describe('the "Try it" page', () => {
  it('creates keys that work for a minute, and that no list contains', async () => {
    const caller = await buildCaller(store.database, 'live');
    const { accountId, applicationId } = caller;
    const key = await createTryoutKey(store.database, { id: applicationId, mode: 'live' });
    const find = () => findCaller(store.database, hashApiKey(key));
    expect(await find()).toMatchObject({ applicationId, mode: 'live', state: 'valid' });
    expect(await listApiKeys(store.database, { applicationId })).toHaveLength(1);
    expect((await findApplications(store.database, { accountId }))[0]?.keysInUse).toBe(1);
    const ended = `update api_keys set expires_at = expires_at - interval '1 minute' where is_tryout and application_id = $1`;
    await store.sql(ended, [applicationId]);
    expect(await find()).toMatchObject({ state: 'expired' });
    await deleteEndedKeys(store.database);
    expect(await find()).toBeUndefined();
    expect(await findCaller(store.database, hashApiKey(caller.key))).toMatchObject({ keyId: caller.keyId });
  });

  it('hasTriedSend returns true only for a send that the user created on the application’s page', async () => {
    const [ana, ben] = [newId(), newId()];
    const [here, elsewhere] = [
      await buildCaller(store.database, 'test'),
      await buildCaller(store.database, 'test'),
    ];
    const tried = await buildSend(store.database, here, { idempotencyKey: newTryoutIdempotencyKey(ana) });
    const other = await buildSend(store.database, here, { idempotencyKey: 'order-7' });
    const without = await buildSend(store.database, here);
    const isTried = (userId: string, { applicationId }: TestCaller, sendId: string): Promise<boolean> =>
      hasTriedSend(store.database, { userId, applicationId, sendId });
    expect(await isTried(ana, here, tried)).toBe(true);
    for (const [who, where, send] of [
      [ben, here, tried],
      [ana, elsewhere, tried],
      [ana, here, other],
      [ana, here, without],
      [ana, here, newId()],
    ] as const)
      expect(await isTried(who, where, send)).toBe(false);
  });

  it('takeTryout allows six sends per minute and user, apart from look-ups and other users', async () => {
    const [ana, ben] = [newId(), newId()];
    const take = (user: string, kind: 'send' | 'look') => takeTryout(store.database, user, kind);
    const taken: boolean[] = [];
    for (let tries = 0; tries < 8; tries++) taken.push(await take(ana, 'send'));
    expect(taken).toEqual([...Array<boolean>(6).fill(true), false, false]);
    expect(await take(ana, 'look')).toBe(true);
    expect(await take(ben, 'send')).toBe(true);

    await store.sql(`update counted_tries set ends_at = ends_at - interval '1 minute'`);
    expect(await take(ana, 'send')).toBe(true);
    await deleteEndedTries(store.database);
    expect(await store.sql('select tries from counted_tries')).toEqual([{ tries: 1 }]);
  });
});
