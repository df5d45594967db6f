import {
  cancelDeletion,
  deleteAccount,
  deleteDueAccount,
  findAccount,
  scheduleDeletion,
} from '@onecode/store/accounts';
import { placeHold } from '@onecode/store/holds';
import { listLedger } from '@onecode/store/reports';
import { assignSender } from '@onecode/store/senders';
import {
  buildCaller,
  buildSend,
  buildSender,
  guessCode,
  refuseRequests,
  refuseWrites,
  tableContents,
  TEST_ACTOR,
  useTestDatabase,
} from '@onecode/testing';

const store = useTestDatabase();
const NUMBER = '+5511987654321';

async function member(accountId: string, email: string): Promise<string> {
  const [user] = await store.sql<{ id: string }>(
    'insert into users (id, name, email) values (gen_random_uuid(), $1, $1) returning id',
    [email],
  );
  await store.sql(`insert into members (account_id, user_id, role) values ($1, $2, 'admin')`, [
    accountId,
    user!.id,
  ]);
  return user!.id;
}

it('deleteAccount deletes the account’s users, keys, sends and numbers, and keeps its ledger', async () => {
  const { database } = store;
  const live = await buildCaller(database, 'live', { credits: 10, freeQuota: 0, name: 'Loja Azul' });
  const test = await buildCaller(database, 'test', { id: live.accountId });
  const other = await buildCaller(database, 'live', { credits: 10 });
  const both = await member(live.accountId, 'both@example.com');
  await store.sql(`insert into members (account_id, user_id, role) values ($1, $2, 'viewer')`, [
    other.accountId,
    both,
  ]);
  await member(live.accountId, 'ana@example.com');
  await buildSend(database, test, { recipient: NUMBER });
  await buildSend(database, live, { recipient: NUMBER });
  const guessed = await buildSend(database, live, { recipient: NUMBER });
  await guessCode(database, guessed, false);
  await placeHold(database, TEST_ACTOR, { kind: 'account', target: live.accountId, reason: 'r' });
  await refuseRequests(database, live, 'invalid_recipient', [{}]);
  const { id: own } = await buildSender(database);
  await assignSender(database, TEST_ACTOR, own, { accountId: live.accountId, applicationIds: [] });
  await buildSender(database);
  const stays = await buildSend(database, other, { recipient: '+5511987650000' });

  expect(await deleteAccount(database, TEST_ACTOR, live.accountId, 'contract ended')).toEqual({
    peopleDeleted: 1,
    keysDeleted: 2,
    sendsDeleted: 3,
  });

  // Waiting sends are refunded, with ledger entries.
  expect(await findAccount(database, live.accountId)).toMatchObject({
    name: 'Loja Azul',
    credits: 10,
    suspensionReason: 'contract ended',
  });
  const { entries } = await listLedger(database, live.accountId, { limit: 10 });
  expect(entries.map(({ kind }) => kind).toSorted()).toEqual(
    ['granted', 'reserved', 'reserved', 'returned', 'returned'].toSorted(),
  );
  expect(await store.sql('select id from sends')).toEqual([{ id: stays }]);
  expect(
    await store.sql('select id, length(encrypted_token) as token from senders where removed_at is not null'),
  ).toEqual([{ id: own, token: 0 }]);
  expect(await store.sql('select email from users')).toEqual([{ email: 'both@example.com' }]);
  const contents = await tableContents(store);
  for (const column of ['members.account_id', 'api_keys.application_id', 'guess_budgets.account_id'])
    for (const id of [live.accountId, live.applicationId, test.applicationId])
      expect(contents.get(column)).not.toContain(id);
  expect(contents.get('refused_requests.account_id')).toBe('');
  expect(await deleteAccount(database, TEST_ACTOR, live.accountId, 'contract ended')).toEqual({
    peopleDeleted: 0,
    keysDeleted: 0,
    sendsDeleted: 0,
  });
});

describe('an account with a scheduled deletion', () => {
  const ADMIN = { kind: 'user', id: null, name: 'ana@example.com' } as const;
  const DAY_MS = 86_400_000;
  const never = new AbortController().signal;
  const comesDue = (accountId: string) =>
    store.sql(`update accounts set delete_at = now() - interval '1 second' where id = $1`, [accountId]);

  it('is deleted after 30 days, in the name of the admin who requested it', async () => {
    const { database } = store;
    const caller = await buildCaller(database, 'live', { credits: 10 });
    await buildSend(database, caller, { recipient: NUMBER });
    const { deleteAt } = (await scheduleDeletion(database, ADMIN, caller.accountId))!;
    expect((deleteAt!.getTime() - Date.now()) / DAY_MS).toBeCloseTo(30, 2);
    expect(await scheduleDeletion(database, TEST_ACTOR, caller.accountId)).toMatchObject({ deleteAt });
    expect(await deleteDueAccount(database, never)).toBeNull();
    expect(await findAccount(database, caller.accountId)).toMatchObject({ suspendedAt: null, deleteAt });

    await comesDue(caller.accountId);
    // A deletion that is interrupted before its first page continues in the next call.
    expect(await deleteDueAccount(database, AbortSignal.abort())).toBeNull();
    expect(await store.sql('select from sends where account_id = $1', [caller.accountId])).toHaveLength(1);
    expect(await cancelDeletion(database, ADMIN, caller.accountId)).toMatchObject({
      deleteAt: expect.any(Date),
    });
    const deleted = await Promise.all([1, 2, 3].map(() => deleteDueAccount(database, never)));
    expect(deleted).toContain(caller.accountId);
    expect(await store.sql('select from sends where account_id = $1', [caller.accountId])).toEqual([]);
    expect(await findAccount(database, caller.accountId)).toMatchObject({ deleteAt: null });
    expect(await deleteDueAccount(database, never)).toBeNull();
    const entries = await store.sql(
      'select action, actor_name from audit_entries where account_id = $1 and actor_kind = $2 order by id',
      [caller.accountId, 'user'],
    );
    expect(entries).toEqual([
      { action: 'account.schedule_deletion', actor_name: ADMIN.name },
      { action: 'account.delete', actor_name: ADMIN.name },
    ]);
  });

  it('is deleted although the deletion of another account fails', async () => {
    const { database } = store;
    const [failing, next] = [await buildCaller(database, 'live'), await buildCaller(database, 'live')];
    for (const { accountId } of [failing, next]) {
      await scheduleDeletion(database, ADMIN, accountId);
      await comesDue(accountId);
    }
    const allow = await refuseWrites(store, 'delete on api_keys', `old.id = '${failing.keyId}'`);
    try {
      for (let deleted: string | null = null; deleted !== next.accountId;)
        deleted = await deleteDueAccount(database, never).catch(() => null);
      await expect(deleteDueAccount(database, never)).rejects.toThrow('refused');
      expect(await findAccount(database, failing.accountId)).toMatchObject({ deleteAt: expect.any(Date) });
    } finally {
      await allow();
    }
    expect(await deleteDueAccount(database, never)).toBe(failing.accountId);
  });

  it('is kept if an admin cancels the deletion', async () => {
    const { database } = store;
    const { accountId } = await buildCaller(database, 'live', { credits: 10 });
    await scheduleDeletion(database, ADMIN, accountId);
    expect(await cancelDeletion(database, ADMIN, accountId)).toMatchObject({ deleteAt: null });
    expect(await deleteDueAccount(database, never)).toBeNull();
    expect(await findAccount(database, accountId)).toMatchObject({ suspendedAt: null });
  });
});
