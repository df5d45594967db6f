import type { Database } from '@onecode/store/client';
import pg from 'pg';
import type { Sql } from '../../src/client/sql.js';
import { Prisma } from '../../src/generated/prisma/client.js';

export interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
}

export interface Statement {
  text: string;
  values: unknown[];
}

/** Returns the statements that `use` runs, unchanged; their changes are rolled back. */
export async function statementsOf(
  database: Database,
  use: (database: Database) => Promise<unknown>,
): Promise<Statement[]> {
  const statements: Statement[] = [];
  const rollback = new Error('rolled back');
  const run = database.transaction(async (transaction) => {
    const recorded = (parts: TemplateStringsArray, values: unknown[]): Prisma.Sql => {
      // Fragments of a statement are inserted.
      const statement = Prisma.sql(parts, ...values);
      statements.push({ text: statement.text, values: statement.values });
      return statement;
    };
    const query: Sql['query'] = (parts, ...values) =>
      transaction.sql.query(recorded(parts as TemplateStringsArray, values));
    const sql: Sql = {
      query,
      read: query,
      execute: (parts, ...values) => transaction.sql.execute(recorded(parts as TemplateStringsArray, values)),
    };
    const connection = { prisma: transaction.prisma, sql };
    await use({
      ...database,
      prisma: transaction.prisma as Database['prisma'],
      sql,
      transaction: (work) => work(connection),
    });
    throw rollback;
  });
  await expect(run).rejects.toBe(rollback);
  return statements;
}

/** Returns PostgreSQL's plans of these statements, including those inside functions. */
export async function plansOf(url: string, statements: readonly Statement[], mode: string): Promise<Node[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const plans: Node[] = [];
  client.on('notice', ({ message }) => {
    const json = message?.slice(message.indexOf('{')) ?? '';
    if (message?.includes('plan:')) plans.push((JSON.parse(json) as { Plan: Node }).Plan);
  });
  await client.query(`load 'auto_explain'`);
  await client.query(
    `set plan_cache_mode = ${mode}; set auto_explain.log_level = notice; set auto_explain.log_format = json;
     set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on`,
  );
  await client.query('begin');
  await client.query('set local auto_explain.log_min_duration = 0');
  for (const { text, values } of statements) await client.query(text, values);
  await client.query('rollback');
  await client.end();
  return plans;
}

export function nodesOf(plans: readonly Node[]): Node[] {
  return plans.flatMap((plan) => [plan, ...nodesOf(plan.Plans ?? [])]);
}
