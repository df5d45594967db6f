import { Table, type TableProps, type TableTdProps, type TableTrProps, VisuallyHidden } from '@mantine/core';
import { memo, type ReactNode, useMemo } from 'react';

/** A column: its title, and the function that renders a row's cell. */
export interface Column<Row> extends Pick<TableTdProps, 'ta' | 'maw' | 'pl' | 'w' | 'fw' | 'style'> {
  title: string;
  /** Only screen readers get the title. */
  isTitleHidden?: boolean;
  /** Whether a word that is too long breaks. Other columns are as wide as their longest word, and the table scrolls. */
  breaksWords?: boolean;
  /** Whether its cells are the headers of their rows. */
  isName?: boolean;
  /** The narrowest window that shows the column. */
  visibleFrom?: 'sm' | 'md' | 'lg' | 'xl';
  render: (row: Row) => ReactNode;
}

/**
 * A table with a row for each item, or `empty`. It scrolls if there is no room for it, by keyboard too. Columns that are false are left
 * out. A row is rendered again only when it, `columns` or `propsOf` changes: a list that grows keeps the last two (`useMemo`).
 */
export function DataTable<Row>({
  label,
  minWidth = 320,
  rows,
  empty,
  getRowKey,
  columns,
  propsOf,
  ...table
}: Omit<TableProps, 'data'> & {
  label: string;
  /** In pixels; the table scrolls in narrower windows. */
  minWidth?: number;
  rows: readonly Row[];
  /** Replaces a table without rows. */
  empty?: ReactNode;
  getRowKey: (row: Row) => string;
  columns: readonly (Column<Row> | false)[];
  propsOf?: (row: Row) => TableTrProps;
}) {
  const shown = useMemo(() => columns.filter((column) => column !== false), [columns]);
  if (rows.length === 0 && empty !== undefined) return empty;
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      scrollAreaProps={{
        offsetScrollbars: 'present',
        viewportProps: { tabIndex: 0, role: 'group', 'aria-label': label },
      }}
    >
      <Table verticalSpacing="xs" aria-label={label} {...table}>
        <Table.Thead>
          <Table.Tr>
            {shown.map(({ title, isTitleHidden = false, ...column }) => (
              <Table.Th key={title} {...cellPropsOf(column)}>
                {isTitleHidden ? <VisuallyHidden>{title}</VisuallyHidden> : title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Row key={getRowKey(row)} row={row} columns={shown} propsOf={propsOf} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Returns the properties of a column's cells. */
function cellPropsOf<Row>({
  breaksWords = false,
  isName: _isName,
  render: _render,
  ...props
}: Omit<Column<Row>, 'title' | 'isTitleHidden'>) {
  return { ...props, ...(breaksWords && { className: 'breaks-words' }) };
}

interface RowProps<T> {
  row: T;
  columns: readonly Column<T>[];
  propsOf: ((row: T) => TableTrProps) | undefined;
}

const Row = memo(function Row<T>({ row, columns, propsOf }: RowProps<T>) {
  return (
    <Table.Tr {...propsOf?.(row)}>
      {columns.map(({ title, isTitleHidden: _isTitleHidden, ...column }) =>
        column.isName ? (
          <Table.Th key={title} scope="row" {...cellPropsOf(column)}>
            {column.render(row)}
          </Table.Th>
        ) : (
          <Table.Td key={title} {...cellPropsOf(column)}>
            {column.render(row)}
          </Table.Td>
        ),
      )}
    </Table.Tr>
  );
}) as <T>(props: RowProps<T>) => ReactNode;
