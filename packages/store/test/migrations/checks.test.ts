import { readFile } from 'node:fs/promises';
import { newId } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';

interface Statement {
  sql: string;
  /** The constraint or rule that refuses it; null for one that is valid. */
  refusedBy: string | null;
}

const store = useTestDatabase();
let statements: Statement[];

/** The statements of rows.sql, with the ids of rows in place of their names. */
async function readStatements(ids: Record<string, string>): Promise<Statement[]> {
  const text = await readFile(new URL('rows.sql', import.meta.url), 'utf8');
  return [...text.replaceAll(/^--.*$/gm, '').matchAll(/\s*([^;]+);(?: -- (\w+))?$/gm)].map(
    ([, sql, refusedBy]) => ({
      sql: sql!.replaceAll(/(?<!:):([a-zA-Z]+)/g, (_, name: string) => `'${ids[name]}'`),
      refusedBy: refusedBy ?? null,
    }),
  );
}

beforeAll(async () => {
  const live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  const test = await buildCaller(store.database, 'test', { id: live.accountId });
  const other = await buildCaller(store.database, 'live');
  const make = () => buildSend(store.database, live);
  statements = await readStatements({
    account: live.accountId,
    application: live.applicationId,
    testApplication: test.applicationId,
    otherAccount: other.accountId,
    sender: (await buildSender(store.database)).id,
    queued: await make(),
    keyed: await buildSend(store.database, live, { idempotencyKey: 'taken' }),
    sending: await make(),
    sent: await make(),
    failed: await make(),
    testQueued: await buildSend(store.database, test),
    attempt: newId(),
    user: newId(),
    nothing: newId(),
  });
});

/** The constraint by which PostgreSQL refuses a statement, or null when it does not. */
async function refusalOf(sql: string): Promise<string | null> {
  try {
    await store.sql(sql);
    return null;
  } catch (error) {
    return (error as { constraint?: string }).constraint ?? String(error);
  }
}

/** The names of the rules in `send_is_valid`, each at the end of a line. */
async function rulesOfSends(): Promise<string[]> {
  const [known] = await store.sql<{ names: string[]; count: number }>(
    `select array(select (regexp_matches(prosrc, $$then '(\\w+)'$$ || '$', 'gn'))[1]) as names,
       regexp_count(prosrc, 'when not') as count
     from pg_proc where proname = 'send_is_valid'`,
  );
  expect(known?.names).toHaveLength(known?.count ?? 0);
  return known?.names ?? [];
}

/** A change of a send as a new row. */
const asNewSend = (change: string): string =>
  `create temporary table invalid on commit drop as select * from sends where ${/id = '[^']+'$/.exec(change)?.[0]};
   ${change.replace('update sends', 'update invalid')};
   insert into sends select * from invalid`;

describe('the database', () => {
  it('accepts and refuses each row of rows.sql as it says there, a new send by the same rule as a change to one', async () => {
    const rules = await rulesOfSends();
    for (const { sql, refusedBy } of statements) {
      expect([sql, await refusalOf(sql)]).toEqual([sql, refusedBy]);
      if (refusedBy !== null && rules.includes(refusedBy))
        expect([sql, await refusalOf(asNewSend(sql))]).toEqual([sql, refusedBy]);
    }
  });

  it('names a broken rule of sends as it names a check, and does not show the row', async () => {
    const error = await store.sql('update sends set attempts = -1').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: '23514',
      table: 'sends',
      constraint: 'sends_attempts_check',
      message: 'new row for relation "sends" violates check constraint "sends_attempts_check"',
    });
    expect((error as { detail?: string }).detail).toBeUndefined();
  });

  it('has an invalid row there for every check and unique index', async () => {
    const rows = await store.sql<{ name: string }>(
      `select conname as name from pg_constraint
         where connamespace = 'public'::regnamespace and contype = 'c' and conrelid <> 0
       union
       select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indisunique and not i.indisprimary and c.relnamespace = 'public'::regnamespace`,
    );
    const implied = [
      // By the primary key; it is there for the foreign key of sends.
      'applications_id_account_id_mode_key',
      // It is never named itself: its rules are.
      'sends_are_valid',
    ];
    const covered = new Set([...statements.map(({ refusedBy }) => refusedBy), ...implied]);
    const names = [...rows.map((row) => row.name), ...(await rulesOfSends())];
    expect(names.filter((name) => !covered.has(name))).toEqual([]);
  });
});
