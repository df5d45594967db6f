import type { Block, BlockScope } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { applyProviderReport, changeBlock, listSenders, resumeSender } from '@onecode/store/senders';
import { openDeliveries } from '@onecode/store/sends';
import {
  blockSender,
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  until,
  useTestDatabase,
} from '@onecode/testing';
import type { Sql } from '../../src/client/sql.js';
import { TERMS } from '../sends/sendActions.js';

const store = useTestDatabase();
beforeEach(() => store.sql('truncate senders, sender_blocks, sends, provider_facts cascade'));

/** Returns the database with a pause before each change, and after each read, by a statement that contains this text. */
function pausedAt(text: string, pause: () => Promise<unknown>): Database {
  const { database } = store;
  const includes = (statement: unknown) => (statement as TemplateStringsArray).join('?').includes(text);
  const paused = (sql: Sql): Sql => ({
    ...sql,
    async execute(statement, ...values) {
      if (includes(statement)) await pause();
      return sql.execute(statement, ...values);
    },
    async query<Rows>(statement: TemplateStringsArray, ...values: unknown[]) {
      const rows = await sql.query<Rows>(statement, ...values);
      if (includes(statement)) await pause();
      return rows;
    },
  });
  return {
    ...database,
    sql: paused(database.sql),
    transaction: (work, options) =>
      database.transaction(({ prisma, sql }) => work({ prisma, sql: paused(sql) }), options),
  };
}

const blocksOf = async (id: string): Promise<Block[]> =>
  (await listSenders(store.database)).find((sender) => sender.id === id)!.blocks;

describe('changeBlock', () => {
  const FAULT = { cause: 'fault', scope: 'sender', onlyFor: '' } as const;
  const READ = 'clock_timestamp()::timestamptz(3) as now';

  it('delays no claim while its worker is frozen before the write', async () => {
    const { id } = await buildSender(store.database);
    await blockSender(store.database, { id });
    await buildSender(store.database);
    const sendId = await buildSend(store.database, await buildCaller(store.database, 'live'));
    const taken: unknown[] = [];
    const frozen = pausedAt(READ, async () =>
      taken.push(await openDeliveries(store.database, TERMS.leaseMs).take(sendId)),
    );
    await changeBlock(frozen, id, FAULT, (last) => last && { ...last, failures: 2 });
    expect(taken).toMatchObject([{ phase: 'calling' }]);
  });

  const fail = (database: Database, id: string, scope: BlockScope = 'sender') =>
    changeBlock(database, id, { ...FAULT, scope }, (last, now) => ({
      ...FAULT,
      scope,
      source: 'answer',
      errorCode: null,
      reason: 'a fault',
      isConfiguration: true,
      failures: (last?.failures ?? 0) + 1,
      since: now,
      until: now,
    }));

  it.each([0, 1])('decides again if another process was faster, after %i faults', async (faults) => {
    const { id } = await buildSender(store.database);
    for (let n = 0; n < faults; n++) await fail(store.database, id);
    let others = 2;
    await fail(
      pausedAt(READ, async () => others-- > 0 && fail(store.database, id)),
      id,
    );
    expect(await blocksOf(id)).toMatchObject([{ failures: faults + 3 }]);
  });

  it.each([
    ['the portfolio', '7', '5', ['a', '7', '5']],
    ['the business account of an unknown portfolio', '7', null, ['a', '7', '7']],
    ['a sender with an unknown business account', null, null, ['a', 'a', 'a']],
  ])('writes a block of %s', async (_, businessAccountId, portfolioId, expected) => {
    const { id } = await buildSender(store.database);
    const ids = [id, businessAccountId, portfolioId];
    await store.sql('update senders set business_account_id = $2, portfolio_id = $3 where id = $1', ids);
    const scopes = ['sender', 'business', 'portfolio'] as const;
    for (const scope of scopes) await fail(store.database, id, scope);
    const rows = await store.sql<{ scope: string; subject: string }>('select * from sender_blocks');
    const subjects = scopes.map((scope) => rows.find((row) => row.scope === scope)!.subject);
    expect(subjects).toEqual(expected.map((subject) => (subject === 'a' ? id : subject)));
    expect(await blocksOf(id)).toHaveLength(3);
  });
});

it('a sender is resumed while a report ends its blocks', async () => {
  const { id, template } = await buildSender(store.database, { businessAccountId: '88' });
  await store.sql(
    `insert into sender_blocks (cause, scope, subject, source, reason) values ('provider', 'sender', $1, 'provider', 'banned')`,
    [id],
  );
  await blockSender(store.database, { id }, { onlyFor: 'en', errorCode: 132_015 });
  let resumed: Promise<unknown> | undefined;
  // The report is about to end the provider's block, and then the fault of the template.
  const paused = pausedAt('delete from sender_blocks', async () => {
    resumed ??= resumeSender(store.database, TEST_ACTOR, id);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until('the resume that waits', async () => (await store.sql(waiting)).length > 0);
  });
  const report = { template: { name: template, language: 'en', values: { status: 'APPROVED' } } };
  await applyProviderReport(paused, '88', report, new Date(Date.now() + 1_000));
  await resumed;
  expect(resumed).toBeDefined();
  expect(await blocksOf(id)).toEqual([]);
});

it('a report that a template is usable again ends the fault that its state caused, and no newer fault', async () => {
  const { id, template } = await buildSender(store.database, { businessAccountId: '88' });
  const report = (status: string, at: number) =>
    applyProviderReport(
      store.database,
      '88',
      { template: { name: template, language: 'en', values: { status } } },
      new Date(Date.now() + at),
    );
  const causes = async () => (await blocksOf(id)).map(({ cause }) => cause);
  await blockSender(store.database, { id }, { onlyFor: 'en', errorCode: 132_015 });
  await blockSender(store.database, { id }, { onlyFor: 'BR', errorCode: 130_497 });
  await report('PAUSED', -9_000);
  expect(await causes()).toEqual(['fault', 'fault', 'provider']);
  await report('APPROVED', -5_000);
  expect(await causes()).toEqual(['fault', 'fault']);
  await report('PAUSED', 1_000);
  await report('APPROVED', 2_000);
  expect(await blocksOf(id)).toMatchObject([{ cause: 'fault', onlyFor: 'BR' }]);
});
