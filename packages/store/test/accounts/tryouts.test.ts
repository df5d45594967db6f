import { hashApiKey } from '@onecode/domain';
import {
  deleteEndedKeys,
  findApplication,
  findCaller,
  hasTriedSend,
  keyOfVisit,
  listApiKeys,
  newId,
  newTryoutIdempotencyKey,
  readCallersVersion,
  revokeApiKey,
  takeTryout,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  tableContents,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();

const callerOf = (key: string) => findCaller(store.database, hashApiKey(key));
async function buildUser(): Promise<string> {
  const id = newId();
  await store.database.prisma.user.create({ data: { id, name: 'Ana', email: `${id}@example.com` } });
  return id;
}
/** The key of a visit that is there or begins. */
async function visit(userId: string, { applicationId }: TestCaller): Promise<string> {
  const which = { userId, applicationId };
  return (await keyOfVisit(store.database, TEST_ACTOR, TEST_SECRET_KEY, which)) ?? '';
}
const keysOf = async ({ applicationId, keyId }: TestCaller) =>
  (await listApiKeys(store.database, applicationId))?.filter(({ id }) => id !== keyId) ?? [];
const leave = (key: string, seconds: number) =>
  store.sql('update api_keys set expires_at = now() + make_interval(secs => $2) where hash = $1', [
    hashApiKey(key),
    seconds,
  ]);

describe('the key of a visit', () => {
  it.each(['test', 'live'] as const)(
    'speaks for its %s application, and is the same for each call of the visit',
    async (mode) => {
      const [ana, ben, caller] = [
        await buildUser(),
        await buildUser(),
        await buildCaller(store.database, mode),
      ];
      const key = await visit(ana, caller);
      expect(await callerOf(key)).toMatchObject({ applicationId: caller.applicationId, mode });
      expect(await visit(ana, caller)).toBe(key);
      expect(await visit(ben, caller)).not.toBe(key);
      expect(await visit(ana, await buildCaller(store.database, mode))).not.toBe(key);
    },
  );

  it('is listed with its end, is no key that people count, and stands nowhere in clear', async () => {
    const caller = await buildCaller(store.database, 'live');
    const key = await visit(await buildUser(), caller);
    const [listed] = await keysOf(caller);
    expect(listed!.expiresAt!.getTime() - listed!.createdAt.getTime()).toBe(600_000);
    const { accountId, applicationId } = caller;
    expect((await findApplication(store.database, accountId, applicationId))?.keysInUse).toBe(1);
    expect([...(await tableContents(store)).values()].join('\n')).not.toContain(key.slice(8, -4));
  });

  it('can be revoked; the visit goes on with another', async () => {
    const [ana, caller] = [await buildUser(), await buildCaller(store.database, 'test')];
    const key = await visit(ana, caller);
    const [listed] = await keysOf(caller);
    await revokeApiKey(store.database, TEST_ACTOR, listed!.id);
    expect(await callerOf(key)).toMatchObject({ refusal: 'revoked' });
    expect(await visit(ana, caller)).not.toBe(key);
  });

  it('is used no more shortly before its end, and deleted after it, which every API learns', async () => {
    const [ana, caller] = [await buildUser(), await buildCaller(store.database, 'test')];
    const ended = await visit(ana, caller);
    await leave(ended, -1);
    const ending = await visit(ana, caller);
    await leave(ending, 5);
    expect(await visit(ana, caller)).not.toBe(ending);
    const before = await readCallersVersion(store.database);
    await deleteEndedKeys(store.database);
    expect(await readCallersVersion(store.database)).not.toBe(before);
    expect(await callerOf(ended)).toBeNull();
    expect(await keysOf(caller)).toHaveLength(2);
    expect(await callerOf(caller.key)).toMatchObject({ keyId: caller.keyId });
  });

  it('that has not ended costs no API its cache', async () => {
    await visit(await buildUser(), await buildCaller(store.database, 'test'));
    await deleteEndedKeys(store.database);
    const before = await readCallersVersion(store.database);
    await deleteEndedKeys(store.database);
    expect(await readCallersVersion(store.database)).toBe(before);
  });
});

it('a send is one that somebody tried if they created it on the page of its application', async () => {
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
