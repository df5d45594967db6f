import { buildCaller, type TestCaller } from '@onecode/testing';
import { testVerification } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { expire } from './deliveries.js';
import { PHONE, startApi, type TestApi } from './testApi.js';

const CODE = '004217';
const VALID = { valid: true, verification: 'verified', attempts_left: 0 };
const PENDING = (left: number) => ({ valid: false, verification: 'pending', attempts_left: left });
const LOCKED = { valid: false, verification: 'locked', attempts_left: 0 };

let api: TestApi;
let test: TestCaller;

beforeAll(async () => {
  api = await startApi();
  test = await buildCaller(api.db.database, 'test');
});
afterAll(() => api.close());

testVerification(() => apiTarget(api));

async function create(): Promise<string> {
  return (await api.create(test, { to: PHONE, code: CODE }).expect(202)).body.id;
}
/** One guess; its answer's body. */
async function guess(id: string, code: string): Promise<unknown> {
  return (await api.verify(test, id, code).expect(200)).body;
}

it('a guess after the deadline is not counted', async () => {
  const id = await create();
  await guess(id, '1');
  await expire(api.db, id);
  for (const code of [CODE, '1', CODE]) await guess(id, code);
  expect(await api.db.sql('select wrong_guesses from sends where id = $1', [id])).toEqual([
    { wrong_guesses: 1 },
  ]);
});

describe('an internal error', () => {
  it('is internal_error and never valid, and leaves the code as it was', async () => {
    const id = await create();
    await api.db.sql('alter table guess_budgets rename to guess_budgets_away');
    const { body } = await api.verify(test, id, CODE);
    await api.db.sql('alter table guess_budgets_away rename to guess_budgets');
    expect(body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await guess(id, CODE)).toEqual(VALID);
  });
});

describe('guesses while the fifth wrong one cannot be written', () => {
  beforeAll(() =>
    api.db.sql('alter table sends add constraint of_a_test check (wrong_guesses < 5) not valid'),
  );
  afterAll(() => api.db.sql('alter table sends drop constraint of_a_test'));

  it('count all the same: after twelve, the right code is not valid', async () => {
    const id = await create();
    const answers: unknown[] = [];
    for (let n = 0; n < 12; n++) answers.push((await api.verify(test, id, '000000')).body);
    expect(answers).toEqual([
      ...[4, 3, 2, 1].map(PENDING),
      expect.objectContaining({ status: 500 }),
      ...Array.from({ length: 7 }, () => LOCKED),
    ]);
    expect(await guess(id, CODE)).toEqual(LOCKED);
  });

  it('count all the same when they come at once', async () => {
    const id = await create();
    await Promise.all(Array.from({ length: 60 }, () => api.verify(test, id, '000000')));
    expect(await guess(id, CODE)).toEqual(LOCKED);
  });
});
