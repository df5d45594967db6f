import { createPresence, deleteOldProcesses, listProcesses } from '@onecode/store';
import { readMigrations } from '@onecode/store/migrations';
import { useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();
beforeEach(async () => {
  await store.sql('truncate processes, releases, schema_contracts');
});

const presence = (release = '1.1.0') => createPresence(store.database, { kind: 'api', release });
const seen = async (): Promise<unknown[]> =>
  (await listProcesses(store.database)).map(({ id, state }) => ({ id, state }));

describe('the presence of a process', () => {
  it('tells its release and the newest migration that it knows, again and again', async () => {
    const one = presence();
    expect(await one.tell()).toBeNull();
    const [first] = await listProcesses(store.database);
    expect(first).toMatchObject({
      id: one.id,
      kind: 'api',
      release: '1.1.0',
      lastMigration: (await readMigrations()).at(-1)!.name,
      state: 'running',
    });
    await store.sql(`update processes set seen_at = now() - interval '2 minutes'`);
    expect(await seen()).toEqual([{ id: one.id, state: 'silent' }]);
    expect(await one.tell()).toBeNull();
    expect(await seen()).toEqual([{ id: one.id, state: 'running' }]);
    expect(await store.sql('select release from releases')).toEqual([{ release: '1.1.0' }]);
  });

  it('tells how far its clock is from the database’s, each time anew, and nothing that the round trip explains', async () => {
    const one = presence();
    const told = async (): Promise<number | null> => {
      await one.tell();
      return (await listProcesses(store.database))[0]!.clockAheadMs;
    };
    expect(await told()).toBe(0);
    const { now } = Date;
    let ahead: number | null;
    let behind: number | null;
    try {
      Date.now = () => now() + 300_000;
      ahead = await told();
      Date.now = () => now() - 300_000;
      behind = await told();
    } finally {
      Date.now = now;
    }
    // What the round trip took is taken off.
    expect(ahead).toBeGreaterThan(290_000);
    expect(ahead).toBeLessThanOrEqual(300_000);
    expect(behind).toBeLessThan(-290_000);
    expect(behind).toBeGreaterThanOrEqual(-300_000);
    expect(await told()).toBe(0);
  });

  it('tells that it has stopped, and comes back after PostgreSQL lost it in a crash', async () => {
    const one = presence();
    await one.tell();
    await store.sql('truncate processes');
    await one.tell();
    expect(await seen()).toEqual([{ id: one.id, state: 'running' }]);
    await one.end();
    expect(await seen()).toEqual([{ id: one.id, state: 'stopped' }]);
  });

  it('is deleted an hour later', async () => {
    const [old, late] = [presence(), presence()];
    await old.tell();
    await store.sql(`update processes set seen_at = now() - interval '61 minutes'`);
    await late.tell();
    await deleteOldProcesses(store.database);
    expect(await store.sql('select id from processes')).toEqual([{ id: late.id }]);
  });

  it('is not told by a release that the schema does not fit, which never ran then', async () => {
    await store.sql(
      `insert into schema_contracts (migration_name, oldest_release, reason) values ('99_drop', '1.2.0', 'of a test')`,
    );
    expect(await presence('1.1.9').tell()).toMatch(/^the schema is too new for release 1\.1\.9: .*99_drop/);
    expect(await presence('1.2.0').tell()).toBeNull();
    expect(await store.sql('select release from releases')).toEqual([{ release: '1.2.0' }]);
    await store.sql('truncate schema_contracts');
    const newest = (await readMigrations()).at(-1)!.name;
    await store.sql('delete from _prisma_migrations where migration_name = $1', [newest]);
    expect(await presence().tell()).toMatch(/^the schema is too old for release 1\.1\.0: .* is missing/);
    await store.sql('alter table schema_contracts rename to contracts');
    expect(await presence().tell()).toContain(`migration ${newest} is missing`);
    await store.sql('alter table _prisma_migrations rename to journal');
    expect(await presence().tell()).toMatch(/^the schema is too old/);
  });
});
