import { randomBytes } from 'node:crypto';
import { bodyHashes, recipientKeys, type Keyring } from '@onecode/domain';
import { changeApplication } from '@onecode/store/accounts';
import { listSends } from '@onecode/store/reports';
import { createSend, resetGuessBudgets, type Creation } from '@onecode/store/sends';
import { buildCaller, newSend, TEST_ACTOR, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
const NUMBER = '+5511987654321';
const BODY = Buffer.from(`{"to":"${NUMBER}"}`);

const first: Keyring = { current: 1, keys: new Map([[1, randomBytes(32)]]) };
/** The keyring after a rotation, with the old key next to the new one. */
const rotated: Keyring = { current: 2, keys: new Map([[2, randomBytes(32)], ...first.keys]) };
const keys = recipientKeys(rotated, NUMBER);

let caller: TestCaller;
beforeEach(async () => {
  caller = await buildCaller(store.database, 'live', { credits: 100 });
});

const create = async (pepper: Keyring, idempotencyKey?: string, body: Uint8Array = BODY) => {
  const [recipientKey = '', ...olderRecipientKeys] = recipientKeys(pepper, NUMBER);
  return createSend(store.database, {
    ...newSend(caller, { recipient: NUMBER }),
    recipientKey,
    olderRecipientKeys,
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: Buffer.from(idempotencyKey).toString('hex'), bodyHashes: bodyHashes(pepper, body) },
  });
};
const outcome = async (
  pepper: Keyring,
  idempotencyKey?: string,
  body?: Uint8Array,
): Promise<Creation['outcome']> => (await create(pepper, idempotencyKey, body)).outcome;

describe('a rotation of NUMBER_PEPPER', () => {
  it('restarts the limit per recipient, and leaves the sends under both keys searchable', async () => {
    await changeApplication(store.database, TEST_ACTOR, caller.applicationId, { perRecipientHour: 1 });
    for (const pepper of [first, rotated]) {
      expect(await outcome(pepper)).toBe('created');
      expect(await create(pepper)).toMatchObject({ outcome: 'rate_limited', cause: 'recipient_rate' });
    }
    const { sends } = await listSends(
      store.database,
      caller.accountId,
      { recipientKeys: keys },
      { limit: 10 },
    );
    expect(sends).toHaveLength(2);
  });

  it('moves a recipient’s identity to the current key with the next send', async () => {
    const creation = await create(first);
    if (creation.outcome !== 'created') throw new Error(creation.outcome);
    await store.sql(
      `insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed) values ($1, $2, $3, 'hash', false)`,
      [creation.send.id, caller.applicationId, keys[1]],
    );
    await create(rotated);
    expect(await store.sql('select recipient_key as key from send_identities')).toEqual([{ key: keys[0] }]);
  });

  it('does not change the recognition of repeated requests and reused keys', async () => {
    expect(await outcome(first, 'k')).toBe('created');
    expect(await outcome(rotated, 'k')).toBe('existing');
    expect(await outcome(rotated, 'k', Buffer.from('{}'))).toBe('reused');
  });

  it('lets an operator reset the guess budgets under both keys', async () => {
    for (const key of keys)
      await store.sql(
        `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at) values ($1, $2, 50, now())`,
        [caller.accountId, key],
      );
    const which = { recipientKeys: keys };
    expect(await resetGuessBudgets(store.database, TEST_ACTOR, caller.accountId, which)).toBe(100);
  });
});
