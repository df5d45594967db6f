import { GUESSES_MAX } from '@onecode/domain';
import { grantCredits, scheduleDeletion } from '@onecode/store/accounts';
import { buildSend, guessCode, TEST_ACTOR } from '@onecode/testing';
import { cleanUp, deleteAccounts, retain } from '../src/cleanUp.js';
import { useWorker } from './testWorker.js';

const VALIDITY_SECONDS = 600;

const t = useWorker();
const FAILED = { status: 'failed', failure_reason: 'expired_before_delivery', encrypted_code: null };
const RETURNED = { free_quota: 1, credits: 0, returned: ['free_quota'] };

describe('a code that has expired or soon expires', () => {
  const oldSend = async (seconds: number): Promise<string> => {
    const id = await buildSend(t.database, t.caller);
    await t.age(id, seconds);
    return id;
  };

  it('is never sent: the send fails, and its unit is refunded', async () => {
    const id = await oldSend(VALIDITY_SECONDS);
    await t.enqueue('live', id);
    expect(await t.until(id, 'failed')).toMatchObject({ ...FAILED, attempts: 0 });
    expect(await t.units(t.caller.accountId)).toEqual(RETURNED);
    expect(t.tap.requests).toEqual([]);
  });

  it('is not sent when too little time is left to type it, and its send fails when it expires', async () => {
    const id = await oldSend(VALIDITY_SECONDS - 29);
    const row = await t.until(id, ({ version }) => version > 0);
    expect(row).toMatchObject({ status: 'queued', attempts: 0, due_at: row.expires_at });
    await t.age(id, 29);
    await t.until(id, 'failed');
    expect(t.tap.requests).toEqual([]);
  });
});

describe('a code that was verified before its message was sent', () => {
  const verify = (id: string) => guessCode(t.database, id, true);

  it('is not sent: its send fails when it is due, and the unit is refunded', async () => {
    const id = await buildSend(t.database, t.caller);
    await verify(id);
    await t.enqueue('live', id);
    const row = await t.until(id, 'failed');
    expect(row).toMatchObject({ ...FAILED, channel: null, attempts: 0 });
    expect(row.failed_at!.getTime()).toBeLessThan(row.expires_at.getTime());
    expect(await t.units(t.caller.accountId)).toEqual(RETURNED);
    expect(t.tap.requests).toEqual([]);
  });

  it('is not retried: its send fails when it is due again', async () => {
    t.simulator.rules.add({ fault: { error: 131000, retryAfter: 300 }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, ({ attempts, claimed_until }) => attempts === 1 && claimed_until === null);
    await verify(id);
    await t.age(id, 300);
    expect(await t.until(id, 'failed')).toMatchObject({ ...FAILED, attempts: 1 });
    expect(t.calls(id)).toHaveLength(1);
    expect(await t.units(t.caller.accountId)).toEqual(RETURNED);
  });

  it('gets no turn while it waits for a sender, like a locked code, and its send fails at the deadline', async () => {
    // Pauses every sender.
    await t.reset();
    const caller = await t.newCaller('live', { credits: 2 });
    const [verified, locked] = [await t.send(caller), await t.send(caller)];
    for (const id of [verified, locked]) await t.until(id, (row) => row.phase === 'waiting');
    await verify(verified);
    for (let nth = 0; nth < GUESSES_MAX; nth++) await guessCode(t.database, locked, false);
    expect(await t.sql('select from sends where is_waiting and id = any($1)', [[verified, locked]])).toEqual(
      [],
    );
    for (const id of [verified, locked]) {
      await t.makeDue(id);
      expect(await t.until(id, 'failed')).toMatchObject({ ...FAILED, attempts: 0 });
    }
  });
});

it('a worker masks the number of an old send', async () => {
  const id = await buildSend(t.database, t.caller, { recipient: '+5511987654321' });
  await t.age(id, 91 * 86_400);
  await t.until(id, 'failed');
  // Workers stop at the first recent send.
  await t.sql('delete from sends where id < $1', [id]);
  await retain(t.context, new AbortController().signal);
  expect(await t.sql('select recipient from sends where id = $1', [id])).toEqual([
    { recipient: '+55 ••••• 4321' },
  ]);
});

it('a worker expires only credits that are due', async () => {
  const { accountId } = await t.newCaller();
  for (const expiresAt of [new Date(Date.now() + 86_400_000), new Date(Date.now() + 2 * 86_400_000)])
    await grantCredits(t.database, TEST_ACTOR, accountId, 5, 'paid', { expiresAt, reference: null });
  await t.sql(
    `update credit_grants set expires_at = expires_at - interval '25 hours' where account_id = $1`,
    [accountId],
  );
  await cleanUp(t.context, new AbortController().signal);
  expect((await t.units(accountId)).credits).toBe(5);
});

it('a worker deletes an account at its scheduled time', async () => {
  const { accountId } = await t.newCaller();
  await scheduleDeletion(t.database, TEST_ACTOR, accountId);
  const keys = () =>
    t.sql('select from api_keys k join applications p on p.id = k.application_id where p.account_id = $1', [
      accountId,
    ]);
  await deleteAccounts(t.context, new AbortController().signal);
  expect(await keys()).toHaveLength(1);
  await t.sql(`update accounts set delete_at = now() - interval '1 second' where id = $1`, [accountId]);
  await deleteAccounts(t.context, new AbortController().signal);
  expect(await keys()).toEqual([]);
});
