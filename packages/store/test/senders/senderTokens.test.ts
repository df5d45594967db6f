import { randomBytes } from 'node:crypto';
import { unseal, type Keyring } from '@onecode/domain';
import { addSender, resealTokens, setSenderToken, type ResealedToken } from '@onecode/store';
import { TEST_ACTOR, useTestDatabase } from '@onecode/testing';

const KEYS = new Map([1, 2].map((version) => [version, randomBytes(32)]));
const OLD: Keyring = { current: 1, keys: new Map([[1, KEYS.get(1)!]]) };
const BOTH: Keyring = { current: 2, keys: KEYS };
const NEW: Keyring = { current: 2, keys: new Map([[2, KEYS.get(2)!]]) };

const store = useTestDatabase();
beforeEach(() => store.sql('delete from senders'));

let senders = 0;
async function senderWith(keyring: Keyring, token: string): Promise<string> {
  senders += 1;
  const made = await addSender(store.database, TEST_ACTOR, keyring, {
    phoneNumberId: String(senders),
    number: '+15550783881',
    token,
    template: 'verification_code',
    englishTemplateLanguage: 'en',
  });
  return made!.id;
}

const sealedTokens = (): Promise<{ id: string; sealed_token: Buffer }[]> =>
  store.sql('select id, sealed_token from senders order by id');

const statesOf = (resealed: ResealedToken[]): unknown =>
  resealed.map(({ senderId, token }) => [senderId, token]);

describe('resealing', () => {
  it('lets every token be opened with the new key alone', async () => {
    const first = await senderWith(OLD, 'token-1');
    const second = await senderWith(BOTH, 'token-2');
    expect(statesOf(await resealTokens(store.database, TEST_ACTOR, BOTH))).toEqual([
      [first, 'resealed'],
      [second, 'current'],
    ]);
    const opened = (await sealedTokens()).map(({ id, sealed_token: sealed }) => unseal(NEW, id, sealed));
    expect(opened).toEqual(['token-1', 'token-2']);
  });

  it('changes nothing when all is done', async () => {
    const id = await senderWith(OLD, 'token');
    await resealTokens(store.database, TEST_ACTOR, BOTH);
    const before = await sealedTokens();
    expect(statesOf(await resealTokens(store.database, TEST_ACTOR, BOTH))).toEqual([[id, 'current']]);
    expect(await sealedTokens()).toEqual(before);
  });

  it('leaves a token alone whose key is gone, names it, and goes on with the others', async () => {
    const lost = await senderWith({ current: 3, keys: new Map([[3, randomBytes(32)]]) }, 'lost');
    const impostor = await senderWith({ current: 2, keys: new Map([[2, randomBytes(32)]]) }, 'lost too');
    const good = await senderWith(OLD, 'token');
    const before = await sealedTokens();
    expect(statesOf(await resealTokens(store.database, TEST_ACTOR, BOTH))).toEqual([
      [lost, 'unreadable'],
      [impostor, 'unreadable'],
      [good, 'resealed'],
    ]);
    expect((await sealedTokens()).slice(0, 2)).toEqual(before.slice(0, 2));
  });

  it('does not bring an old token back over one that is set at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await senderWith(OLD, 'old');
      await Promise.all([
        resealTokens(store.database, TEST_ACTOR, BOTH),
        setSenderToken(store.database, TEST_ACTOR, OLD, id, 'set meanwhile'),
      ]);
      const sealed = (await sealedTokens()).find((row) => row.id === id)!.sealed_token;
      expect(unseal(BOTH, id, sealed)).toBe('set meanwhile');
    }
  });
});

describe('setting a token', () => {
  it('replaces the one of this sender only', async () => {
    const one = await senderWith(OLD, 'one');
    const other = await senderWith(OLD, 'other');
    expect(await setSenderToken(store.database, TEST_ACTOR, BOTH, one, 'another')).toBe(true);
    const opened = new Map(
      (await sealedTokens()).map(({ id, sealed_token: sealed }) => [id, unseal(BOTH, id, sealed)]),
    );
    expect(opened).toEqual(
      new Map([
        [one, 'another'],
        [other, 'other'],
      ]),
    );
  });

  it('says when there is no such sender', async () => {
    const unknown = '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f';
    expect(await setSenderToken(store.database, TEST_ACTOR, BOTH, unknown, 'token')).toBe(false);
  });
});
