import { randomBytes } from 'node:crypto';
import { parseKeyring, unseal } from '@onecode/domain';
import { addSender } from '@onecode/store';
import { TEST_ACTOR, useTestDatabase } from '@onecode/testing';
import { expectFault, jsonOf, onecode, UNKNOWN_ID } from './onecode.js';

const [OLD_KEY, NEW_KEY] = [1, 2].map(() => randomBytes(32).toString('base64')) as [string, string];
const TOKEN = 'EAAGplantedTokenOfASender';
const BOTH = `2:${NEW_KEY},1:${OLD_KEY}`;

const store = useTestDatabase();
let id: string;
beforeEach(async () => {
  await store.sql('delete from senders');
  const sender = await addSender(store.database, TEST_ACTOR, parseKeyring(OLD_KEY), {
    phoneNumberId: '106540352242922',
    number: '+15550783881',
    token: TOKEN,
    template: 'verification_code',
    englishTemplateLanguage: 'en',
  });
  id = sender!.id;
});

const env = (secretKey: string): Record<string, string> => ({
  DATABASE_URL: store.url,
  SECRET_KEY: secretKey,
});

async function tokenOf(secretKey: string): Promise<string> {
  const [row] = await store.sql<{ sealed_token: Buffer }>('select sealed_token from senders where id = $1', [
    id,
  ]);
  return unseal(parseKeyring(secretKey), id, row!.sealed_token);
}

describe('sender reseal', () => {
  const ROW = { phone_number_id: '106540352242922', number: '+15550783881' };

  it('seals every token with the first key, and says so for each sender without its token', async () => {
    expect(await jsonOf(['sender', 'reseal'], env(BOTH))).toEqual([{ id, ...ROW, token: 'resealed' }]);
    expect(await tokenOf(`2:${NEW_KEY}`)).toBe(TOKEN);
    expect(await jsonOf(['sender', 'reseal'], env(BOTH))).toEqual([{ id, ...ROW, token: 'current' }]);
  });

  it('names a token whose key is missing, and says what to do', async () => {
    const ended = await onecode(['sender', 'reseal'], env(`2:${NEW_KEY}`));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/unreadable\n\nunreadable: the key that sealed it is not in SECRET_KEY/);
    expect(await tokenOf(OLD_KEY)).toBe(TOKEN);
  });

  it('has nothing to say without senders', async () => {
    await store.sql('delete from senders');
    expect(await jsonOf(['sender', 'reseal'], env(BOTH))).toEqual([]);
  });
});

describe('sender token', () => {
  it('takes another token, also from standard input, and prints none', async () => {
    const told = { id, token: 'set' };
    expect(await jsonOf(['sender', 'token', id, '--token', 'another'], env(BOTH))).toEqual(told);
    expect(await tokenOf(BOTH)).toBe('another');
    expect(await jsonOf(['sender', 'token', id, '--token', '-'], env(BOTH), `${TOKEN}\n`)).toEqual(told);
    expect(await tokenOf(BOTH)).toBe(TOKEN);
  });

  it('says that there is no such sender', async () => {
    const ended = await onecode(['sender', 'token', UNKNOWN_ID, '--token', TOKEN], env(BOTH));
    expectFault(ended, 1, 'there is no sender with this id');
    expect(ended.stderr).not.toContain('EAAG');
  });
});

it.each([['reseal'], ['token', UNKNOWN_ID, '--token', TOKEN]])(
  'sender %s needs SECRET_KEY',
  async (...args) => {
    expectFault(await onecode(['sender', ...args], { DATABASE_URL: store.url }), 1, 'SECRET_KEY is missing');
  },
);
