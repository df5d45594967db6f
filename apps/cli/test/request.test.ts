import { randomUUID } from 'node:crypto';
import { buildCaller, refuseRequests, useTestDatabase, type TestCaller } from '@onecode/testing';
import { expectFault, jsonOf, onecode, TIME, UNKNOWN_ID } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
let caller: TestCaller;
let other: TestCaller;
const ids = [randomUUID(), randomUUID()];

beforeAll(async () => {
  env = { DATABASE_URL: store.url };
  caller = await buildCaller(store.database, 'live');
  other = await buildCaller(store.database, 'live');
  for (const [index, of] of [caller, other].entries())
    await refuseRequests(store.database, of, 'invalid_recipient', [
      { requestId: ids[index]!, fields: ['to'], ageMs: 1 },
      { count: 29 },
    ]);
});

const list = (...rest: string[]): string[] => ['request', 'list', '--account', caller.accountId, ...rest];

describe('request list', () => {
  it('lists an account’s own refused requests', async () => {
    const listed = (await jsonOf(list(), env)) as object[];
    expect(listed).toHaveLength(2);
    expect(listed.slice(-1)).toEqual([
      {
        at: TIME,
        request_id: ids[0],
        route: 'POST /v1/send',
        status: 422,
        code: 'invalid_recipient',
        detail: 'A sentence.',
        fields: ['to'],
        count: 1,
        application_id: caller.applicationId,
        application: 'Test live',
        key: expect.stringMatching(/^ak_live_/) as string,
      },
    ]);
    expect(await jsonOf(list('--application', other.applicationId), env)).toEqual([]);
  });

  it('finds one by its id, in the account only', async () => {
    expect(await jsonOf(list('--id', ids[0]!), env)).toMatchObject([{ request_id: ids[0] }]);
    expect(await jsonOf(list('--id', ids[1]!), env)).toEqual([]);
  });

  it('says below its table how many there were, and why', async () => {
    const { stdout } = await onecode(list(), env);
    expect(stdout).toMatch(/^at +request id +route +status +code/);
    expect(stdout).toContain(
      '\nRefused in 14 days:\n29 × invalid_recipient: A sentence.\n1 × invalid_recipient',
    );
  });

  it('of an account that does not exist fails', async () => {
    expectFault(
      await onecode(['request', 'list', '--account', UNKNOWN_ID], env),
      1,
      'there is no account with this id',
    );
  });
});
