import { refusedBy, type Connection } from '@onecode/store';
import { useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();

const BYTES = new Uint8Array([0, 1, 254, 255]);
const TIME = new Date('2026-02-28T23:59:59.123Z');

/** Every kind of value that a statement of ours takes or returns. */
const selectEverything = (database: Connection) =>
  database.sql.query<[Record<string, unknown>]>`
    select ${7}::integer as whole, 1.5::float8 as part, ${true}::boolean as truth, ${'text — ü'}::text as words,
      9007199254740993::bigint as large, ${12n}::bigint as given_large, gen_random_uuid() is not null as is_id,
      '019a0000-0000-7000-8000-000000000000'::uuid as id, ${BYTES}::bytea as bytes, ${TIME}::timestamptz as time,
      ${null}::text as nothing, ${JSON.stringify({ a: [1, null] })}::jsonb as document, array[1, 2] as wholes,
      ${['a', null, 'b,"c']}::text[] as texts, array[0.5, 1]::float8[] as parts,
      array['2026-02-28 23:59:59.123+00', null]::timestamptz[] as times,
      ${['019a0000-0000-7000-8000-000000000000']}::uuid[] as ids, '2026-02-28 23:59:59.123456-03'::timestamptz as elsewhere`;

describe('a raw statement outside of a transaction', () => {
  it('takes and returns the same as one that goes through Prisma’s engine', async () => {
    const [alone] = await selectEverything(store.database);
    const [within] = await store.database.transaction((transaction) => selectEverything(transaction));
    expect(Object.keys(alone)).toEqual(Object.keys(within));
    expect({ ...alone, bytes: [...(alone['bytes'] as Uint8Array)] }).toEqual({
      ...within,
      bytes: [...(within['bytes'] as Uint8Array)],
    });
    expect(alone).toMatchObject({
      whole: 7,
      large: 9007199254740993n,
      given_large: 12n,
      time: TIME,
      elsewhere: new Date('2026-03-01T02:59:59.123Z'),
      document: { a: [1, null] },
      texts: ['a', null, 'b,"c'],
      nothing: null,
    });
    expect([...(alone['bytes'] as Uint8Array)]).toEqual([...BYTES]);
  });

  it('says how many rows it changed', async () => {
    await store.sql('create table counted (n integer)');
    expect(
      await store.database.sql.execute`insert into counted select generate_series(1, ${3}::integer)`,
    ).toBe(3);
  });

  it('returns no type that would look otherwise within a transaction', async () => {
    await expect(store.database.sql.query`select 1.5::numeric as amount`).rejects.toThrow('amount');
  });

  it('stays out of a transaction that is open, and one within it is taken back with it', async () => {
    await store.sql('create table kept (word text)');
    const takenBack = store.database.transaction(async (transaction) => {
      await transaction.sql.execute`insert into kept values ('within')`;
      await store.database.sql.execute`insert into kept values ('outside')`;
      throw new Error('taken back');
    });
    await expect(takenBack).rejects.toThrow('taken back');
    expect(await store.sql('select word from kept')).toEqual([{ word: 'outside' }]);
  });
});

describe('a refused statement', () => {
  it.each([
    ['a value out of range', 'select (2147483647 + 1)::integer', '22003', 'ValueOutOfRange'],
    ['a missing table', 'select 1 from nowhere', '42P01', 'TableDoesNotExist'],
    ['a duplicate', 'insert into settings default values', '23505', 'UniqueConstraintViolation'],
    ['a raised error', `do $$ begin raise exception 'no'; end $$`, 'P0001', 'postgres'],
  ])('says why, in a transaction and alone: %s', async (_, statement, code, kind) => {
    const alone = store.database.sql.execute([statement] as unknown as TemplateStringsArray);
    const refusal = await alone.catch((error: unknown) => error);
    expect(refusedBy(refusal)).toEqual({ code, kind });
    expect(refusal).toMatchObject({ code: `SQLSTATE_${code}` });
    const within = store.database.transaction((transaction) =>
      transaction.prisma.$executeRawUnsafe(statement),
    );
    expect(refusedBy(await within.catch((error: unknown) => error))).toEqual({ code, kind });
  });

  it('is nothing that another error is', () => {
    for (const error of [new Error('x'), new Error('x', { cause: new Error('y') }), 'x', {}])
      expect(refusedBy(error)).toBeNull();
  });
});
