import { hashApiKey, isApiKey } from '@onecode/domain';
import {
  findApplication,
  findCaller,
  listApiKeys,
  newId,
  readCallersVersion,
  revokeApiKey,
  takeTryout,
  withTryoutKey,
} from '@onecode/store';
import { buildCaller, tableContents, TEST_ACTOR, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();

const callerOf = (key: string) => findCaller(store.database, hashApiKey(key));
const tryoutKeys = (applicationId: string) =>
  store.sql<{ id: string }>(`select id from api_keys where application_id = $1 and purpose = 'tryout'`, [
    applicationId,
  ]);
const useKey = <R>({ applicationId, accountId, mode }: TestCaller, use: (key: string) => R) =>
  withTryoutKey(store.database, TEST_ACTOR, { id: applicationId, accountId, mode }, null, async (key) =>
    use(key),
  );

/** A key that a crash left behind, this many seconds ago. */
async function leaveBehind(applicationId: string, secondsAgo: number): Promise<string> {
  const id = newId();
  await store.sql(
    `insert into api_keys (id, application_id, hash, hint, purpose, created_at)
     values ($1, $2, sha256($3::text::bytea), 'ak_test_…left', 'tryout', now() - make_interval(secs => $4))`,
    [id, applicationId, id, secondsAgo],
  );
  return id;
}

describe('a tryout key', () => {
  it.each(['test', 'live'] as const)(
    'speaks for its %s application while it is used, and for nobody afterwards',
    async (mode) => {
      const caller = await buildCaller(store.database, mode);
      const { applicationId, accountId } = caller;
      const { key, during } = await useKey(caller, async (key) => ({ key, during: await callerOf(key) }));
      expect(isApiKey(key)).toBe(true);
      expect(during).toMatchObject({ applicationId, accountId, mode });
      expect(await callerOf(key)).toBeNull();
      expect(await tryoutKeys(applicationId)).toEqual([]);
    },
  );

  it('ends when its use fails, too, and every API learns of it', async () => {
    const caller = await buildCaller(store.database, 'test');
    const before = await readCallersVersion(store.database);
    let used = '';
    const failing = useKey(caller, (key) => {
      used = key;
      throw new Error('no answer');
    });
    await expect(failing).rejects.toThrow('no answer');
    expect(await callerOf(used)).toBeNull();
    expect(await readCallersVersion(store.database)).not.toBe(before);
  });

  it('is in no list and no count of keys, and nobody can revoke it', async () => {
    const caller = await buildCaller(store.database, 'live');
    const { applicationId, accountId, keyId } = caller;
    await useKey(caller, async () => {
      const [{ id } = { id: '' }] = await tryoutKeys(applicationId);
      expect((await listApiKeys(store.database, applicationId))?.map((key) => key.id)).toEqual([keyId]);
      expect((await findApplication(store.database, accountId, applicationId))?.keysInUse).toBe(1);
      expect(await revokeApiKey(store.database, TEST_ACTOR, id)).toBeNull();
      expect(await tryoutKeys(applicationId)).toHaveLength(1);
    });
  });

  it('takes with it what crashes left behind in its application, and nobody else’s call', async () => {
    const caller = await buildCaller(store.database, 'test');
    const other = await buildCaller(store.database, 'test');
    await leaveBehind(caller.applicationId, 130);
    const recent = await leaveBehind(caller.applicationId, 30);
    const foreign = await leaveBehind(other.applicationId, 130);
    await useKey(caller, () => undefined);
    expect(await tryoutKeys(caller.applicationId)).toEqual([{ id: recent }]);
    expect(await tryoutKeys(other.applicationId)).toEqual([{ id: foreign }]);
  });

  it('is in the audit log as what it was made for, and not as a key', async () => {
    const { applicationId, accountId } = await buildCaller(store.database, 'test');
    const entries = () =>
      store.sql('select action, subject from audit_entries where account_id = $1 order by id', [accountId]);
    const before = await entries();
    const application = { id: applicationId, accountId, mode: 'test' as const };
    const tried = { recipient: '+5511987654321' };
    const key = await withTryoutKey(store.database, TEST_ACTOR, application, tried, async (key) => key);
    expect(await entries()).toEqual([...before, { action: 'application.try_send', subject: applicationId }]);
    expect([...(await tableContents(store)).values()].join('\n')).not.toContain(key.slice(8, -4));
  });
});

describe('how often somebody may try', () => {
  it('is six sends in a minute, whatever they looked at, and nobody else pays for it', async () => {
    const [ana, ben] = [newId(), newId()];
    const take = (user: string, kind: 'send' | 'look') => takeTryout(store.database, user, kind);
    // A minute that ends in between begins a new count; the second minute cannot end as well.
    const taken: boolean[] = [];
    for (let tries = 0; tries < 14; tries++) taken.push(await take(ana, 'send'));
    expect(taken.filter(Boolean).length).toBeGreaterThanOrEqual(6);
    expect(taken).toContain(false);
    expect(await take(ana, 'look')).toBe(true);
    expect(await take(ben, 'send')).toBe(true);
  });

  it('is counted by the minutes of the database, whatever the clock of the console’s process says', async () => {
    const ana = newId();
    const { now } = Date;
    let minutes = 0;
    Date.now = () => now() + (minutes += 1) * 60_000;
    try {
      const taken: boolean[] = [];
      for (let tries = 0; tries < 14; tries++) taken.push(await takeTryout(store.database, ana, 'send'));
      expect(taken).toContain(false);
    } finally {
      Date.now = now;
    }
  });
});
