import { randomBytes } from 'node:crypto';
import { unseal, type Keyring } from '@onecode/domain';
import { addSender, resealTokens, setSenderToken, type ResealedToken } from '@onecode/store';
import { TEST_ACTOR, useTestDatabase } from '@onecode/testing';

const KEYS = new Map([1, 2].map((version) => [version, randomBytes(32)]));
const OLD: Keyring = { current: 1, keys: new Map([[1, KEYS.get(1)!]]) };
const BOTH: Keyring = { current: 2, keys: KEYS };

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
