import { readFileSync } from 'node:fs';
import { buildCaller, buildSend, createTestDatabase, guessCode, type TestDatabase } from '@onecode/testing';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

it('the query in docs/operations.md counts recent live sends and verified codes by account', async () => {
  const [, query = ''] = /```sql\n(.*?)```/s.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
  const [busy, other] = [await buildCaller(db.database, 'live'), await buildCaller(db.database, 'live')];
  const test = await buildCaller(db.database, 'test');
  for (const caller of [busy, busy, other, test]) await buildSend(db.database, caller);
  await guessCode(db.database, await buildSend(db.database, busy), true);
  expect(await db.sql(query)).toMatchObject([
    { id: busy.accountId, sends: '3', verified: '1' },
    { id: other.accountId, sends: '1', verified: '0' },
  ]);
});
