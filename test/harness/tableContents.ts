import type { TestDatabase } from '@onecode/store/testing';

/** All that a database holds, column by column, as `table.column` and the text of all its values; bytes are hex. */
export async function tableContents(db: TestDatabase): Promise<Map<string, string>> {
  const columns = await db.sql<{ table: string; column: string }>(
    `select c.table_name as "table", c.column_name as "column"
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1, 2`,
  );
  const contents = new Map<string, string>();
  for (const { table, column } of columns) {
    const [row] = await db.sql<{ text: string | null }>(
      `select string_agg("${column}"::text, E'\\n') as text from "${table}"`,
    );
    contents.set(`${table}.${column}`, row?.text ?? '');
  }
  return contents;
}
