import { createTestDatabase, type TestDatabase } from '@onecode/store/testing';

/** One database for all tests of a file. To be used from within hooks and tests only. */
export function useTestDatabase(): Omit<TestDatabase, 'drop'> {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await createTestDatabase();
  });
  afterAll(() => store.drop());
  return {
    get url() {
      return store.url;
    },
    get database() {
      return store.database;
    },
    sql: (text, values) => store.sql(text, values),
  };
}
