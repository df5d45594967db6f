import { hashApiKey, isApiKey } from '@onecode/domain';
import { findCaller } from '@onecode/store';
import { buildCaller, useTestDatabase } from '@onecode/testing';
import { expectFault, ID, jsonOf, onecode, TIME, UNKNOWN_ID } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
});

interface MadeKey {
  id: string;
  key: string;
}
const hintOf = (key: string): string => `${key.slice(0, 8)}…${key.slice(-4)}`;

it.each(['test', 'live'] as const)(
  'key create makes a %s key that works until it is revoked',
  async (mode) => {
    const { applicationId, accountId } = await buildCaller(store.database, mode);
    const made = (await jsonOf(['key', 'create', '--application', applicationId], env)) as MadeKey;
    expect(made).toEqual({
      id: ID,
      key: expect.stringMatching(new RegExp(`^ak_${mode}_`)),
      application_id: applicationId,
      mode,
    });
    expect(isApiKey(made.key)).toBe(true);
    expect(await findCaller(store.database, hashApiKey(made.key))).toEqual({
      keyId: made.id,
      applicationId,
      accountId,
      mode,
    });

    const revoked = await jsonOf(['key', 'revoke', made.id], env);
    expect(revoked).toEqual({
      id: made.id,
      application_id: applicationId,
      mode,
      hint: hintOf(made.key),
      created_at: TIME,
      revoked_at: TIME,
      expires_at: null,
    });
    expect(await findCaller(store.database, hashApiKey(made.key))).toMatchObject({ refusal: 'revoked' });
    expect(await jsonOf(['key', 'revoke', made.id], env)).toEqual(revoked);
  },
);

it('key list shows every key of the application, oldest first, and no key itself', async () => {
  const first = await buildCaller(store.database, 'live');
  await buildCaller(store.database, 'live', { id: first.accountId });
  const second = (await jsonOf(['key', 'create', '--application', first.applicationId], env)) as MadeKey;
  await onecode(['key', 'revoke', first.keyId], env);

  const row = { application_id: first.applicationId, mode: 'live', created_at: TIME, expires_at: null };
  expect(await jsonOf(['key', 'list', '--application', first.applicationId], env)).toEqual([
    { ...row, id: first.keyId, hint: hintOf(first.key), revoked_at: TIME },
    { ...row, id: second.id, hint: hintOf(second.key), revoked_at: null },
  ]);

  const { stdout } = await onecode(['key', 'list', '--application', first.applicationId], env);
  const [header, ...lines] = stdout.trimEnd().split('\n');
  expect(header).toMatch(/^id +application id +mode +hint +created at +revoked at +expires at$/);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/ -$/);
  expect(stdout).not.toContain(second.key);
});

it('key list of an application without keys is an empty array, and none as text', async () => {
  const { applicationId, keyId } = await buildCaller(store.database, 'test');
  await store.sql('delete from api_keys where id = $1', [keyId]);
  expect(await jsonOf(['key', 'list', '--application', applicationId], env)).toEqual([]);
  expect((await onecode(['key', 'list', '--application', applicationId], env)).stdout).toBe('none\n');
});

it('key create says in its text that the key is shown this once', async () => {
  const { applicationId } = await buildCaller(store.database, 'test');
  const { stdout } = await onecode(['key', 'create', '--application', applicationId], env);
  expect(stdout).toMatch(/^key {13}ak_test_\w+$/m);
  expect(stdout).toContain('The key cannot be shown again: keep it now.');
});

it.each([
  ['key create', ['key', 'create', '--application', UNKNOWN_ID], 'there is no application with this id'],
  ['key list', ['key', 'list', '--application', UNKNOWN_ID], 'there is no application with this id'],
  ['key revoke', ['key', 'revoke', UNKNOWN_ID], 'there is no key with this id'],
])('%s says what is not there', async (_, args, line) => {
  expectFault(await onecode(args, env), 1, line);
});
